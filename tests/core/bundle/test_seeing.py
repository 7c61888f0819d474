"""Bundles that see: the camera in the contract, the sealed network, its golden pictures, and what is refused."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from robomarl.core.bundle.bundle import IMAGES_FILE, PERCEPTION_FILE, Bundle, load_bundle
from robomarl.core.bundle.perception import Perception, images_to_bytes, open_perception, read_images
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.vehicle import OmniRobot, load_any_vehicle
from robomarl.fleet.checks.camera_fit import camera_fault
from robomarl.fleet.checks.verify import verify_here
from robomarl.fleet.flash import check_fit
from robomarl.front.cli import main
from robomarl.lab.export.seeing import Eyes, seal_perception
from robomarl.ros.robot.startup import Files, check
from tests.core.bundle.sealing import copy, reseal
from tests.core.bundle.seeing import CAMERA, network, pictures, seeing_bundle


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return seeing_bundle(tmp_path_factory.mktemp("seeing") / "eyes")


def test_a_sealed_bundle_reads_back_with_its_camera_and_passes_verify(sealed: Bundle):
    image = load_bundle(sealed.folder).contract.image
    assert image is not None and image.camera == CAMERA and image.outputs == 8
    assert image.max_age_s == pytest.approx(0.04 + 4 / 25)
    verdict = verify_here(sealed.folder, timed=False)
    assert verdict.ok, verdict.problems


def test_the_filter_of_a_bundle_that_sees_keeps_the_error_of_its_own_place(sealed: Bundle):
    blind = load_bundle("soccer_2v2").contract
    assert blind.safety.safety.position_error_m < sealed.contract.safety.safety.position_error_m == 0.1
    assert sealed.contract.training.ancestry[-1].name == "soccer_2v2"


def test_a_changed_network_is_named_by_verify(sealed: Bundle, tmp_path: Path):
    folder = copy(sealed.folder, tmp_path)
    other = bytearray((folder / PERCEPTION_FILE).read_bytes())
    (folder / PERCEPTION_FILE).write_bytes(bytes(other[:-1]) + bytes([other[-1] ^ 1]))
    with pytest.raises(UserError, match=f"{PERCEPTION_FILE} is not the file that was sealed"):
        load_bundle(folder)


@pytest.mark.parametrize(
    ("part", "told"), [("strip", "strip cell 31, 95, b is off by 1 "), ("sight", "sight output 7")]
)
def test_a_golden_picture_that_does_not_hold_is_named(sealed: Bundle, tmp_path: Path, part: str, told: str):
    assert sealed.contract.image is not None
    image, strip, sight = read_images(sealed.contract.image, sealed.files)
    strip, sight = strip.copy(), sight.copy()
    changed = {"strip": strip, "sight": sight}[part]
    changed.reshape(-1)[-1] += 1
    folder = copy(sealed.folder, tmp_path)
    (folder / IMAGES_FILE).write_bytes(images_to_bytes(image, strip, sight))
    reseal(folder)
    verdict = verify_here(folder, timed=False)
    assert not verdict.ok and any(told in problem for problem in verdict.problems), verdict.problems
    with pytest.raises(UserError, match="does not see as it was trained"):
        open_perception(load_bundle(folder))


def change_camera(data: dict) -> None:
    data["image"]["camera"]["zoom"] = 2.0


def forget_network(data: dict) -> None:
    del data["files"][PERCEPTION_FILE]


def change_outputs(data: dict) -> None:
    data["image"]["outputs"] = 9


def rename_topic(data: dict) -> None:
    data["image"]["topic"] = "front camera/../raw"


def forget_camera(data: dict) -> None:
    del data["image"]


def make_it_late(data: dict) -> None:
    data["image"]["max_age_s"] = 0.01


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (change_camera, "zoom"),
        (rename_topic, "camera/image_raw"),
        (forget_camera, f"image is missing, and {PERCEPTION_FILE} is there"),
        (forget_network, f"files has no entry for {PERCEPTION_FILE}"),
        (make_it_late, "max_age_s = 0.01 must be above the camera's latency_s = 0.04"),
    ],
)
def test_a_contract_that_does_not_fit_is_refused(sealed: Bundle, tmp_path: Path, change, told: str):
    folder = copy(sealed.folder, tmp_path)
    reseal(folder, change)
    with pytest.raises(UserError, match=told):
        load_bundle(folder)


def test_a_network_of_another_size_is_refused(sealed: Bundle, tmp_path: Path):
    folder = copy(sealed.folder, tmp_path)
    reseal(folder, change_outputs)
    with pytest.raises(UserError, match="perception.onnx: has .*, but bundle.json says"):
        open_perception(load_bundle(folder))


def test_a_network_without_a_known_number_of_outputs_is_refused(tmp_path: Path):
    model = onnx.load_from_string(network(36))
    model.graph.node.append(helper.make_node("Flatten", ["sight"], ["row"], axis=0))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("row", TensorProto.FLOAT, [1, "count"]))
    with pytest.raises(UserError, match=r"--perception: the network has outputs row \[1, .*\], not one `sight`"):
        seeing_bundle(tmp_path / "eyes", model.SerializeToString())


def test_a_network_with_the_outputs_of_a_policy_is_refused(tmp_path: Path):
    policy = load_bundle("soccer_2v2").files["policy.onnx"]
    with pytest.raises(UserError, match="--perception: the network has outputs action .*, not one `sight`"):
        seeing_bundle(tmp_path / "eyes", policy)


def test_the_export_in_c_says_that_it_does_not_see(
    sealed: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PATH", str(tmp_path))  # no compiler: the sentence is what counts here
    for source, says in ((str(sealed.folder), True), ("soccer_2v2", False)):
        assert main(["export", source, str(tmp_path / "c"), "--target", "c"]) == 0
        assert ("perception.onnx and the tracker are not in C" in capsys.readouterr().out) == says


def mounted(**changed: object) -> OmniRobot:
    robot = load_any_vehicle("ssl_omni")
    assert isinstance(robot, OmniRobot)
    return replace(robot, camera=replace(CAMERA, **changed))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"width": 320}, "camera.width is 320, and bundle eyes sees by a camera with 160"),
        ({"fx": 42.0}, "camera.fx is 42, and bundle eyes sees by a camera with 40"),
        ({"pitch_rad": 1.2}, "camera.pitch_rad is 1.2, and bundle eyes sees by a camera with 0.35"),
        ({"place_m": (0.06, 0.0, 0.5)}, r"camera.place_m\[2\] is 0.5, and bundle eyes sees by a camera with 0.14"),
        ({"distortion": (-0.02, 0.0, 0.0, 0.05, 0.0)}, r"camera.distortion\[3\] is 0.05"),
        ({"readout_s": 0.0}, "camera.readout_s is 0, and bundle eyes sees by a camera with 0.015"),
    ],
)
def test_another_camera_is_named_with_both_numbers(sealed: Bundle, changed: dict, told: str):
    assert re.match(f"ssl_omni.yaml: {told}", camera_fault(sealed.contract, mounted(**changed)))


def test_the_camera_of_the_bundle_fits_and_none_is_refused(sealed: Bundle):
    assert camera_fault(sealed.contract, mounted(fx=40.5, rate_hz=30.0)) == ""
    blind, none = load_bundle("soccer_2v2").contract, replace(mounted(), camera=None)
    assert "ssl_omni.yaml: camera is missing, and bundle eyes" in camera_fault(sealed.contract, none)
    assert "camera is missing" in camera_fault(sealed.contract, load_any_vehicle("crazyflie_21"))
    assert camera_fault(blind, none) == ""


def test_neither_flash_nor_a_node_takes_a_bundle_for_another_camera(sealed: Bundle):
    fleet = load_fleet("soccer_2v2")
    with pytest.raises(UserError, match=r"camera.width is 640, .* 160 .*; nothing was switched"):
        check_fit(sealed, fleet)
    with pytest.raises(UserError, match=r"camera.width is 640, .* 160 .*; mend it there"):
        check(Files(sealed, fleet.vehicle_config))
    check_fit(load_bundle("soccer_2v2_eyes"), fleet)


def test_only_the_network_that_sees_may_convolve(sealed: Bundle, tmp_path: Path):
    folder = copy(sealed.folder, tmp_path)
    (folder / "policy.onnx").write_bytes(network(4))
    reseal(folder)
    with pytest.raises(UserError, match="policy.onnx: uses the operator 'Conv'"):
        load_bundle(folder)


def test_a_bundle_that_sees_gets_no_second_pair_of_eyes(sealed: Bundle, tmp_path: Path):
    with pytest.raises(UserError, match="sees already"):
        seal_perception(sealed, Eyes(network(8), CAMERA, 0.1), pictures, tmp_path / "twice")


def test_the_network_gives_equal_bits_for_equal_strips(sealed: Bundle):
    perception = open_perception(sealed)
    assert isinstance(perception, Perception)
    strip = perception.to_strip(pictures(CAMERA, 1)[0])
    np.testing.assert_array_equal(perception(strip), perception(strip.copy()))
