"""Certified robots that are driven through a box, a ball and a post."""

import pytest

from benchmarks.certificate.flight import Crowd
from benchmarks.certificate.obstacles import Course, fly


@pytest.mark.parametrize("vehicle", ["crazyflie_21", "ssl_omni"])
def test_robots_stay_away_from_obstacles(vehicle: str):
    found = fly(Course(Crowd(vehicle, count=2, episodes=12, seconds=6.0, seed=4)))
    assert found.touched == 0 and found.contacts == 0 and found.least_m > 0.02
    assert found.travelled_m > 0.5, "they are on their way"


def test_the_attack_succeeds_where_nobody_told_of_obstacles():
    assert fly(Course(Crowd("crazyflie_21", count=2, episodes=12, seconds=6.0, seed=4), forgets=True)).touched > 4
