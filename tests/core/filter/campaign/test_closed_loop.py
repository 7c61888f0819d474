"""Flights behind the filter: nobody touches, everybody arrives, and the campaign catches a filter that is not safe."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.filter.filter import SafetyParams
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.lab.prove.campaign.conditions import Campaign, World
from robomarl.lab.prove.campaign.prove import prove
from robomarl.lab.prove.campaign.score import closest, poisson_bound

VEHICLE = load_vehicle("crazyflie_21")
PERIOD_S = 0.02


@pytest.mark.parametrize(("count", "steps"), [(2, 1e4), (8, 4e4), (16, 3e4)])
def test_adversaries_do_not_collide(count: int, steps: float):
    found = prove(Campaign("adversarial", count, 6.0), VEHICLE, PERIOD_S, steps)
    assert found["collisions"] == 0
    assert found["min_scaled_m"] > VEHICLE.safety.separation_m
    # What gusts add within the delay.
    assert found["max_speed_m_s"] <= 1.05 * VEHICLE.limits.speed_m_s
    assert found["outside_m"] <= 0
    assert found["active_share"] > 0.5
    assert found["infeasible_rate"] < 0.1  # with all errors at their bounds, eight and more are often torn


def test_the_textbook_filter_and_none_at_all_are_caught():
    for mode in ("textbook", "off"):
        found = prove(Campaign(seconds=6.0), VEHICLE, PERIOD_S, 2e4, mode)  # type: ignore[arg-type]
        assert found["collision_episodes"] >= 0.5 * found["episodes"]


@pytest.mark.parametrize(("count", "seconds", "steps"), [(4, 8.0, 1.6e4), (8, 12.0, 2e4), (16, 30.0, 2.5e4)])
def test_swaps_arrive(count: int, seconds: float, steps: float):
    """In a calm world: what gusts, restarts and bursts of loss cost is no deadlock."""
    calm = Campaign("swap", count, seconds, mismatch=0.3, jitter=0.0, bursts=0.0, restart_every_s=0.0)
    found = prove(calm, VEHICLE, PERIOD_S, steps)
    assert found["collisions"] == 0
    assert found["min_scaled_m"] > VEHICLE.safety.separation_m
    assert found["goal_rate"] >= 0.99
    # Straight through each other, at the same cruising speed: nobody can be faster.
    free = dataclasses.replace(calm, seconds=8.0, detour=False)
    assert found["arrival_p50_s"] <= 3.0 * prove(free, VEHICLE, PERIOD_S, count * 800, "off")["arrival_p50_s"]


@pytest.mark.parametrize(
    "change", [{"loss": 0.6}, {"latency_steps": 4}, {"noise": 0.0, "mismatch": 0.0, "loss": 0.0}], ids=str
)
def test_other_radios_and_sensors(change: dict):
    found = prove(dataclasses.replace(Campaign(seconds=6.0), **change), VEHICLE, PERIOD_S, 1e4)
    assert found["min_scaled_m"] > VEHICLE.safety.separation_m


def test_the_same_seed_flies_the_same_campaign():
    one, two = (prove(Campaign(seconds=1.0), VEHICLE, PERIOD_S, 400, seed=3) for _ in range(2))
    assert one == two


@pytest.mark.slow
def test_two_million_agent_steps():
    found = prove(Campaign(), VEHICLE, PERIOD_S, 2e6)
    assert found["collisions"] == 0
    assert found["min_scaled_m"] > VEHICLE.safety.separation_m - 0.02


def test_contacts_between_samples_are_found():
    """Two robots that pass through each other within one period."""
    ends = np.array([[-0.2, 0.01, 0], [0.2, 0.01, 0]])
    assert closest(ends[:, None])[0, 0] == pytest.approx(0.01)


def test_the_campaign_keeps_its_own_assumptions(params: SafetyParams):
    world = World(Campaign(count=5), params, 20, np.random.default_rng(0))
    for _ in range(30):
        view = world.view()
        assert np.linalg.norm(view.own.pos_m - world.team.pos, axis=-1).max() <= params.safety.position_error_m
        assert np.linalg.norm(view.own.vel_m_s - world.team.vel, axis=-1).max() <= params.safety.velocity_error_m_s
        zero = np.zeros_like(world.team.pos)
        world.step(zero, view.heard.plan._replace(pos_m=zero, vel_m_s=zero, stop_m=zero))
    assert np.linalg.norm(world.gust, axis=-1).max() <= params.safety.accel_error_m_s2 + 1e-12
    assert (np.abs(world.constant) <= np.array(params.bias_m_s2)).all()
    assert world.delay.min() >= 4
    assert world.delay.max() <= 8
    assert view.heard.age_s.min() == pytest.approx(PERIOD_S)


def test_the_bound_for_no_event_is_the_rule_of_three():
    assert poisson_bound(0) == pytest.approx(2.9957, abs=1e-3)
    assert poisson_bound(3) == pytest.approx(7.754, abs=1e-3)
