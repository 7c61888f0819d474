"""Learned arrays by name, and a fresh state that goes on from these."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.train.polyak import deployed
from robomarl.lab.train.self_play.league import as_team, copies
from robomarl.lab.train.state import TrainState
from robomarl.lab.trees import Tree


def weights_of(state: TrainState) -> dict[str, np.ndarray]:
    """Return parameters and statistics of a state as named arrays; leaves that are only shapes (`learned`) are left
    out.
    """
    leaves = jax.tree_util.tree_flatten_with_path(_learned(state))[0]
    there = ((path, leaf) for path, leaf in leaves if not isinstance(leaf, jax.ShapeDtypeStruct))
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in there}


def with_weights(state: TrainState, weights: Mapping[str, np.ndarray], source: str) -> TrainState:
    """Return a fresh state with the parameters and statistics of another run, which errors call `source`.

    Its optimizer starts anew, and the statistics of the actor's input stay (`goes_on`). The actor must
    fit. A critic of another team size does not, and is learned anew. Games that take turns get these
    weights too.

    Raises:
        UserError: the actor's weights are those of another network or observation; names the first that
            is off.
    """
    leaves, tree = jax.tree_util.tree_flatten_with_path(_learned(state))
    chosen = {}
    for path, leaf in leaves:
        name = jax.tree_util.keystr(path)
        fits = name in weights and weights[name].shape == np.shape(leaf)
        if not fits and ("actor" in name or "obs_" in name):
            found = f"shape {weights[name].shape}" if name in weights else "nothing"
            raise UserError(
                f"{source}: {name} should have shape {np.shape(leaf)}, it has {found}; train with the same network "
                "and observation."
            )
        chosen[name] = jnp.asarray(weights[name]) if fits else None
    same_critic = all(value is not None for value in chosen.values())
    kept = [
        leaf if chosen[n] is None or ("critic" in n and not same_critic) else chosen[n]
        for n, leaf in ((jax.tree_util.keystr(path), leaf) for path, leaf in leaves)
    ]
    others = tuple(with_weights(other, weights, source) for other in state.others)
    state = state._replace(**jax.tree.unflatten(tree, kept), others=others, goes_on=jnp.ones((), bool))
    actor = state.params["actor"]
    kept = {name: actor for name in ("averaged", "anchor") if getattr(state, name)}
    return with_pool(state._replace(**kept))


def learned(start: Callable[[jax.Array], TrainState], weights: Mapping[str, np.ndarray], source: str) -> TrainState:
    """Return the state that `start` makes of a key, with the learned parts of another run; all other
    leaves are shapes.

    Nothing is compiled for it. Raises as `with_weights`.
    """
    return with_weights(jax.eval_shape(start, jax.random.key(0)), weights, source)


def with_pool(state: TrainState) -> TrainState:
    """Return the state; in games its first snapshot becomes the team from which the run goes on, instead of an
    untrained one.
    """
    if not state.league:
        return state
    pool = copies(as_team(state.params["actor"], state.obs_stats), len(state.league.games))
    return state._replace(league=state.league._replace(pool=pool))


def _learned(state: TrainState) -> dict[str, Tree]:
    names = ("obs_stats", "obs_range", "critic_stats", "value_stats")
    params = {**state.params, "actor": deployed(state)}
    return {"params": params, **{name: getattr(state, name) for name in names}}
