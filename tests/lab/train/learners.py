"""Parts of a run that the tests of ways to learn share."""

from typing import Any

import jax
import jax.numpy as jnp
from brax.training.acme import running_statistics as stats
from brax.training.acme import specs

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.algorithm import init_state
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.state import TrainState


def first_state(config: TrainConfig, env: AgentsEnv, seed: int = 0) -> TrainState:
    """The state before the first update as one program: some hundred small ones take longer to compile."""
    return jax.jit(lambda key: init_state(config, env, key))(jax.random.key(seed))


def blank_state(params: dict[str, Any], seen: int) -> TrainState:
    """A state of these parameters with statistics that change nothing, for a critic's input so long; no environment."""
    one, many = (stats.init_state(specs.Array(shape, jnp.dtype("float32"))) for shape in ((), (seen,)))
    nothing: Any = ()
    zero = jnp.zeros(())
    return TrainState(
        params, {}, zero, many, (zero, zero), many, one, nothing, (), jax.random.key(0), zero, jnp.zeros(0), zero
    )
