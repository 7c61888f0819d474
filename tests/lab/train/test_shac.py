"""SHAC: the return of a rollout by hand, its gradient against finite differences, and a run that resumes."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from robomarl.core.spec import ObservationField, ObservationSpec
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train import shac
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.networks import make_networks
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.rollout import collect_rollout
from robomarl.lab.train.state import Rollout, TrainState
from tests.lab.train.learners import blank_state, first_state

SMALL = TrainConfig(
    algorithm="shac", num_envs=2, unroll=3, minibatches=1, epochs=1, network=NetworkConfig((8,), (8,), critic="team")
)


def test_the_return_of_a_horizon_is_the_sum_by_hand() -> None:
    """One robot, two teams, gamma 0.5, a critic that always says 4: the first goes on, the second ends and begins."""
    networks = make_networks(NetworkConfig((2,), (2,)), ObservationSpec((ObservationField("velocity"),)), 2)
    critic = jax.tree.map(jnp.zeros_like, networks.critic.init(jax.random.key(0), jnp.zeros(3)))
    critic["params"]["Dense_1"]["bias"] = jnp.array([4.0])
    state: TrainState = blank_state({"critic": critic}, 3)
    reward = jnp.array([[1.0, 1.0], [2.0, 2.0]])[..., None]
    nothing = jnp.zeros((2, 2, 1, 1))
    rollout = Rollout(
        (), nothing, jnp.zeros((3, 2, 1, 3)), nothing, nothing, reward, jnp.array([[0, 1], [0, 0]]), nothing, {}
    )
    first, second = 1 + 0.5 * 2 + 0.25 * 4, 1 + 2 + 0.5 * 4
    assert shac.horizon_loss(networks, state, rollout, 0.5) == pytest.approx(-(first + second) / 2 / 2)


@pytest.mark.slow
def test_its_gradient_is_that_of_finite_differences() -> None:
    """Through observation, policy, delay, controller, rotors, bodies, radio and rewards of swap_4, and the critic."""
    env = make_env(load_scenario("swap_4"))
    networks, state = networks_of(SMALL, env), first_state(SMALL, env)

    def loss(actor: dict) -> jax.Array:
        own = state._replace(params=state.params | {"actor": actor})
        rollout = collect_rollout(SMALL, env, networks, own)[1]
        return shac.horizon_loss(networks, state, rollout, 0.99)

    flat, shaped = ravel_pytree(state.params["actor"])
    slope = ravel_pytree(jax.jit(jax.grad(loss))(state.params["actor"]))[0]
    value = jax.jit(lambda x: loss(shaped(x)))
    for way in (slope / jnp.linalg.norm(slope), *(jax.random.normal(jax.random.key(k), flat.shape) for k in range(3))):
        found = (value(flat + 3e-3 * way) - value(flat - 3e-3 * way)) / 6e-3
        assert found == pytest.approx(float(slope @ way), rel=0.02, abs=2e-4)


@pytest.mark.slow
def test_the_recipe_trains_from_the_command_line(tmp_path: Path) -> None:
    """In a process of its own: the compiler's option for several results ended it, and flags count once a process."""
    words = ["train", "swap_4", "--recipe", "swap_4_shac", "--steps", "20000", "--evaluations", "0", "--quiet"]
    flags = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    command = [sys.executable, "-m", "robomarl", *words, "--out", str(tmp_path / "run")]
    found = subprocess.run(command, env=flags, capture_output=True, text=True, timeout=540)
    assert found.returncode == 0, found.stderr[-500:]
    assert (tmp_path / "run" / "checkpoint.npz").is_file()


@pytest.mark.slow
def test_the_actor_waits_and_goes_up_the_return() -> None:
    """In the first update only the critic moves; after 40 more the same starts earn more than they did before."""
    env, (teams, horizon) = make_env(load_scenario("swap_4")), (16, 16)
    few = {"num_envs": teams, "minibatches": 2, "unroll": horizon}
    config = dataclasses.replace(SMALL, **few, critic_first=1.5 * teams * horizon * 4)
    update, state = jax.jit(shac.make_update(config, env)), first_state(config, env)
    first, _ = update(state)
    for part, same in (("actor", True), ("critic", False)):
        pairs = zip(jax.tree.leaves(state.params[part]), jax.tree.leaves(first.params[part]), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs) == same
    last = first
    for _ in range(40):
        last, _ = update(last)
    networks = networks_of(config, env)

    @jax.jit
    def earned(params: dict) -> jax.Array:
        taken = state._replace(params=params, obs_stats=last.obs_stats)
        return collect_rollout(config, env, networks, taken)[1].reward.mean()

    assert earned(last.params) > earned(state.params)
