"""`EstimateCorrector`: errors of a vehicle's own estimate, foretold by a regression on half a second of motion.

Everything is turned by the vehicle's heading first, so that a fit to flights that all looked one way holds for every
heading. `robomarl import-flights LOGS --identify --corrector FILE` fits one.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from robomarl.core.config import Positive, UserError, build, suggest
from robomarl.core.config.parsed import JsonObject
from robomarl.core.hardware.sections import VehicleBase
from robomarl.core.paths import share_dir
from robomarl.core.types import GRAVITY_M_S2

SIGNALS = 15
"""Numbers of one instant: position, velocity, the body's z axis, acceleration, all in the world, and body rates."""
OUTPUTS = 6
"""Errors that are foretold: velocity and position, each x, y, z."""
WORLD = slice(0, 12)
"""Those of `SIGNALS` that are vectors in the world."""


@dataclass(frozen=True)
class EstimateCorrector:
    """Content of a corrector's file, `hardware_configs/correctors/NAME.json`."""

    version: int
    """Version of the file's layout, 1."""
    vehicle: str
    """Name of the vehicle that it was fitted to."""
    corrects: str
    """Name of the estimator that it corrects, one of the vehicle file's."""
    back_s: tuple[float, ...]
    """Instants of the history, how long before the newest, which is the first and 0."""
    weights: tuple[tuple[float, ...], ...]
    """[N + 1, 6] what each feature adds to the errors of velocity [m/s] and position [m]; the last row is constant."""
    most_m_s: Positive
    """Largest correction of a velocity that flights kept back needed; longer ones are shortened to it."""
    most_m: Positive
    """Likewise, of a position."""
    source: str
    """Origin of the flights."""
    flights: tuple[str, ...]
    """Names of the flights of the fit."""
    fitted: str
    """Command of the fit, hash of the flights' numbers, commit and date."""
    held_out: dict[str, dict[str, float]]
    """p50, p99, p99.9 and the largest error of `velocity_m_s` and `position_m`, on trajectories that were kept back."""

    def __post_init__(self) -> None:
        """Check the numbers against each other."""
        if self.version != 1:
            raise ValueError(f"version = {self.version} is unknown; 1 is read.")
        if len(self.back_s) < 2 or self.back_s[0] != 0 or (np.diff(self.back_s) <= 0).any():
            raise ValueError("back_s must grow from 0.")
        wanted, numbers = (width(len(self.back_s)) + 1, OUTPUTS), {len(row) for row in self.weights}
        if (len(self.weights), *numbers) != wanted or not np.isfinite(self.weights).all():
            raise ValueError(f"weights must be {wanted[0]} rows of {wanted[1]} finite numbers for these back_s.")

    def errors(self, motion: np.ndarray, yaw_rad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the foretold errors [..., 3] of velocity [m/s] and position [m] in the world, truth less estimate.

        Args:
            motion: [..., L, 15] of `motion_of` at the instants `back_s`.
            yaw_rad: [...] the vehicle's present heading.
        """
        weights = np.asarray(self.weights)
        told = features(motion, yaw_rad) @ weights[:-1] + weights[-1]
        turned = turned_by(yaw_rad, told)
        return shortened(turned[..., :3], self.most_m_s), shortened(turned[..., 3:], self.most_m)


def width(instants: int) -> int:
    """Return the number of features of a history of that many instants."""
    return SIGNALS * instants - 3


def motion_of(
    pos_m: np.ndarray, vel_m_s: np.ndarray, turn: np.ndarray, force_m_s2: np.ndarray, omega_rad_s: np.ndarray
) -> np.ndarray:
    """Return the numbers [..., 15] of instants.

    Args:
        pos_m: [..., 3] position by the vehicle's own estimate.
        vel_m_s: [..., 3] its velocity.
        turn: [..., 3, 3] its attitude, body to world.
        force_m_s2: [..., 3] accelerometer, body.
        omega_rad_s: [..., 3] gyroscope, body.
    """
    push = np.einsum("...ij,...j->...i", turn, force_m_s2) - np.array([0.0, 0.0, GRAVITY_M_S2])
    return np.concatenate([pos_m, vel_m_s, turn[..., 2], push, omega_rad_s], -1)


def features(motion: np.ndarray, yaw_rad: np.ndarray) -> np.ndarray:
    """Return the features [..., N] of histories [..., L, 15], newest first: places count from the newest one."""
    moved = motion.copy()
    moved[..., :3] -= motion[..., :1, :3]
    moved[..., WORLD] = turned_by(-np.asarray(yaw_rad)[..., None], moved[..., WORLD])
    return moved.reshape(*moved.shape[:-2], -1)[..., 3:]


def turned_by(yaw_rad: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return vectors [..., 3 M] (x, y, z of the first, of the second, ...), each turned about z by a yaw [...]."""
    parts = vectors.reshape(*vectors.shape[:-1], -1, 3)
    cos, sin = np.cos(yaw_rad)[..., None], np.sin(yaw_rad)[..., None]
    x, y, z = np.moveaxis(parts, -1, 0)
    return np.stack([cos * x - sin * y, sin * x + cos * y, z], -1).reshape(vectors.shape)


def shortened(vectors: np.ndarray, most: float) -> np.ndarray:
    """Return vectors [..., 3] in their directions, none longer than `most`."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors * np.minimum(1.0, most / np.maximum(size, 1e-12))


def corrector_text(corrector: EstimateCorrector) -> str:
    """Return the content of a file."""
    return json.dumps(asdict(corrector), indent=None, separators=(", ", ": ")) + "\n"


def load_corrector(name: str) -> EstimateCorrector:
    """Read a corrector by name (of `hardware_configs/correctors`) or by the path of a JSON file.

    Raises:
        UserError: it is not there, no JSON, or a key is wrong.
    """
    folder = share_dir() / "hardware_configs" / "correctors"
    file = Path(name) if name.endswith(".json") else folder / f"{name}.json"
    if not file.is_file():
        known = sorted(found.stem for found in folder.glob("*.json"))
        mend = "fit it with robomarl import-flights --identify --corrector"
        raise UserError(f"{file}: there is no such corrector; {suggest(name, known)} Or {mend}.")
    try:
        content: JsonObject = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: is no corrector ({error}); copy it again, or fit it anew.") from None
    return build(EstimateCorrector, content, file.name)


def corrector_of(vehicle: VehicleBase) -> EstimateCorrector | None:
    """Return the corrector of the estimator that flies; None where it flies as it is.

    Raises:
        UserError: its file is not there or wrong, or it was fitted to another vehicle or corrects an estimator that the
            vehicle file does not have.
    """
    part = (vehicle.estimators or {}).get(vehicle.estimator or "")
    if part is None or part.corrector is None:
        return None
    found, where = load_corrector(part.corrector), f"{vehicle.name}.yaml: estimators.{vehicle.estimator}.corrector"
    if found.vehicle != vehicle.name:
        raise UserError(f"{where} was fitted to {found.vehicle}, and this is {vehicle.name}; name or fit another.")
    if found.corrects not in (vehicle.estimators or {}):
        raise UserError(f"{where} corrects the estimator {found.corrects!r}, which has no bounds there; add them.")
    return found


def refuse_corrector(vehicle: VehicleBase, node: str) -> None:
    """Refuse an estimator that a node can't make.

    Raises:
        UserError: the estimator that flies needs a corrector.
    """
    if corrector_of(vehicle) is not None:
        raise UserError(
            f"{node}: estimator = {vehicle.estimator!r} is made by crazyflie_node from the vehicle's own estimate, and "
            "not here; name another estimator, or fly with crazyflie_node."
        )
