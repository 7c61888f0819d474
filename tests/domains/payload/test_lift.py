"""What the lift task pays for distance between the vehicles: values by hand."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.domains.flight.lab.payload.lift import APART, CROWDED, WEIGHTS, reward_terms
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.lab.sim.scenario import load_scenario


def at_gap(scenario: FlightScenario, gap_m: float) -> Any:
    """One team whose first two vehicles are so far apart and the third 5 m away, whatever its cables say."""
    shapes = [(1, scenario.count, ROBOT_DRAWS), (1, TEAM_DRAWS), (1, num_cells(scenario))]
    world = start_world(scenario, *(np.full(shape, 0.5) for shape in shapes))
    pos = (np.array([[0.0, gap_m, 5.0]]), np.zeros((1, 3)), np.full((1, 3), 3.0))
    return world._replace(body=world.body._replace(pos=pos))


@pytest.mark.parametrize(
    ("share", "spread", "apart"), [(0.5, -0.75, -1 + 0.5 / 2.6), (2.2, 0.0, -0.4 / 2.6), (2.7, 0.0, 0.0)]
)
def test_apart_is_paid_farther_than_spread(share: float, spread: float, apart: float):
    scenario = load_scenario("lift_3")
    assert isinstance(scenario, FlightScenario)
    world = at_gap(scenario, share * scenario.vehicle_config.safety.separation_m)
    terms = reward_terms(scenario, world, world, world.queue[0])
    assert terms["spread"] == pytest.approx(np.full((1, 3), spread), abs=1e-6)
    assert terms["apart"] == pytest.approx(np.full((1, 3), apart), abs=1e-6)
    assert CROWDED < APART


def test_lean_is_of_all_vehicles_and_upright_costs_nothing():
    """By hand: one of three leans by 60 degrees, of which the cosine is 0.5."""
    scenario = load_scenario("lift_3")
    assert isinstance(scenario, FlightScenario)
    world, half, none = at_gap(scenario, 1.0), np.radians(30.0), np.zeros((1, 3))
    quat = (np.array([[1.0, 1.0, np.cos(half)]]), np.array([[0.0, 0.0, np.sin(half)]]), none, none)
    leaning = world._replace(body=world.body._replace(quat=quat))
    assert reward_terms(scenario, world, leaning, world.queue[0])["lean"] == pytest.approx(np.full((1, 3), -0.5 / 3))


@pytest.mark.parametrize("name", ["apart", "lean"])
def test_what_counts_only_where_a_recipe_says_so(name: str):
    assert WEIGHTS[name] == 0.0


def test_who_is_thrown_in_the_wanted_attitude_has_a_slope():
    """A payload of `recover_3` starts as it is to end: an angle of 0, and a root of 0 has no slope."""
    scenario = load_scenario("recover_3")
    assert isinstance(scenario, FlightScenario)
    world = jax.tree.map(jnp.asarray, at_gap(scenario, 1.0))

    def paid(quat: Any) -> Any:
        load = world.load._replace(rigid=world.load.rigid._replace(quat=quat))
        terms = reward_terms(scenario, world, world._replace(load=load), world.queue[0])
        return sum(value.sum() for value in terms.values())

    slopes = jax.jit(jax.grad(paid))(world.load.rigid.quat)
    assert all(np.isfinite(slope).all() for slope in slopes)
