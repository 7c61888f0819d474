"""Robots whose radio has a range meet, forget each other and meet again."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.certificate.reach import Meeting, fly
from robomarl.core.certificate.course import resting
from robomarl.core.certificate.figures import figures_of
from robomarl.core.certificate.reach import RadioReach, is_too_near, least_range_m
from robomarl.core.filter.params import from_vehicle
from robomarl.core.hardware.vehicle import load_any_vehicle

MEETING = Meeting("crazyflie_21", count=2, episodes=3, seconds=8.0, seed=3)
VEHICLE = load_any_vehicle("crazyflie_21")
FIGURES = figures_of(from_vehicle(VEHICLE, 0.02), VEHICLE.body.radius_m)


def test_robots_that_meet_at_full_speed_at_the_end_of_the_range_keep_their_distance():
    found = fly(MEETING)
    assert found.contacts == 0 and found.near_share > 1 and found.too_near == 0
    assert found.agreed > 0 and found.way_m > 1.0


def test_a_radio_that_reaches_less_far_lets_them_come_nearer_and_is_named():
    found = fly(replace(MEETING, true_share=0.2))
    assert found.near_share < 1 and found.too_near == 3


@pytest.mark.parametrize(("apart_m", "named"), [(7.0, False), (0.5, True)])
def test_a_teammate_that_is_heard_anew_is_too_near_where_its_silence_did_not_allow_that(apart_m: float, named: bool):
    places = (np.zeros(3), np.array([apart_m, 0, 0]))
    courses = [resting(place, 5.0, (1.0, 0.25)) for place in places]
    reach = RadioReach(least_range_m(FIGURES, FIGURES, 0.5), 0.5)
    assert is_too_near(reach, [FIGURES], (courses[0], courses[1]), 6.0) is named


def test_the_least_range_grows_with_the_time_of_silence():
    """Each goes on for that time twice, at its speed."""
    longer = least_range_m(FIGURES, FIGURES, 1.0) - least_range_m(FIGURES, FIGURES, 0.5)
    assert longer == pytest.approx(2 * 0.5 * 2 * FIGURES.speed_m_s)
