"""The programs of a run: an update in parts is the update as one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import init_state, make_update
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.initial.programs import compile_update
from robomarl.lab.train.state import PlayAndLearn, TrainState
from tests.lab.train.learners import first_state

CONFIG = TrainConfig(scenario="swap_4", num_envs=8, unroll=4, epochs=1, minibatches=2, average_over=5)
ENV = make_env(load_scenario("swap_4"))


def numbers(state: TrainState) -> list[np.ndarray]:
    """Parameters, their mean, and where the environments are."""
    world = state.env.pipeline_state.world  # type: ignore[union-attr]
    return [np.asarray(x) for x in jax.tree.leaves((state.params, state.averaged, state.steps, world))]


def test_an_update_in_parts_is_that_of_one_program() -> None:
    """Two seeds, each by itself: from the same state both end in the same one, but for rounding."""
    step, whole = make_update(CONFIG, ENV), jax.jit(make_update(CONFIG, ENV))
    assert isinstance(step, PlayAndLearn)
    states = [first_state(CONFIG, ENV, seed) for seed in (0, 1)]
    both = jax.tree.map(lambda *x: jnp.stack(x), *states)
    after, metrics = compile_update(step, both, 2)()(both)
    for i, state in enumerate(states):
        expected, wanted = whole(state)
        for mine, its in zip(numbers(after), numbers(expected), strict=True):
            np.testing.assert_allclose(mine[i], its, rtol=2e-4, atol=2e-5)
        assert float(metrics["reward"][i]) == pytest.approx(float(wanted["reward"]), rel=1e-4)


def test_an_update_that_has_no_parts_is_one_program() -> None:
    """Games and SHAC have one; shapes and types are enough to compile it."""
    shapes = jax.eval_shape(lambda key: init_state(CONFIG, ENV, key), jax.random.key(0))
    update = compile_update(lambda state: (state._replace(steps=state.steps + 1), {}), shapes, 1)()
    first = first_state(CONFIG, ENV)
    assert float(update(first)[0].steps) == float(first.steps) + 1
