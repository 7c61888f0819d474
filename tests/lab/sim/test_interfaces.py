"""Our environments pass the tests of the libraries whose interface they have. Each needs the library."""

import warnings
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.wrappers import UnitActions


def test_pettingzoo_finds_nothing_wrong() -> None:
    tests = pytest.importorskip("pettingzoo.test")
    from robomarl.lab.sim.interfaces.parallel_env import PettingZooTeam

    env = PettingZooTeam(make_env(load_scenario("swap_2")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tests.parallel_api_test(env, num_cycles=500)  # longer than an episode
        tests.parallel_seed_test(lambda: PettingZooTeam(make_env(load_scenario("swap_2"))), num_cycles=20)


def test_pettingzoo_flies_what_the_environment_flies() -> None:
    pytest.importorskip("pettingzoo")
    from robomarl.lab.sim.interfaces.parallel_env import PettingZooTeam

    inner = make_env(load_scenario("swap_2"))
    env, unit = PettingZooTeam(inner), UnitActions(inner)
    obs, _ = env.reset(seed=3)
    state = jax.jit(inner.reset)(jax.random.split(jax.random.key(3))[1])
    np.testing.assert_array_equal(obs["robot_1"], state.obs[1])
    action = np.array([[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, -0.8]], np.float32)
    obs, rewards, *_ = env.step({"robot_1": action[1], "robot_0": action[0]})
    state = jax.jit(unit.step)(state, action)
    np.testing.assert_array_equal(obs["robot_1"], state.obs[1])
    assert rewards["robot_0"] == state.reward[0] and rewards["robot_0"] != rewards["robot_1"]
    env.agents = []
    with pytest.raises(RuntimeError, match="call reset"):
        env.step({})


@pytest.fixture
def jaxmarl_team() -> Any:
    pytest.importorskip("jaxmarl")
    from robomarl.lab.sim.interfaces.multi_agent_env import JaxMarlTeam

    return JaxMarlTeam(make_env(load_scenario("swap_2")))


def random_actions(env: Any, key: jax.Array) -> dict[str, jax.Array]:
    keys = jax.random.split(key, env.num_agents)
    return {name: env.action_space(name).sample(k) for name, k in zip(env.agents, keys, strict=True)}


def test_jaxmarls_own_step_and_log_wrapper_run_it(jaxmarl_team: Any) -> None:
    """As its baselines do: vmapped, scanned, with the reset that the base class adds, inside its `LogWrapper`."""
    baselines = pytest.importorskip("jaxmarl.wrappers.baselines")

    env, steps, teams = baselines.LogWrapper(jaxmarl_team), jaxmarl_team._scenario.max_steps + 5, 3

    def decide(now: tuple, key: jax.Array) -> tuple[tuple, tuple]:
        keys = jax.random.split(key, teams)
        actions = jax.vmap(lambda k: random_actions(jaxmarl_team, k))(keys)
        obs, state, reward, done, info = jax.vmap(env.step)(keys, now[1], actions)
        return (obs, state), (obs, reward, done, info)

    start = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), teams))
    scan = jax.jit(lambda s, k: jax.lax.scan(decide, s, k))
    _, (obs, reward, done, info) = scan(start, jax.random.split(jax.random.key(1), steps))
    for name in jaxmarl_team.agents:
        assert obs[name].shape == (steps, teams, *jaxmarl_team.observation_space(name).shape)
        assert reward[name].shape == done[name].shape == (steps, teams) and done[name].dtype == bool
        assert jnp.isfinite(obs[name]).all() and jnp.isfinite(reward[name]).all()
    assert done["__all__"].any(0).all(), "every team's episode ended within its time"
    assert (info["returned_episode_lengths"][-1] > 0).all()


def test_jaxmarl_begins_anew_when_a_team_is_done() -> None:
    pytest.importorskip("jaxmarl")
    from robomarl.lab.sim.interfaces.multi_agent_env import JaxMarlTeam

    env = JaxMarlTeam(make_env(replace(load_scenario("swap_2"), time_limit_s=0.04)))  # two decisions
    start, state = env.reset(jax.random.key(0))
    actions = random_actions(env, jax.random.key(1))
    _, state, _, done, _ = env.step(jax.random.key(2), state, actions)
    assert not done["__all__"] and float(state.info["steps"]) == 1
    obs, state, _, done, info = env.step(jax.random.key(3), state, actions)
    assert done["__all__"] and info["truncation"].all() and float(state.info["steps"]) == 0
    np.testing.assert_array_equal(obs["robot_1"], env.get_obs(state)["robot_1"])
    assert not np.array_equal(obs["robot_1"], start["robot_1"])
