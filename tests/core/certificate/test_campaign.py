"""Campaigns in parts, their bounds, and the random matrix."""

import numpy as np
import pytest

from benchmarks.certificate import campaign
from benchmarks.certificate.campaign import run, summed
from benchmarks.certificate.flight import Crowd, fly


def test_parts_have_seeds_of_their_own_and_are_summed_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(campaign, "PAIRS", 36)
    crowd = Crowd("crazyflie_21", "ring", count=3, episodes=10, seconds=0.6, seed=3)
    found = run(crowd)
    parts = [fly(Crowd(**{**vars(crowd), "episodes": e, "part": k})) for k, e in enumerate((4, 4, 2))]
    assert found == summed(parts) and len({part.least_m for part in parts}) == 3
    assert found.outcome.agent_steps == 30 * 10 * 3 and found.outcome.least_m == min(part.least_m for part in parts)


def test_no_contact_in_a_thousand_episodes_bounds_their_share_by_three_in_a_thousand():
    """Clopper and Pearson: 1 - 0.05^(1/n) without any, the root of their binomial tail with some."""
    one = fly(Crowd("crazyflie_21", "ring", count=2, episodes=4, seconds=0.2))
    assert summed([one._replace(episodes=1000)]).bound_episode == pytest.approx(1 - 0.05**0.001)
    assert summed([one._replace(episodes=1000, contacts=3)]).bound_episode == pytest.approx(0.00773, abs=1e-4)
    assert summed([one._replace(episodes=3, contacts=3)]).bound_episode == 1.0
    bound = summed([one._replace(episodes=1000, agent_steps=4_000_000)])
    assert bound.bound_million == pytest.approx(bound.bound_episode * 1000 / 4)


def test_the_random_matrix_draws_periods_delays_clocks_and_sizes(monkeypatch: pytest.MonkeyPatch):
    flown: list[Crowd] = []
    monkeypatch.setattr(campaign, "fly", lambda crowd: flown.append(crowd) or fly(crowd))
    monkeypatch.setattr(campaign, "RANDOM_EPISODES", 2)
    found = run(Crowd("crazyflie_21", "random", count=4, episodes=24, seconds=0.5, seed=4))
    assert found.outcome.contacts == 0 and found.outcome.episodes == 24
    assert {crowd.count for crowd in flown} == {2, 3, 4} and len({crowd.kind for crowd in flown}) > 2
    periods, delays = np.array([(crowd.period_s, crowd.delay_s) for crowd in flown]).T
    assert 0.005 <= periods.min() < 0.008 and 0.012 < periods.max() <= 0.02
    assert 0 <= delays.min() < 0.05 and 0.11 < delays.max() <= 0.16
    assert all(crowd.bursts and crowd.clock_s == 0.005 for crowd in flown)
    assert 0 < sum(crowd.deaf_after_s is not None for crowd in flown) < 12


@pytest.mark.parametrize(("vehicle", "other"), [("crazyflie_21", "carrier_600"), ("turtlebot3_burger", "ssl_omni")])
def test_crowds_of_unlike_vehicles_keep_the_distance_of_each_pair(vehicle: str, other: str):
    found = run(Crowd(vehicle, "ring", count=4, episodes=6, seconds=4.0, seed=5, other=other))
    assert found.outcome.contacts == 0 and found.near_share > 1 and found.tube_share < 1
    bare = Crowd(vehicle, "ring", count=4, episodes=6, seconds=4.0, seed=5, other=other, delay_s=0.0)
    assert run(bare).near_share > 1


def test_a_crowd_of_one_vehicle_on_both_sides_is_one():
    """The plant of unlike robots and that of one vehicle agree on what robots keep."""
    both = run(Crowd("crazyflie_21", "ring", count=4, episodes=4, seconds=2.0, seed=5, other="crazyflie_21")).outcome
    one = run(Crowd("crazyflie_21", "ring", count=4, episodes=4, seconds=2.0, seed=5)).outcome
    assert both.kept_m == pytest.approx(one.kept_m) and both.contact_m == one.contact_m
    assert both.declared_m == one.declared_m and both.least_m == pytest.approx(one.least_m, abs=0.2)
