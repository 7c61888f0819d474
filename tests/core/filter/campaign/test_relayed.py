"""Relayed messages are what teammates sent at their stamps; robots on arcs learn the bias that keeps them off goals."""

import numpy as np
import pytest

from robomarl.core.filter.filter import from_vehicle
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import Plan
from robomarl.lab.prove.campaign.adversary import KeepRight, Team
from robomarl.lab.prove.campaign.conditions import Campaign, World
from robomarl.lab.prove.campaign.prove import prove

PERIOD_S = 0.02


@pytest.mark.parametrize("latency_steps", [1, 3])
def test_a_relayed_message_is_one_that_its_robot_sent_when_its_stamp_says(latency_steps: int):
    campaign = Campaign("roundabout", 4, bursts=1.0, relayed=True, latency_steps=latency_steps)
    world = World(campaign, from_vehicle(load_vehicle("crazyflie_21"), PERIOD_S), 8, np.random.default_rng(0))
    sent, ages_s = [], []
    for _ in range(200):
        sent.append(world.seen.pos[:, world.others])
        world.step(np.random.default_rng(1).normal(size=(8, 4, 3)), Plan(*[np.zeros((8, 4, 3))] * 3))
        steps = np.rint(world.age_s / PERIOD_S).astype(int)
        if len(sent) > 40:
            assert (steps >= latency_steps).all()
            teams, robots, mates = np.indices(steps.shape)
            np.testing.assert_array_equal(world.heard[..., :3], np.stack(sent)[len(sent) - steps, teams, robots, mates])
            ages_s.append(world.age_s)
    assert len(np.unique(np.rint(np.array(ages_s) / PERIOD_S))) > 5


def test_with_relayed_messages_robots_stay_at_their_goals_and_touch_no_other():
    vehicle = load_vehicle("crazyflie_21", "firmware_corrected")
    sent, relayed = (
        prove(Campaign("roundabout", 4, 20.0, relayed=one), vehicle, PERIOD_S, 6e4) for one in (False, True)
    )
    assert sent["collisions"] == relayed["collisions"] == 0
    assert relayed["goal_rate"] > 0.95 > 0.85 > sent["goal_rate"]
    assert relayed["infeasible_rate"] < 0.5 * sent["infeasible_rate"]


def test_robots_on_arcs_reach_their_goals_against_a_bias():
    params = from_vehicle(load_vehicle("crazyflie_21"), PERIOD_S)
    law, goal = KeepRight(params, (1, 1), 1.0), np.array([[[0.3, 0.1, 0.0]]])
    place, speed = np.zeros((1, 1, 3)), np.zeros((1, 1, 3))
    for _ in range(2000):
        accel = law(Team(place, speed, goal)) + [0.1, -0.1, -0.8]
        place, speed = place + PERIOD_S * speed, speed + PERIOD_S * accel
    np.testing.assert_allclose(place, goal, atol=5e-3)
