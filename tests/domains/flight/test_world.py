"""What all engines share: delay, radio, noise, gusts, closest approach, arrival."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.domains.flight.lab.quadrotor import RigidVehicle
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.lab.step import advance, blow, closest_approach, num_step_draws
from robomarl.domains.flight.lab.world import FlightWorld, queue_length
from robomarl.lab.sim.engines.delay import command_in_force
from robomarl.lab.sim.message import mates_of
from robomarl.lab.sim.scenario import load_scenario


def frozen(world: FlightWorld, wind: Any) -> FlightWorld:
    """An engine in which nobody moves."""
    return world


def randomized(name: str, **ranges: tuple[float, float]) -> FlightScenario:
    scenario = load_scenario(name)
    return dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, **ranges))


def start(scenario: FlightScenario, envs: int = 1, seed: int = 0) -> FlightWorld:
    random = np.random.default_rng(seed)
    shapes = [(envs, scenario.count, ROBOT_DRAWS), (envs, TEAM_DRAWS), (envs, num_cells(scenario))]
    return start_world(scenario, *(random.random(shape, np.float32) for shape in shapes))


def step(
    scenario: FlightScenario, world: FlightWorld, random: np.random.Generator, command: float = 0.0
) -> FlightWorld:
    shape = (*world.goal_m.shape[:-1], 4)
    draws = random.random((*shape[:-1], num_step_draws(scenario)), np.float32)
    return advance(scenario, world, np.full(shape, command, np.float32), draws, frozen)


@given(delay=st.integers(0, 10), decisions=st.integers(1, 6))
def test_commands_take_effect_after_their_delay(delay: int, decisions: int):
    """By brute force: in force is the newest command that was issued at least `delay` sub-steps ago."""
    scenario = randomized("swap_2", delay_s=(0.0, 0.04))
    substeps, dt_s = scenario.substeps, scenario.physics_dt_s
    world = start(scenario)
    delays = np.full((1, 2), delay, np.int32)
    world = world._replace(hidden=world.hidden._replace(delay_substeps=delays))
    random = np.random.default_rng(0)
    for decision in range(decisions):
        world = step(scenario, world, random, command=0.1 * (decision + 1))
    for substep in range(substeps):
        now = (decisions - 1) * substeps + substep
        issued = (now - delay) // substeps  # the first command, number 0, comes into force after `delay`
        expected = 0.1 * (issued + 1) if issued >= 0 else 0.0
        held = command_in_force(world, np.asarray(substep), substeps)
        assert held[0] == pytest.approx(np.full((1, 2), expected)), (substep, dt_s)


@pytest.mark.parametrize(("delay_s", "length"), [(0.0, 1), (0.004, 2), (0.02, 2), (0.024, 3), (0.04, 3)])
def test_the_queue_is_as_long_as_the_delay_needs(delay_s: float, length: int):
    assert queue_length(randomized("swap_2", delay_s=(0.0, delay_s))) == length


def test_packets_are_lost_as_often_as_the_scenario_says():
    scenario = randomized("swap_4", packet_loss=(0.3, 0.3))
    world, random = start(scenario, envs=50), np.random.default_rng(1)
    fresh, oldest = [], 0.0
    for _ in range(100):
        world = step(scenario, world, random)
        fresh.append(world.air.age_s == np.float32(scenario.radio.latency_s))
        oldest = max(oldest, float(world.air.age_s.max()))
    heard = np.array(fresh)
    assert heard.mean() == pytest.approx(0.7, abs=5 * np.sqrt(0.21 / heard.size))
    assert oldest > 4 * scenario.period_s  # losses in a row make messages older
    one_link = heard[:, :, 0, 0].astype(float)
    in_a_row = np.corrcoef(one_link[:-1].ravel(), one_link[1:].ravel())[0, 1]
    assert abs(in_a_row) < 0.06  # one loss says nothing about the next


def test_messages_are_as_old_as_the_latency():
    """A mate's message holds what it measured `latency_s` earlier, and says so."""
    scenario = randomized("swap_2", packet_loss=(0.0, 0.0))
    world, random = start(scenario), np.random.default_rng(0)
    measured = [world.measured.pos_m]
    for _ in range(5):
        world = step(scenario, world, random)
        measured.append(world.measured.pos_m)
    lag = round(scenario.radio.latency_s / scenario.period_s)
    assert world.air.age_s == pytest.approx(np.full((1, 2, 1), scenario.radio.latency_s))
    assert np.array_equal(world.air.pos_m[0, 0, 0], measured[-1 - lag][0, 1])


