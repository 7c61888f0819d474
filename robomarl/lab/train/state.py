"""Data of a training run: the state, a rollout, the samples of a gradient step.

Letters in shapes: T decisions of a rollout, B environments, N robots, O observation, P privileged
state, A action.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from brax.envs.base import State
from brax.training.acme import running_statistics as stats

from robomarl.core.types import Array
from robomarl.lab.train.devices.across import ALONE, Devices
from robomarl.lab.trees import Params, PartMoments, Parts, Tree

Metrics = dict[str, jax.Array]
Played = TypeVar("Played")
"""The rollout that an algorithm learns from."""


class TrainState(NamedTuple):
    """State that a run carries from one update to the next; saved whole, so that a resumed run does not differ."""

    params: Parts
    """`actor` and `critic`."""
    optimizer: PartMoments
    """Adam's moments of `actor` and `critic`."""
    learning_rate: jax.Array
    obs_stats: stats.RunningStatisticsState
    """Statistics of the actor's input."""
    obs_range: tuple[jax.Array, jax.Array]
    """[O] least and largest value of the actor's input so far."""
    critic_stats: stats.RunningStatisticsState
    """Statistics of the critic's input."""
    value_stats: stats.RunningStatisticsState
    """Statistics of the returns: the critic predicts normalized values."""
    env: State
    """[..., B] environments, with the batch axis last; for games [B, ...]."""
    carry: tuple[jax.Array, ...]
    """[B, N, ...] the actor's recurrent state; empty for feed-forward."""
    key: jax.Array
    steps: jax.Array
    """Agent-steps so far."""
    level: jax.Array
    """[lessons] how far each lesson of the curriculum is, 0 to 1."""
    goes_on: jax.Array
    """[] bool: the run began from a policy, and leaves the statistics of its input as they are."""
    league: Tree = ()
    """Games: the opponents; see `robomarl.lab.train.self_play.league`."""
    averaged: Params = ()
    """Mean of the actor's parameters over the last updates; empty where the recipe asks for none."""
    anchor: Params = ()
    """The actor's parameters that the run began from; empty where leaving them costs nothing."""
    others: "tuple[TrainState, ...]" = ()
    """States of the games that take turns with this one; see `robomarl.lab.train.self_play.multi_scenario`."""


Update = Callable[[TrainState], tuple[TrainState, Metrics]]
"""One rollout and the gradient steps on it."""


@dataclass(frozen=True)
class PlayAndLearn(Generic[Played]):
    """An update in parts that can be programs of their own, which a compiler works on side by side."""

    starts: Callable[[TrainState], State]
    """[..., B] where episodes begin that others end in the rollout."""
    play: Callable[[TrainState, State], tuple[TrainState, Played]]
    """The rollout."""
    learn: Callable[[TrainState, Played], tuple[TrainState, Metrics]]
    """The gradient steps on it."""

    def __call__(self, state: TrainState) -> tuple[TrainState, Metrics]:
        """Run one part after another."""
        return self.learn(*self.play(state, self.starts(state)))


class Rollout(NamedTuple):
    """Result of one rollout."""

    carry: tuple[jax.Array, ...]
    """[B, N, ...] the actor's recurrent state where the rollout began."""
    obs: jax.Array
    """[T, B, N, O]"""
    seen: jax.Array
    """[T+1, B, N, P] critic's input; the last row is where the rollout ended."""
    raw_action: jax.Array
    """[T, B, N, A] before the squash"""
    log_prob: jax.Array
    """[T, B, N]"""
    reward: jax.Array
    """[T, B, N]"""
    done: jax.Array
    """[T, B]"""
    cut: jax.Array
    """[T, B] 1 where an episode ended by time only"""
    metrics: Metrics
    """[T, B] each"""


class ChoiceRollout(NamedTuple):
    """Result of a rollout of discrete actions: K choices, each for `every` decisions, T in all."""

    memory: tuple[jax.Array, ...]
    """[B, N, ...] the recurrent state where the rollout began; () without"""
    obs: jax.Array
    """[K, B, N, O] where they were made"""
    choice: jax.Array
    """[K, B, N] int"""
    gain: jax.Array
    """[K, B, N] rewards until the next one, discounted"""
    ended: jax.Array
    """[K, B] 1 where the episode ended before the next one"""
    last: jax.Array
    """[B, N, O] where the rollout ended"""
    reward: jax.Array
    """[T, B, N]"""
    done: jax.Array
    """[T, B]"""
    metrics: Metrics
    """[T, B] each"""


class Batch(NamedTuple):
    """Samples for the gradient steps, environments first."""

    carry: tuple[jax.Array, ...]
    """[B, N, ...] the actor's recurrent state where the rollout began."""
    done: jax.Array
    """[B, T]"""
    obs: jax.Array
    """[B, T, N, O] normalized"""
    seen: jax.Array
    """[B, T, N, P] normalized"""
    raw_action: jax.Array
    """[B, T, N, A]"""
    log_prob: jax.Array
    """[B, T, N]"""
    advantage: jax.Array
    """[B, T, N] normalized"""
    target: jax.Array
    """[B, T, N] normalized return"""
    wanted: Array = ()
    """[B, T, N, A] games: actions of the teacher, in [-1, 1]."""
    taught: Array = ()
    """[B] games: 1 while the teacher's actions are learned, else 0."""
    begun: Array = ()
    """[B, T, N, 2 A] output of the actor from which the run began; empty if leaving it costs nothing."""


def count_in(
    statistics: stats.RunningStatisticsState, batch: jax.Array, devices: Devices = ALONE
) -> stats.RunningStatisticsState:
    """Count a batch [..., *shape of the mean] into a running mean and standard deviation, that of all devices.

    The first batch counts from its own mean on. Started from zero, brax sums x * (x - mean), which
    single precision loses for values that hardly leave a number far from zero, such as an upright
    vehicle's attitude at first. A standard deviation that is too small turns these values into noise,
    ten times as large as anything else that the network sees.
    """
    mean: Array = statistics.mean
    count: Array = statistics.count
    begun = (count.hi > 0) | (count.lo > 0)
    first = jnp.where(begun, mean, devices.mean(batch.mean(tuple(range(batch.ndim - mean.ndim)))))
    return stats.update(statistics.replace(mean=first), batch, pmap_axis_name=devices.axis)  # type: ignore[attr-defined]
