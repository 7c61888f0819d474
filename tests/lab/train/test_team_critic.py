"""A critic of the whole team: one input, a value for each robot."""

import dataclasses
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.config import UserError, build
from robomarl.domains.flight.lab.payload import lift
from robomarl.domains.flight.lab.start import ROBOT_DRAWS, TEAM_DRAWS, num_cells, start_world
from robomarl.domains.flight.lab.tasks import swap
from robomarl.domains.flight.lab.world import FlightWorld
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train import algorithm
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.networks import make_networks
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.run.weights import learned, weights_of
from tests.domains.soccer.games import plain

TEAM = NetworkConfig((4,), (2,), critic="team")
ENV = make_env(load_scenario("swap_4"))


def test_a_team_has_a_value_for_each_robot_from_one_input() -> None:
    """By hand: tanh(x K + b) L + c with two hidden units and three robots."""
    networks = make_networks(TEAM, ENV.observation, 4, robots=3)
    first, last = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    params = {
        "params": {
            "Dense_0": {"kernel": jnp.asarray(first), "bias": jnp.array([0.5, 0.0])},
            "Dense_1": {"kernel": jnp.asarray(last), "bias": jnp.array([0.0, 0.0, 0.1])},
        }
    }
    a, b = np.tanh(0.5 + 0.5), np.tanh(2 * 0.25)
    value = networks.value(params, jnp.full((5, 7, 2), jnp.array([0.5, 0.25])))
    assert value.shape == (5, 7, 3)
    np.testing.assert_allclose(value[0, 0], [a, 2 * a + b, 0.1 - b], rtol=1e-6)


def _start(scenario: Any) -> FlightWorld:
    """An episode's start, in numpy: nothing is compiled."""
    draw = np.random.default_rng(0).random
    return start_world(scenario, draw((scenario.count, ROBOT_DRAWS)), draw(TEAM_DRAWS), draw(num_cells(scenario)))


def test_what_it_sees_of_a_team_is_the_same_truth_once() -> None:
    """What each robot's own critic knows of that robot alone is in it, in the robots' order; nothing is missing."""
    scenario = load_scenario("swap_4")
    team, rows = (see(scenario, _start(scenario)) for see in (swap.team_privileged, swap.privileged))
    each = team[:-3].reshape(4, -1)
    np.testing.assert_array_equal(each[:, 3:6], rows[:, :3])  # the way to the goal
    np.testing.assert_array_equal(each[:, 6:9], rows[:, 3:6])  # velocity
    np.testing.assert_array_equal(each[:, 16:], rows[:, 15 : 15 + each.shape[1] - 16])  # what no robot sees
    np.testing.assert_array_equal(team[-3:], [*rows[0, 6:8], 1.0])  # wind, time left


def test_what_it_sees_of_a_load_is_what_each_robot_critic_sees_but_whose_it_is() -> None:
    """One load, one truth."""
    scenario = load_scenario("lift_3")
    team, rows = (see(scenario, _start(scenario)) for see in (lift.team_privileged, lift.privileged))
    np.testing.assert_array_equal(rows, [[*team, *index] for index in np.eye(3)])


def test_where_a_task_has_no_view_of_its_own_all_robots_views_are_in_a_row() -> None:
    """The default of every environment."""
    two: Any = SimpleNamespace(privileged=lambda state: jnp.arange(6.0).reshape(2, 3) + state)
    np.testing.assert_array_equal(AgentsEnv.team_privileged(two, 1), np.arange(1.0, 7.0))  # type: ignore[arg-type]


def test_a_run_with_it_starts_from_the_actor_of_a_run_without_it() -> None:
    """And learns its critic anew; a recipe from before there was a choice has the critic of one robot."""
    robot = build(TrainConfig, {"num_envs": 2, "minibatches": 1, "network": {"actor_hidden": [4]}}, "older")
    assert robot.network.critic == "robot"
    team = dataclasses.replace(robot, network=dataclasses.replace(robot.network, critic="team"))
    shapes = jax.eval_shape(partial(algorithm.init_state, robot, ENV), jax.random.key(0))
    older = jax.tree.map(lambda x: np.full(x.shape, 0.5), shapes._replace(key=np.zeros(2), env=()))
    state = learned(partial(algorithm.init_state, team, ENV), weights_of(older), "older")
    for old, new in zip(*(jax.tree.leaves(s.params["actor"]) for s in (older, state)), strict=True):
        np.testing.assert_array_equal(old, new)
    assert all(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(state.params["critic"]))
    assert state.params["critic"]["params"]["Dense_2"]["kernel"].shape == (64, 4)
    assert networks_of(robot, ENV).critic.sizes[-1] == 1


def test_what_has_no_such_critic_says_so() -> None:
    """A critic that sees one robot's observation, and games."""
    with pytest.raises(ValueError, match='make critic "robot"'):
        TrainConfig(algorithm="ippo", network=TEAM)
    with pytest.raises(UserError, match='critic = "team" does not value games, and .* is one; make it "robot"'):
        algorithm.make_update(TrainConfig(scenario="soccer_2v2", network=TEAM), SoccerEnv(plain()))