def test_out_of_range_is_not_heard():
    scenario = randomized("swap_2", packet_loss=(0.0, 0.0))
    scenario = dataclasses.replace(scenario, radio=dataclasses.replace(scenario.radio, range_m=0.5))
    world, random = start(scenario), np.random.default_rng(0)
    for decision in range(3):
        world = step(scenario, world, random)
        assert world.air.age_s == pytest.approx(np.full((1, 2, 1), scenario.period_s * (decision + 1)))


def test_noise_is_bounded_and_fills_its_bound():
    scenario = randomized("swap_4", noise_scale=(2.0, 2.0))
    world, random, errors = start(scenario, envs=100), np.random.default_rng(0), []
    for _ in range(20):
        world = step(scenario, world, random)
        errors.append(world.measured.pos_m - np.stack(world.body.pos, -1))
    bound = 2 * scenario.sensing.position_noise_m
    largest = np.abs(errors).max()
    assert 0.99 * bound < largest < 1.001 * bound
    assert np.mean(errors) == pytest.approx(0.0, abs=bound / 50)


def test_gusts_have_the_size_and_memory_that_the_scenario_says():
    scenario = randomized("swap_4", gust_m_s=(0.3, 0.3))
    world, random = start(scenario, envs=500), np.random.default_rng(0)
    gusts = []
    for _ in range(150):
        world = world._replace(gust_m_s=blow(scenario, world, random.random((500, 4, 3))))
        gusts.append(world.gust_m_s[0])
    settled = np.array(gusts[75:])
    assert settled.std() == pytest.approx(0.3, rel=0.03)
    keep = np.exp(-scenario.period_s / scenario.weather.gust_time_s)
    assert np.corrcoef(settled[:-1].ravel(), settled[1:].ravel())[0, 1] == pytest.approx(keep, abs=0.01)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 5))
def test_closest_approach_against_brute_force(seed: int, count: int):
    random = np.random.default_rng(seed)
    before, after = random.normal(size=(2, 3, count))
    rest: Any = ((), (), (), ())
    found = closest_approach(RigidVehicle(tuple(before), *rest), RigidVehicle(tuple(after), *rest))
    part = np.linspace(0, 1, 2001)[:, None, None]
    path = before + part * (after - before)
    gap = np.linalg.norm(path[:, :, :, None] - path[:, :, None, :], axis=1)
    gap[:, range(count), range(count)] = np.inf
    assert found == pytest.approx(gap.min((0, 2)), abs=2e-3)


def test_the_closest_of_one_robot_is_infinitely_far():
    scenario = load_scenario("swap_1")
    world = step(scenario, start(scenario), np.random.default_rng(0))
    assert np.isinf(world.closest_m).all()


def test_arrival_counts_time_at_the_goal_and_starts_anew():
    scenario = load_scenario("swap_2")
    world, random = start(scenario), np.random.default_rng(0)
    still = tuple(np.zeros((1, 2), np.float32) for _ in range(3))
    there = tuple(world.goal_m[..., i] for i in range(3))
    away = tuple(g + np.array([[0.0, 1.0]], np.float32) for g in there)
    world = world._replace(body=world.body._replace(pos=there, vel=still))
    for _ in range(3):
        world = step(scenario, world, random)
    assert world.arrived_s == pytest.approx(np.full((1, 2), 3 * scenario.period_s))
    world = step(scenario, world._replace(body=world.body._replace(pos=away)), random)
    assert world.arrived_s == pytest.approx(np.array([[4 * scenario.period_s, 0.0]]))


@given(st.integers(1, 20))
def test_mates_are_everybody_else(count: int):
    for i, row in enumerate(mates_of(count)):
        assert sorted([i, *row]) == list(range(count))
