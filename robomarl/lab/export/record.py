"""Golden sequences: flights of a run's teams in its training environments."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from robomarl.core.bundle.contract import Seen
from robomarl.core.spec import ObservationSpec
from robomarl.core.view import LocalView
from robomarl.lab.export.facts import Facts
from robomarl.lab.sim.agents import AgentsEnv, State
from robomarl.lab.trees import Tree

SEQUENCES, STEPS = 2, 75
"""Number of sequences recorded in each environment, and decisions of each sequence; equal for equal runs."""


class Recorded(NamedTuple):
    """[S, T, N, ...] each."""

    views: LocalView
    obs: np.ndarray
    action: np.ndarray


def record(facts: Facts) -> Recorded:
    """Fly the whole team in every training environment, randomization on, each sequence from a fresh reset."""
    return together([_recorded(facts, *place) for place in zip(facts.envs, facts.observations, strict=True)])


def together(parts: Sequence[Recorded]) -> Recorded:
    """Sequences of several environments: as many robots of each as the smallest team has, and rows for all others.

    Rows that a smaller team has no use for are masked: they are 0.
    """
    robots = min(part.obs.shape[2] for part in parts)

    def join(*leaves: np.ndarray) -> np.ndarray:
        cut = [leaf[:, :, :robots] for leaf in leaves]
        shape = np.max([leaf.shape[3:] for leaf in cut], 0).astype(int)
        room = [[(0, 0)] * 3 + [(0, n - have) for n, have in zip(shape, leaf.shape[3:], strict=True)] for leaf in cut]
        return np.concatenate([np.pad(leaf, pad) for leaf, pad in zip(cut, room, strict=True)])

    return jax.tree.map(join, *parts)


def _recorded(facts: Facts, env: AgentsEnv, seen: ObservationSpec) -> Recorded:
    policy, shapes = facts.run.policy_fn, facts.memory

    def decide(now: tuple, _: None) -> tuple[tuple, tuple]:
        state, memory, carry = now
        views = env.views(_world(state))
        memory, obs = seen.observe(memory, views)
        carry, action = policy(carry, obs)
        return (env.step(state, action), memory, carry), (views, obs, action)

    def sequence(key: jax.Array) -> tuple:
        state = env.reset(key)
        views = env.views(_world(state))
        carry = tuple(jax.numpy.zeros((env.num_agents, *shape)) for shape in shapes.values())
        return jax.lax.scan(decide, (state, seen.init(views), carry), None, length=STEPS)[1]

    with jax.default_matmul_precision("highest"):
        result = jax.jit(jax.vmap(sequence))(jax.random.split(jax.random.key(0), SEQUENCES))
    return Recorded(*jax.tree.map(np.asarray, result))


def _world(state: State) -> Tree:
    return state.pipeline_state.world  # type: ignore[union-attr]


def actions_seen(action: np.ndarray) -> tuple[Seen, ...]:
    """Return least, largest, mean and standard deviation of every element of recorded actions [..., A]."""
    flat = action.reshape(-1, action.shape[-1]).astype(np.float64)
    stats = zip(flat.min(0), flat.max(0), flat.mean(0), flat.std(0), strict=True)
    return tuple(Seen(*map(float, row)) for row in stats)
