"""The plant that ground robots are measured on: what it is told is what its commanded point does."""

import numpy as np
import pytest

from robomarl.domains.ground.lab.plants import Drivers
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.sim.scenario import load_scenario

NOW = Condition("training", ())
FLIGHTS = 6


@pytest.mark.parametrize("name", ["warehouse", "passage_4"])
def test_the_commanded_point_starts_as_told_and_follows_one_decision_later(name: str):
    """0.3 m/s^2 across the first velocity of 0.05 m/s, whatever the heading; six flights, headings drawn."""
    plant = Drivers(load_scenario(name), FLIGHTS, 0)
    start = np.tile([0.05, 0.0, 0.0], (FLIGHTS, 1))
    plant.start([NOW] * FLIGHTS, start)
    place, vel = plant.motion()
    np.testing.assert_allclose(vel, start, atol=1e-6)
    accel, still = np.tile([0.0, 0.3, 0.0], (FLIGHTS, 1)), np.zeros(FLIGHTS)
    for decisions in range(1, 8):
        plant.step(accel, still)
        _, vel = plant.motion()
        wanted = [0.05, 0.3 * (decisions - 1) * plant.period_s, 0.0]
        np.testing.assert_allclose(vel, np.tile(wanted, (FLIGHTS, 1)), atol=6e-3)
    after, _ = plant.motion()
    np.testing.assert_allclose((after - place)[:, 0], 0.05 * 7 * plant.period_s, atol=2e-3)
