"""Pairs of robots attacked by a plant that shares nothing with the falsifier; see `benchmarks.filter.pairs`."""

import pytest

from benchmarks.filter.pairs import Attack, fly
from robomarl.core.hardware.vehicle import load_any_vehicle


@pytest.mark.parametrize("name", ["crazyflie_21", "ssl_omni", "carrier_600"])
def test_nobody_touches_at_the_declared_bounds(name: str):
    vehicle = load_any_vehicle(name)
    found = fly(Attack(vehicle, pairs=300, seconds=6.0))
    assert found.least_m.min() > found.contact_m
    assert found.least_m.min() >= vehicle.safety.separation_m - 0.02


def test_the_attack_can_succeed():
    """The filter of the literature, without any margins, does not survive it."""
    found = fly(Attack(load_any_vehicle("crazyflie_21"), pairs=100, seconds=4.0, mode="textbook"))
    assert (found.least_m < found.contact_m).mean() > 0.1, "a quarter of them"


def test_no_plant_for_a_differential_drive():
    with pytest.raises(ValueError, match="point mass"):
        fly(Attack(load_any_vehicle("turtlebot3_burger"), pairs=1))
