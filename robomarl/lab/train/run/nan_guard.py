"""Response to a number that stops being finite: training ends, and the inputs that made it are kept.

The update is run again from the state before it, piece by piece, until the first piece that is not
finite.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train import mappo
from robomarl.lab.train.algorithm import learner
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.recipe_networks import networks_of
from robomarl.lab.train.rollout import collect_rollout, noise_floor
from robomarl.lab.train.run.storage import save_arrays, save_state
from robomarl.lab.train.state import TrainState
from robomarl.lab.trees import Tree

FOLDER, BEFORE, INPUTS = "nan", "before.npz", "inputs.npz"
"""Folder in the run folder, and its files: the state before the update, and rollout and samples of the update."""


def bad_metrics(row: dict[str, float]) -> list[str]:
    """Names of the metrics that are not finite."""
    return [name for name, value in row.items() if not np.isfinite(value)]


def stop_at_nan(config: TrainConfig, env: AgentsEnv, before: TrainState, row: dict[str, float], folder: Path) -> None:
    """Keep the inputs that made the metrics of `row` NaN or infinite in `folder`/nan, and stop.

    Args:
        config: the recipe.
        env: the training environment.
        before: the state before the update.
        row: the update's metrics.
        folder: the run folder.

    Raises:
        UserError: always; names the metric, and the first term that was not finite.
    """
    pieces = run_again(config, env, before)
    term = next((name for name, value in pieces.items() if not np.isfinite(value).all()), "the gradient steps")
    metric = bad_metrics(row)[0]
    (folder / FOLDER).mkdir(exist_ok=True)
    save_state(folder / FOLDER / BEFORE, before)
    save_arrays(folder / FOLDER / INPUTS, {**pieces, "term": np.array(term)})
    raise UserError(
        f"{folder}: {metric} became {row[metric]} in update {row.get('update', 0):.0f}, first in {term}; the inputs "
        f"are in {FOLDER}/, the last good state is checkpoint.npz, try a smaller learning_rate or mend that term."
    )


def run_again(config: TrainConfig, env: AgentsEnv, before: TrainState) -> dict[str, np.ndarray]:
    """The pieces of `again`, in their order, which a dictionary loses on its way through `jax.jit`."""
    names: list[str] = []

    def run(state: TrainState) -> list[jax.Array]:
        pieces = again(config, env, state)
        names[:] = pieces
        return list(pieces.values())

    values = jax.device_get(jax.jit(run)(before))
    return dict(zip(names, map(np.asarray, values), strict=True))


def again(config: TrainConfig, env: AgentsEnv, state: TrainState) -> dict[str, jax.Array]:
    """One update up to its loss, or of SHAC up to its rollout: everything by name, in the order in which it
    comes to be."""
    networks = networks_of(config, env)
    params = state.params
    state, rollout = collect_rollout(config, env, networks, state)
    state = mappo.update_statistics(state, rollout)
    rewards = {name: value for name, value in rollout.metrics.items() if name.startswith("reward/")}
    parts: list[tuple[str, Tree]] = [
        ("parameters", params),
        ("rollout.carry", rollout.carry),
        *((f"rollout.{name}", getattr(rollout, name)) for name in ("obs", "seen", "raw_action", "log_prob")),
        *rewards.items(),
        *((f"rollout.{name}", getattr(rollout, name)) for name in ("reward", "done")),
    ]
    if learner(config) is mappo:
        batch, state, _ = mappo.prepare_batch(config, networks, state, rollout, env.decision_s)
        total, terms = mappo.mappo_loss(params, config, networks, batch, noise_floor(config, state.steps))
        names = ("obs", "seen", "target", "advantage")
        parts += [*((f"batch.{n}", getattr(batch, n)) for n in names), *terms.items(), ("loss", total)]
    return {name: leaf for part, tree in parts for name, leaf in _named(part, tree)}


def _named(part: str, tree: Tree) -> list[tuple[str, jax.Array]]:
    """Leaves of a tree by name."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(part + jax.tree_util.keystr(path), jnp.asarray(leaf)) for path, leaf in leaves]
