"""When a landing is over."""

import numpy as np
import pytest

from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.hover.touchdown import RESTS_S, TOLD_S, Touchdown

UP = np.array([1.0, 0, 0, 0])
DOWN_M = np.array([0.0, 0, -1.0])
"""Where a landing robot is sent to."""


def at(height_m: float, sinks_m_s: float = 0.0) -> Estimate:
    return Estimate(np.array([0, 0, height_m]), UP, np.array([0, 0, -sinks_m_s]), np.zeros(3))


def test_it_is_on_the_ground_when_it_has_rested_and_over_when_the_motors_have_been_told():
    landing, own = Touchdown(0.1, 0.3), at(0.07)
    landing.note(own, DOWN_M, 10.0)
    assert not landing.on_ground(10.0 + RESTS_S - 0.01)
    assert landing.on_ground(10.0 + RESTS_S + 0.01)
    assert not landing.over(own, 10.0 + RESTS_S + TOLD_S - 0.01)
    assert landing.over(own, 10.0 + RESTS_S + TOLD_S + 0.01)


@pytest.mark.parametrize(
    ("own", "place_m"),
    [(at(0.2, 0.3), DOWN_M), (at(0.36), DOWN_M), (at(0.07), np.array([0, 0, 0.0]))],
    ids=["it sinks", "it is high", "it has only just been sent down"],
)
def test_what_is_no_ground(own: Estimate, place_m: np.ndarray):
    landing = Touchdown(0.1, 0.3)
    for time_s in np.arange(0, 5, 0.02):
        landing.note(own, place_m, time_s)
        assert not landing.on_ground(time_s)


def test_one_that_sinks_again_has_not_landed():
    landing = Touchdown(0.1, 0.3)
    for time_s in np.arange(0, 5, 0.02):
        landing.note(at(0.2, 0.3 * (int(time_s / 0.2) % 2)), DOWN_M, time_s)
        assert not landing.on_ground(time_s)


def test_a_vehicle_that_drives_is_down_at_once():
    landing = Touchdown(0.0, 0.0)
    assert landing.over(at(0.0), 10.0)
    assert not landing.on_ground(10.0)
