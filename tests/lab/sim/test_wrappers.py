"""Brax's own PPO trains on a team; folding keeps every robot's numbers apart."""

import ast
import functools
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.training.agents.ppo import networks as ppo_networks
from brax.training.agents.ppo import train as ppo

from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sim.wrappers import FlattenAgents, UnitActions, flatten_agents


def test_folded_rows_are_the_robots_of_the_teams_in_order() -> None:
    """Row B N is team B, robot N: observation and reward equal those of the environment itself."""
    env = make_env(load_scenario("goto_3"))
    flat, keys = FlattenAgents(env), jax.random.split(jax.random.key(1), 2)
    action = jnp.linspace(-1, 1, 2 * 3 * 4).reshape(6, 4)
    state = jax.jit(lambda k, a: flat.step(flat.reset(k), a))(keys, action)
    team = jax.jit(lambda k, a: UnitActions(env).step(env.reset(k), a))(keys[1], action[3:])
    assert state.obs.shape == (6, env.observation_size)
    np.testing.assert_allclose(state.obs[3:], team.obs, atol=1e-5)
    np.testing.assert_allclose(state.reward[3:], team.reward, atol=1e-5)


def test_a_team_that_ends_starts_anew() -> None:
    """After the time limit every robot of the team reports done and truncation, and the next step begins again."""
    env = make_env(load_scenario("goto_2"))
    flat = FlattenAgents(env)
    state = jax.jit(flat.reset)(jax.random.split(jax.random.key(0), 1))
    teams: Any = state.pipeline_state
    sim = teams.pipeline_state
    late = sim._replace(world=sim.world._replace(step=jnp.full((1,), env.scenario.max_steps - 1)))
    step = jax.jit(flat.step)
    state = step(
        state.replace(  # type: ignore[attr-defined]
            pipeline_state=teams.replace(pipeline_state=late)
        ),
        jnp.zeros((2, 4)),
    )
    np.testing.assert_array_equal(state.done, [1, 1])
    np.testing.assert_array_equal(state.info["truncation"], [1, 1])
    assert step(state, jnp.zeros((2, 4))).done.sum() == 0


def test_brax_ppo_trains_with_batch_and_team_sizes_that_differ() -> None:
    """Four environments of three robots: Brax's loss only fits when the robots are folded into the batch."""
    seen = {}
    small = functools.partial(
        ppo_networks.make_ppo_networks, policy_hidden_layer_sizes=(8,), value_hidden_layer_sizes=(8,)
    )
    ppo.train(
        make_env(load_scenario("goto_3")),
        num_timesteps=64,
        episode_length=400,
        wrap_env_fn=flatten_agents,
        network_factory=small,
        num_envs=4,
        num_eval_envs=2,
        num_evals=1,
        unroll_length=4,
        batch_size=4,
        num_minibatches=2,
        num_updates_per_batch=1,
        normalize_observations=True,
        run_evals=False,
        log_training_metrics=False,
        progress_fn=lambda steps, metrics: seen.update(metrics, steps=steps),
    )
    assert seen["steps"] >= 64


@pytest.mark.slow
def test_example_trains_with_brax(root: Path) -> None:
    """`examples/brax_ppo.py` as a user starts it, one training step long: it prints rewards per episode."""
    command = [sys.executable, str(root / "examples" / "brax_ppo.py"), "64", "4"]
    found = subprocess.run(
        command, capture_output=True, text=True, cwd=root, env={**os.environ, "JAX_PLATFORMS": "cpu"}
    )
    assert found.returncode == 0, found.stderr[-2000:]
    figures = ast.literal_eval(found.stdout.strip().splitlines()[-1])
    assert math.isfinite(figures["eval/episode_reward"])
    assert {f"eval/episode_reward/{name}" for name in ("progress", "close")} <= figures.keys()
