"""Bundles that see: the camera in the contract, the sealed network, its golden pictures, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from robomarl.core.bundle.bundle import IMAGES_FILE, PERCEPTION_FILE, Bundle, load_bundle
from robomarl.core.bundle.perception import Perception, images_to_bytes, open_perception, read_images
from robomarl.core.config import UserError
from robomarl.fleet.checks.verify import verify_here
from robomarl.lab.export.seeing import Eyes, seal_perception
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


def make_it_late(data: dict) -> None:
    data["image"]["max_age_s"] = 0.01


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (change_camera, "zoom"),
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
