"""The camera of the vehicle file, and the strip: places that are worked out by hand."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip, strip_table, to_strip
from robomarl.core.config import UserError
from robomarl.core.hardware.ground import OmniRobot
from robomarl.core.hardware.vehicle import load_any_vehicle

STRAIGHT = (0.0, 0.0, 0.0, 0.0, 0.0)


def camera_of(name: str) -> PinholeCamera:
    vehicle = load_any_vehicle(name)
    assert isinstance(vehicle, OmniRobot) and vehicle.camera is not None
    return vehicle.camera


@pytest.fixture(scope="module")
def camera() -> PinholeCamera:
    return camera_of("ssl_omni")


def test_pixels_of_a_pinhole(camera: PinholeCamera):
    """Without distortion and pitch, a place 1 m ahead, 0.5 m to the left and 0.25 m above is at fx/2 and fy/4."""
    flat = dataclasses.replace(camera, distortion=STRAIGHT, pitch_rad=0.0)
    column, row = flat.pixels(np.array([1.0, 0.5, 0.25]))
    assert column == pytest.approx(flat.cx - flat.fx / 2) and row == pytest.approx(flat.cy - flat.fy / 4)


def test_the_pitched_axis_looks_down(camera: PinholeCamera):
    ahead = np.array([math.cos(camera.pitch_rad), 0.0, -math.sin(camera.pitch_rad)])
    assert camera.pixels(ahead) == pytest.approx([camera.cx, camera.cy])
    assert np.isnan(camera.pixels(-ahead)).all()


def test_distortion_by_hand(camera: PinholeCamera):
    """At x = 1, y = 0 the radial factor is 1 + k1 + k2 + k3, and p2 adds 3 p2, p1 adds p1 to y."""
    bent = dataclasses.replace(camera, distortion=(-0.1, 0.02, 0.003, 0.004, 0.01), pitch_rad=0.0)
    column, row = bent.pixels(np.array([1.0, -1.0, 0.0]))
    assert column == pytest.approx(bent.cx + bent.fx * (0.93 + 0.012))
    assert row == pytest.approx(bent.cy + bent.fy * 0.003)


def test_rays_undo_pixels(camera: PinholeCamera):
    corners = np.array([[0.0, 0.0], [639.0, 0.0], [320.0, 479.0], [5.0, 400.0], [333.3, 222.2]])
    assert camera.pixels(camera.rays(corners)) == pytest.approx(corners, abs=0.01)


def test_cells_by_hand():
    """Half of the logarithm of the range from 0.03 to 7 m is sqrt(0.03 * 7) = 0.4583 m."""
    strip = GroundStrip()
    row, column = strip.cell(np.array([7.0, 0.458258, 0.03]), np.array([1.1, 0.0, -1.1]))
    assert row == pytest.approx([5.0, 18.5, 32.0], abs=1e-4) and column == pytest.approx([0.0, 48.0, 96.0])
    assert strip.place(row, column)[0] == pytest.approx([7.0, 0.458258, 0.03], abs=1e-5)


def test_directions_meet_the_ground_at_their_range():
    strip, height = GroundStrip(), 0.14
    x, y, z = strip.directions(*strip.cell(np.array([2.0]), np.array([0.4])), height)[0]
    assert math.hypot(x, y) / -z * height == pytest.approx(2.0) and math.atan2(y, x) == pytest.approx(0.4)
    above = strip.directions(np.array([0.0, 5.0]), np.array([48.0, 48.0]), height)[:, 2]
    assert above == pytest.approx([math.sin(0.2), -math.sin(math.atan2(0.14, 7.0))])


@pytest.mark.parametrize(("range_m", "azimuth"), [(0.3, 0.0), (0.5, 0.8), (1.0, -0.6), (2.0, 0.3)])
def test_a_mark_on_the_ground_lands_in_its_cell(camera: PinholeCamera, range_m: float, azimuth: float):
    """A disc of 6 % of the range that is drawn pixel by pixel, through `rays`, is brightest where it should be."""
    strip, height = GroundStrip(), camera.place_m[2]
    columns, rows = np.meshgrid(np.arange(camera.width), np.arange(camera.height))
    ray = camera.rays(np.stack([columns, rows], -1).astype(float))
    down = np.where(ray[..., 2] < -1e-6, -ray[..., 2], np.nan)
    x, y = ray[..., 0] / down * height, ray[..., 1] / down * height
    at = range_m * np.array([math.cos(azimuth), math.sin(azimuth)])
    mark = np.hypot(x - at[0], y - at[1]) < 0.06 * range_m
    image = np.where(mark[..., None], 255, 0).astype(np.uint8).repeat(3, -1)
    picture = to_strip(image, strip_table(camera, strip))[..., 0].astype(float)
    row, column = np.unravel_index(picture.argmax(), picture.shape)
    wanted = strip.cell(np.array(range_m), np.array(azimuth))
    grid = np.meshgrid(np.arange(32) + 0.5, np.arange(96) + 0.5, indexing="ij")
    mean = [float((picture * part).sum() / picture.sum()) for part in grid]
    assert mean == pytest.approx([float(part) for part in wanted], abs=0.5)
    assert abs(row + 0.5 - wanted[0]) <= 1 and abs(column + 0.5 - wanted[1]) <= 4


def test_the_whole_strip_is_in_the_picture(camera: PinholeCamera):
    table = strip_table(camera, GroundStrip())
    assert table.weight.sum(0) == pytest.approx(1.0, abs=1e-5)
    grey = np.full((camera.height, camera.width, 3), 77, np.uint8)
    assert (to_strip(grey, table) == 77).all()


def test_a_picture_of_another_size_is_refused(camera: PinholeCamera):
    with pytest.raises(UserError, match="240x320x3 uint8; the camera of the vehicle file makes 480x640x3"):
        to_strip(np.zeros((240, 320, 3), np.uint8), strip_table(camera, GroundStrip()))


def test_a_camera_in_the_ground_is_refused(tmp_path: Path, root: Path):
    text = (root / "hardware_configs" / "vehicles" / "ssl_omni.yaml").read_text()
    file = tmp_path / "low.yaml"
    file.write_text(text.replace("place_m: [0.06, 0.0, 0.14]", "place_m: [0.06, 0.0, 0.0]"))
    with pytest.raises(UserError, match=r"camera: place_m\[2\] = 0 must be above 0"):
        load_any_vehicle(str(file))
