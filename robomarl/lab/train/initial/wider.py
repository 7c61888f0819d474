"""A policy that goes on with a wider network than it had: at first its function does not change.

Net2Net (Chen et al., ICLR 2016), with nothing copied twice: new units are as in an untrained
network, and their outputs have weight zero at the units that were there before. These weights learn
from the first gradient step on, because the new outputs are not zero.
"""

from collections.abc import Mapping
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.spec import ObservationSpec
from robomarl.lab.sim.agents import AgentsEnv
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.initial.first_layers import CRITIC, actor_layers, actor_root
from robomarl.lab.train.networks import make_networks

GATES = 3
"""Blocks of a recurrent unit's outputs: reset, keep, fresh."""
WIDENED = ("mappo", "ippo", "shac")
"""Algorithms with networks of dense layers, attention and a recurrent unit, and no more."""

Weights = Mapping[str, np.ndarray]


def widened(weights: Weights, had: ObservationSpec, config: TrainConfig, env: AgentsEnv) -> Weights:
    """Return weights for the network of a run, from those of a policy with a narrower network that sees
    `had`.

    A graph encoder, which divides its units among its heads, and layers that are not wider stay
    unchanged.

    Args:
        weights: by name, as `weights_of`.
        had: observation of the policy.
        config: recipe of the run.
        env: environment of the run.
    """
    if config.algorithm not in WIDENED or config.network.encoder == "graph" or not is_wider(config.network, weights):
        return weights
    fresh = untrained(weights, had, config, env)
    rows = rows_by_name(config.network, had, fresh), rows_by_name(config.network, had, weights)
    return {name: grown(name, old, fresh.get(name), rows) for name, old in weights.items()}


def is_wider(network: NetworkConfig, weights: Weights) -> bool:
    """Return True if any layer of the network has more units than these weights."""
    root = actor_root(network)
    widths = {f"{root}['EntityAttention_0']['Dense_0']['bias']": network.actor_hidden[0]}
    widths |= {f"{root}['Gru_0']['bias']": network.gru_size}
    widths |= {f"{root}['MLP_0']['Dense_{i}']['bias']": width for i, width in enumerate(network.actor_hidden)}
    widths |= {f"{CRITIC}['Dense_{i}']['bias']": width for i, width in enumerate(network.critic_hidden)}
    return any(weights[name].shape[-1] < width for name, width in widths.items() if name in weights)


def untrained(weights: Weights, had: ObservationSpec, config: TrainConfig, env: AgentsEnv) -> dict[str, np.ndarray]:
    """Return untrained parameters of the run's network, for the inputs of the policy `had` and of its critic."""
    networks = make_networks(config.network, had, env.action_size, env.scenario.count)
    k_actor, k_critic = jax.random.split(jax.random.key(0))
    known = weights.get(f"{CRITIC}['Dense_0']['kernel']")
    parts = {"actor": networks.actor.init(k_actor, networks.init_carry(()), jnp.zeros(had.size))}
    if known is not None:
        parts["critic"] = networks.critic.init(k_critic, jnp.zeros(known.shape[0]))
    leaves = jax.tree_util.tree_flatten_with_path({"params": parts})[0]
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def rows_by_name(network: NetworkConfig, had: ObservationSpec, weights: Weights) -> dict[str, list[str]]:
    """Names of the rows of the layer behind an attention encoder, where summaries lie side by side; else nothing."""
    root = actor_root(network)
    first = weights.get(f"{root}['EntityAttention_0']['Dense_0']['bias']")
    if first is None:
        return {}
    own = replace(network, actor_hidden=(first.shape[-1], *network.actor_hidden[1:]))
    return {f"{root}{layer}['kernel']": names for layer, names in actor_layers(own, had).items()}


def grown(name: str, old: np.ndarray, new: np.ndarray | None, rows: tuple[dict, dict]) -> np.ndarray:
    """One array, [..., in, out] or [..., out], in the shape of the wider network's; `rows`: names there and before."""
    if new is None or new.shape == old.shape or new.ndim != old.ndim or np.less(new.shape, old.shape).any():
        return old
    gates = GATES if "['Gru_0']" in name and not name.endswith("['Gru_0']['bias']") else 1
    width = old.shape[-1] // gates
    to = np.concatenate([gate * new.shape[-1] // gates + np.arange(width) for gate in range(gates)])
    found = new.copy()
    found[..., to] = 0.0
    if name.endswith("['bias']"):
        found[..., to] = old
        return found
    after, before = (part.get(name) for part in rows)
    at = np.asarray([after.index(row) for row in before] if after and before else range(old.shape[-2]))
    found[..., at[:, None], to] = old
    return found
