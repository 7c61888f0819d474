"""What a run starts from: its own checkpoints, the weights of other runs, or nothing."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.train.algorithm import init_state
from robomarl.train.config import TrainConfig
from robomarl.train.initial.new_inputs import read_fitting, with_scales
from robomarl.train.run.average_runs import mean_of
from robomarl.train.run.storage import load_checkpoints
from robomarl.train.run.weights import learned, with_weights
from robomarl.train.sequences.holding import repeated
from robomarl.train.state import TrainState

if TYPE_CHECKING:
    from robomarl.train.run.runner import RunOptions


def initial_weights(config: TrainConfig, env: Any, options: "RunOptions") -> list[Mapping[str, np.ndarray]]:
    """What the run of each seed starts from, of `--init`; empty without it.

    Raises:
        UserError: neither a run folder nor a bundle, or its network is another, or it sees what this run does not show.
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
    config: TrainConfig, env: Any, options: "RunOptions", weights: Sequence[Mapping[str, np.ndarray]]
) -> TrainState:
    """The state that the run starts from, of all seeds at once (leading axis) where there are several."""
    saved = load_checkpoints(list(options.folders.values()), config, env) if options.resume else None
    if saved:
        return jax.device_put(saved[0] if len(saved) == 1 else jax.tree.map(lambda *x: jnp.stack(x), *saved))
    if weights:
        start, keys = partial(init_state, config, env), [jax.random.key(seed) for seed in options.folders]
        pairs, source = zip(keys, weights, strict=True), f"--init {' '.join(options.init)}"
        states = [with_scales(config, env, with_weights(jax.jit(start)(key), own, source)) for key, own in pairs]
        return states[0] if len(states) == 1 else jax.tree.map(lambda *x: jnp.stack(x), *states)
    make, key = _from_nothing(config, env, options)
    return jax.jit(make)(key)


def abstract_state(config: TrainConfig, env: Any, options: "RunOptions") -> TrainState:
    """Shapes and types of `first_state`, before there is one."""
    make, key = _from_nothing(config, env, options)
    return jax.eval_shape(make, key)


def _from_nothing(
    config: TrainConfig, env: Any, options: "RunOptions"
) -> tuple[Callable[[jax.Array], TrainState], jax.Array]:
    """What makes the state of all seeds at once, and of what key or keys."""
    start, keys = partial(init_state, config, env), [jax.random.key(seed) for seed in options.folders]
    return (start, keys[0]) if len(keys) == 1 else (jax.vmap(start), jnp.stack(keys))
