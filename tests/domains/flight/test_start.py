"""How episodes start, for any seed and team size."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.core.config import UserError
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.lab.world import FlightWorld, positions
from robomarl.lab.sim.scenario import load_scenario

SEEDS = st.integers(0, 2**32 - 1)
COUNTS = st.integers(1, 16)


def start(scenario: FlightScenario, seed: int) -> FlightWorld:
    random = np.random.default_rng(seed)
    shapes = [(scenario.count, ROBOT_DRAWS), (TEAM_DRAWS,), (num_cells(scenario),)]
    return start_world(scenario, *(random.random(shape, np.float32) for shape in shapes))


def least_gap(places: np.ndarray) -> float:
    gap = np.linalg.norm(places[:, None] - places[None], axis=-1)
    return float((gap + np.diag(np.full(len(places), np.inf))).min())


@settings(max_examples=60)
@given(seed=SEEDS, count=COUNTS)
def test_robots_start_apart_inside_the_arena(seed: int, count: int):
    scenario = load_scenario(f"swap_{count}")
    places = positions(start(scenario, seed).body)
    jitter = 2 * math.sqrt(3) * scenario.start.jitter_m
    assert least_gap(places) > scenario.start.min_spacing_m - jitter - 1e-5
    assert least_gap(places) > 2 * scenario.vehicle_config.body.radius_m
    assert (places > scenario.arena.low_m).all()
    assert (places < scenario.arena.high_m).all()


@settings(max_examples=60)
@given(seed=SEEDS, count=COUNTS)
def test_swap_goals_are_across_the_ring(seed: int, count: int):
    scenario = load_scenario(f"swap_{count}")
    world = start(scenario, seed)
    middle = (positions(world.body) + world.goal_m) / 2 - [0, 0, scenario.start.height_m]
    assert np.abs(middle).max() <= (scenario.start.jitter_m + scenario.goal.jitter_m) / 2 + 1e-5


@settings(max_examples=60)
@given(seed=SEEDS, count=st.integers(1, 9))
def test_random_goals_are_separate_and_reachable(seed: int, count: int):
    scenario = load_scenario(f"goto_{count}")
    goals = start(scenario, seed).goal_m
    assert least_gap(goals) >= scenario.goal.min_separation_m - 1e-5
    reach = scenario.ring_radius_m + math.sqrt(2) * scenario.goal.jitter_m
    assert np.hypot(goals[:, 0], goals[:, 1]).max() <= reach + 1e-5


@settings(max_examples=60)
@given(seed=SEEDS)
def test_what_is_randomized_is_in_its_range(seed: int):
    scenario = load_scenario("swap_4")
    hidden, ranges, vehicle = start(scenario, seed).hidden, scenario.randomize, scenario.vehicle_config
    drawn = {
        "mass_scale": hidden.physics.mass_kg / vehicle.body.mass_kg,
        "thrust_scale": hidden.physics.thrust_scale,
        "rotor_tau_scale": hidden.physics.rotor_tau_s / vehicle.rotors.time_constant_s,
        "delay_s": hidden.delay_substeps * scenario.physics_dt_s,
        "noise_scale": hidden.noise_scale,
        "packet_loss": hidden.packet_loss,
        "wind_m_s": np.hypot(hidden.wind_m_s[0], hidden.wind_m_s[1]),
        "gust_m_s": hidden.gust_m_s,
    }
    assert set(drawn) == set(scenario.randomized)
    for name, values in drawn.items():
        low, high = getattr(ranges, name)
        assert (values >= low - 1e-5).all(), name
        assert (values <= high + 1e-5).all(), name
    assert len({float(w) for w in drawn["wind_m_s"]}) == 1  # one wind for the team


def test_two_seeds_differ_and_one_seed_does_not():
    scenario = load_scenario("swap_4")
    first, again, other = (start(scenario, seed).goal_m for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_too_many_random_goals_are_named():
    scenario = dataclasses.replace(load_scenario("goto_4"), count=50)
    scenario = dataclasses.replace(scenario, start=dataclasses.replace(scenario.start, min_spacing_m=0.01))
    with pytest.raises(UserError, match=r"goto_4.toml: goal.min_separation_m = 0.45 leaves room for \d+ goals, not 50"):
        start(scenario, 0)
