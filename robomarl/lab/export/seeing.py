"""`seal_perception`: a bundle of a policy that is told what it senses becomes one that sees it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robomarl.core.bundle.bundle import (
    CARD_FILE,
    CONTRACT_FILE,
    GOLDEN_FILE,
    IMAGES_FILE,
    PERCEPTION_FILE,
    Bundle,
    entry_of,
    seal,
)
from robomarl.core.bundle.contract import Contract
from robomarl.core.bundle.golden import filtered, to_bytes
from robomarl.core.bundle.image_input import ImageInput
from robomarl.core.bundle.perception import MIN_PICTURES, Perception, images_to_bytes
from robomarl.core.bundle.provenance import Ancestor
from robomarl.core.bundle.runtime import open_session, read_golden
from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import OmniRobot, load_any_vehicle
from robomarl.lab.camera.network_strip import strip_of
from robomarl.lab.export.folder import packed, write_folder
from robomarl.lab.export.model_card import model_card
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of

PICTURES_MISSING = 4
"""Pictures that may fail to come before a robot is blind."""
Pictures = Callable[[PinholeCamera, int], Picture8]
"""(camera, number) -> [K, H, W, 3] pictures from the places of robots."""


@dataclass(frozen=True)
class Eyes:
    """Network, camera and bounds that a bundle gets to see with."""

    network: bytes
    """ONNX: `strip` uint8 [B, R, C, 3] -> `sight` float32 [B, S]."""
    camera: PinholeCamera
    max_pose_error_m: float
    """Largest error of the own place, as the tracker states it, with which robots move: the filter's bound."""


def seal_perception(bundle: Bundle, eyes: Eyes, pictures: Pictures, out_dir: str | Path, name: str = "") -> Bundle:
    """Write the bundle with the network, golden pictures, and a filter that keeps the distance that the error costs.

    Args:
        bundle: the policy.
        eyes: network, camera, error.
        pictures: golden pictures of the camera.
        out_dir: folder of the new bundle; a bundle there is replaced.
        name: its name; by default that of the folder.

    Raises:
        UserError: the network has other inputs or outputs, the bundle sees already, or the folder can't be written.
    """
    target = Path(out_dir)
    if bundle.contract.image is not None:
        raise UserError(f"{bundle.folder}: sees already; name the bundle that {bundle.contract.name} was made of.")
    contract = seeing_contract(bundle, eyes, name or target.name)
    assert contract.image is not None
    perception = Perception(contract.image, eyes.network)
    taken = pictures(eyes.camera, MIN_PICTURES)
    strips = np.stack([perception.to_strip(picture) for picture in taken])
    sights = np.stack([perception(strip) for strip in strips])
    golden = read_golden(bundle)
    golden = golden._replace(command=filtered(contract, golden.views, golden.action))
    files = {name: data for name, data in bundle.files.items() if name != CONTRACT_FILE}
    files |= {
        GOLDEN_FILE: to_bytes(golden),
        CARD_FILE: model_card(contract).encode(),
        PERCEPTION_FILE: eyes.network,
        IMAGES_FILE: images_to_bytes(taken, strips, sights),
    }
    files = {path: packed(data) if path.endswith(".npz") else data for path, data in files.items()}
    entries = {path: entry_of(data) for path, data in files.items()}
    files[CONTRACT_FILE] = seal(replace(contract, files=entries))
    return write_folder(target, files)


def seeing_contract(bundle: Bundle, eyes: Eyes, name: str) -> Contract:
    """Return the contract of a bundle with these eyes, still without its files."""
    plain, camera = bundle.contract, eyes.camera
    image = ImageInput(
        camera=camera,
        outputs=_outputs(eyes.network),
        strip=strip_of(eyes.network),
        max_age_s=camera.latency_s + PICTURES_MISSING / camera.rate_hz,
        max_pose_error_m=eyes.max_pose_error_m,
    )
    bounds = replace(
        plain.safety.safety, position_error_m=max(plain.safety.safety.position_error_m, eyes.max_pose_error_m)
    )
    ancestry = (*plain.training.ancestry, Ancestor(plain.name, bundle.id))
    return replace(
        plain,
        name=name,
        files={},
        image=image,
        safety=replace(plain.safety, safety=bounds),
        training=replace(plain.training, ancestry=ancestry),
    )


def camera_of(vehicle: str) -> PinholeCamera:
    """The camera of a vehicle file.

    Raises:
        UserError: it has none.
    """
    robot = load_any_vehicle(vehicle)
    if not isinstance(robot, OmniRobot) or robot.camera is None:
        raise UserError(f"{vehicle}.yaml: camera is missing, and a bundle that sees needs one; describe it there.")
    return robot.camera


def pictures_of(bundle: Bundle, seed: int = 0) -> Pictures:
    """Return the function that takes pictures in the bundle's scenario.

    Raises:
        UserError: the scenario's domain draws no pictures of its robots' cameras.
    """
    scenario = load_scenario(bundle.contract.scenario.name)
    draw = simulation_of(scenario).pictures
    if draw is None:
        raise UserError(f"{scenario.name}.toml: task = {scenario.task!r} draws no pictures; name a bundle of another.")
    return lambda camera, count: draw(scenario, camera, count, seed)


def _outputs(network: bytes) -> int:
    """Numbers that a network makes of a strip; raises `UserError` unless it has one output of [B, count]."""
    found = [(output.name, output.shape) for output in open_session(network, PERCEPTION_FILE).get_outputs()]
    match found:
        case [(_, [_, int(count)])]:
            return count
    told = ", ".join(f"{name} {shape}" for name, shape in found)
    raise UserError(f"--perception: the network has outputs {told}, not one `sight` [B, count]; name one that sees.")
