"""Start of a run: its own checkpoints, the weights of other runs, or nothing."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.sim.engines.compiler import compiled_once
from robomarl.lab.train.algorithm import init_state
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.initial.average_runs import mean_of
from robomarl.lab.train.initial.new_inputs import read_fitting, with_scales
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.storage import load_checkpoints
from robomarl.lab.train.run.weights import learned, with_weights
from robomarl.lab.train.sequences.holding import repeated
from robomarl.lab.train.state import TrainState


def initial_weights(config: TrainConfig, env: AgentsEnv, options: RunOptions) -> list[Mapping[str, np.ndarray]]:
    """Return the weights from which the run of each seed starts, by `--init`; empty without it.

    Raises:
        UserError: a source is neither a run folder nor a bundle, has another network, or sees inputs
            that this run does not show.
    """
    if not options.init:
        return []
    found = []
    for seed in options.folders:
        sources = [of_seed(source, seed) for source in options.init]
        rows = [repeated(read_fitting(source, config, env, f"--init {source}"), config, env) for source in sources]
        for source, weights in zip(sources, rows, strict=True):
            learned(partial(init_state, config, env), weights, f"--init {source}")
        found.append(mean_of(rows) if len(rows) > 1 else rows[0])
    return found


def of_seed(source: str, seed: int) -> str:
    """The run folder of this seed, where the source is a folder with those of several."""
    own = Path(source) / f"seed_{seed}"
    return str(own) if own.is_dir() else source


def first_state(
    config: TrainConfig,
    env: AgentsEnv,
    options: RunOptions,
    weights: Sequence[Mapping[str, np.ndarray]],
    from_nothing: Callable[[jax.Array], TrainState],
) -> TrainState:
    """Return the state from which the run starts, of all seeds at once (leading axis) if there are
    several.
    """
    saved = load_checkpoints(list(options.folders.values()), config, env) if options.resume else None
    if saved:
        return jax.device_put(saved[0] if len(saved) == 1 else jax.tree.map(lambda *x: jnp.stack(x), *saved))
    if weights:
        keys = [jax.random.key(seed) for seed in options.folders]
        start = compiled_once(jax.jit(partial(init_state, config, env)).lower(keys[0]))
        pairs, source = zip(keys, weights, strict=True), f"--init {' '.join(options.init)}"
        states = [with_scales(config, env, with_weights(start(key), own, source)) for key, own in pairs]
        return states[0] if len(states) == 1 else jax.tree.map(lambda *x: jnp.stack(x), *states)
    return from_nothing(seed_keys(options))


class FromNothing:
    """The program that makes the state of all seeds from nothing, of `seed_keys`; traced when asked for."""

    def __init__(self, config: TrainConfig, env: AgentsEnv, options: RunOptions) -> None:
        """Compile nothing yet."""
        self._config, self._env, self._options = config, env, options

    @cached_property
    def traced(self) -> jax.stages.Traced:
        """Return it traced; `out_info` has shapes and types of the state."""
        start = partial(init_state, self._config, self._env)
        return jax.jit(start if self._options.seeds == 1 else jax.vmap(start)).trace(seed_keys(self._options))

    @cached_property
    def _compiled(self) -> jax.stages.Compiled:
        return compiled_once(self.traced.lower())

    def __call__(self, keys: jax.Array) -> TrainState:
        """Return the state of all seeds, of their keys."""
        return self._compiled(keys)


def seed_keys(options: RunOptions) -> jax.Array:
    """The key of the seed, or those of several (leading axis)."""
    keys = [jax.random.key(seed) for seed in options.folders]
    return keys[0] if len(keys) == 1 else jnp.stack(keys)
