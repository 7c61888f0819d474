"""The camera of films: all places are in its picture, as near as can be, where MuJoCo draws them."""

import numpy as np
import pytest

from robomarl.lab.scene.camera import EDGES, fitted

SIZE = (1280, 720)


@pytest.mark.parametrize(("azimuth_deg", "elevation_deg"), [(90, -52), (60, -28), (-130, -80)])
def test_all_places_are_in_the_picture_and_two_touch_its_edges(azimuth_deg: float, elevation_deg: float):
    places_m = np.random.default_rng(0).uniform((-2, -1, 0), (3, 1, 2), (40, 3))
    x, y = fitted(places_m, SIZE, azimuth_deg, elevation_deg).pixels(places_m).T
    across, up = x / SIZE[0] * 2 - 1, 1 - y / SIZE[1] * 2
    left, right, bottom, top = EDGES
    room = [across.min() - left, right - across.max(), up.min() - bottom, top - up.max()]
    assert min(room) == pytest.approx(0, abs=1e-9)
    assert room[0] == pytest.approx(room[1], abs=0.2) and min(max(room[:2]), max(room[2:])) < 1e-9


def test_right_is_right_and_up_is_up():
    camera = fitted(np.array([[-1.0, 0, 0], [1, 0, 0], [0, 1, 0]]), SIZE, 90, -52)  # looks to the north
    (left, _), (right, low), (_, high) = camera.pixels(np.array([[-1.0, 0, 0], [1, 0, 0], [0, 1, 0]])).tolist()
    assert left < right and high < low
