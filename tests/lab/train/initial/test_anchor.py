"""Leaving the policy that a run began from costs what the mathematics says; without that cost nothing is remembered."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import make_update
from robomarl.lab.train.config import NetworkConfig, NoiseConfig, TrainConfig
from robomarl.lab.train.distribution import distribution
from robomarl.lab.train.initial.anchor import stay_loss
from tests.lab.train.learners import first_state

TINY = TrainConfig(num_envs=4, unroll=4, epochs=2, minibatches=2, network=NetworkConfig((8,), (8,)))


def test_the_divergence_is_that_of_two_gaussians() -> None:
    """Mean 0.3 and deviation 0.5 against 0 and 0.25: by hand, and by many samples."""
    noise, floor = NoiseConfig(start_std=1.0), jnp.asarray(0.01)
    new = distribution(jnp.array([0.3, jnp.log(0.5)]), noise, floor)
    old = distribution(jnp.array([0.0, jnp.log(0.25)]), noise, floor)
    by_hand = np.log(0.25 / 0.5) + (0.5**2 + 0.3**2) / (2 * 0.25**2) - 0.5
    assert stay_loss(new, old) == pytest.approx(by_hand, rel=1e-5)
    assert stay_loss(old, old) == pytest.approx(0.0, abs=1e-6)
    drawn = 0.3 + 0.5 * jax.random.normal(jax.random.key(0), (200_000, 1))
    assert (new.log_prob(drawn) - old.log_prob(drawn)).mean() == pytest.approx(by_hand, rel=0.02)


def test_a_run_with_the_cost_stays_nearer_to_where_it_began() -> None:
    env = make_env(load_scenario("swap_4"), weights={})
    moved = []
    for config in (TINY, dataclasses.replace(TINY, stay_cost=100.0)):
        state = first = first_state(config, env)
        update = jax.jit(make_update(config, env))
        for _ in range(3):
            state, metrics = update(state)
        assert bool(state.anchor) == bool(config.stay_cost)
        assert ("loss/stay" in metrics) == bool(config.stay_cost)
        gone = jax.tree.map(lambda a, b: jnp.abs(a - b).sum(), state.params["actor"], first.params["actor"])
        moved.append(sum(float(g) for g in jax.tree.leaves(gone)))
        for a, b in zip(jax.tree.leaves(state.anchor), jax.tree.leaves(first.params["actor"]), strict=False):
            assert np.array_equal(a, b)
    assert moved[1] < 0.7 * moved[0]


def test_other_algorithms_have_no_such_cost() -> None:
    with pytest.raises(ValueError, match="^stay_cost is for mappo and ippo, not for"):
        TrainConfig(algorithm="shac", stay_cost=1.0)
