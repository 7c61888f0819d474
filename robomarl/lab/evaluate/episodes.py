"""Episodes side by side: a pilot moves all robots, and the team's `EpisodeScore` counts the results.

Policies and filters are called once per decision for all episodes of a batch. Starts, weather and
noise depend on the seed alone, so two policies, two filters or two engines meet identical episodes.
"""

import math
import time
from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from tqdm import tqdm

from robomarl.core.view import LocalView, Plan
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.trees import Tree

W = TypeVar("W")
R = TypeVar("R")
C = TypeVar("C")
"""Counts of E episodes, a NamedTuple of arrays [E, ...] and of such tuples."""


class Moves(Protocol):
    """Interface of the pilot of all robots: a `robomarl.core.bundle.pilot.Pilot`, or one for each side of a game."""

    def init(self, view: LocalView) -> Tree:
        """Memory before the first decision."""
        ...

    def step(self, carry: Tree, view: LocalView) -> tuple[Tree, Tree]:
        """Make one decision: return the next memory, and a result that holds the `command` to send."""
        ...

    def plan(self, carry: Tree) -> Plan | None:
        """Return the plan to which the filters committed at the decision that returned this memory."""
        ...


class Step(NamedTuple, Generic[W, R]):
    """One decision of E episodes."""

    before: W
    after: W
    """The world."""
    result: R
    """Result of the decision, as returned by `Moves.step`."""
    contact: np.ndarray
    """[E] bool: the engine's own contact reading."""


class EpisodeScore(ABC, Generic[C]):
    """Counts of the episodes of one kind of team."""

    side_by_side = 256
    """Episodes at most."""

    @abstractmethod
    def start(self, num: int) -> C:
        """Return all counts of `num` episodes before their first decision."""

    @abstractmethod
    def running(self, counts: C) -> np.ndarray:
        """[E] bool: not over yet."""

    @abstractmethod
    def count(self, counts: C, step: Step) -> C:
        """Add one decision of the episodes that are still running."""

    @abstractmethod
    def row(self, step: Step, index: int) -> object:
        """Return the log entry of one decision of one episode."""

    def watched(self, counts: C) -> np.ndarray:
        """Return [E] bool: True for episodes to watch longer, even if over; watching changes no other count."""
        return np.zeros(len(self.running(counts)), bool)

    def count_watched(self, counts: C, step: Step) -> C:
        """Add one decision of those."""
        return counts


def batch_size(episodes: int, most: int = EpisodeScore.side_by_side) -> int:
    """Episodes side by side, so that all batches are alike."""
    return math.ceil(episodes / math.ceil(episodes / most))


class EpisodeRunner(Generic[C]):
    """Runs batch after batch and keeps the record of one episode."""

    def __init__(self, pilot: Moves, sim: BatchSim, score: EpisodeScore[C], record: int | None = None) -> None:
        """Nothing moves before `run`; `record` is the index of the episode that is kept."""
        self._pilot, self._sim, self._score, self._record = pilot, sim, score, record
        self._begun, self._seconds, self._wall_s = 0, 0.0, 0.0
        self.rows: list[object] = []
        """Log entries of the recorded episode, as returned by `EpisodeScore.row`."""

    @property
    def realtime_factor(self) -> float:
        """Simulated over elapsed seconds, all episodes summed, the first decision (compilation) left out."""
        return self._seconds / self._wall_s if self._wall_s else 0.0

    @property
    def seconds(self) -> float:
        """Simulated time, all episodes summed, the first decision left out [s]."""
        return self._seconds

    def run(self, episodes: int, title: str, progress: bool = True) -> C:
        """Run `episodes` episodes and return their counts."""
        batches, steps = math.ceil(episodes / self._sim.whole), self._sim.scenario.max_steps
        hidden = None if progress else True
        with tqdm(total=batches * steps, unit="step", desc=title, leave=False, disable=hidden) as bar:
            return join([self.batch(bar) for _ in range(batches)], episodes)

    def batch(self, bar: tqdm) -> C:
        """One batch, until every episode is over and was watched."""
        sim, score, steps = self._sim, self._score, self._sim.scenario.max_steps
        sim.reset()
        carry, counts = self._pilot.init(sim.views()), score.start(sim.num_envs)
        flown, started_s = 0, time.perf_counter()
        for number in range(steps):
            if number == 1:
                started_s = time.perf_counter()
            on = score.running(counts)
            if not on.any():
                sim.skip(steps - number)  # so that the next batch does not depend on this one
                bar.update(steps - number)
                break
            carry, step = self._decide(carry)
            self._keep(step, on)
            counts = score.count(counts, step)
            flown += on.sum() if number else 0
            bar.update()
        self._wall_s += time.perf_counter() - started_s
        self._seconds += float(flown) * sim.scenario.period_s
        self._begun += sim.whole
        with sim.aside():
            while score.watched(counts).any():
                carry, step = self._decide(carry)
                counts = score.count_watched(counts, step)
        return join([counts], min(sim.whole, sim.num_envs))

    def part(self, first: int, whole: int, batch: int) -> C:
        """Counts of E episodes of a batch; see `BatchSim.take`."""
        self._sim.take(first, whole, batch)
        self._begun, self._seconds, self._wall_s, self.rows = batch * whole + first, 0.0, 0.0, []
        return self.batch(tqdm(disable=True))

    def _decide(self, carry: Tree) -> tuple[Tree, Step]:
        """One decision of all robots."""
        sim, pilot = self._sim, self._pilot
        before = sim.world
        carry, result = pilot.step(carry, sim.views())
        after = sim.step(result.command, pilot.plan(carry))
        return carry, Step(before, after, result, getattr(sim, "contact", np.zeros(sim.num_envs, bool)))

    def _keep(self, step: Step, on: np.ndarray) -> None:
        index = -1 if self._record is None else self._record - self._begun
        if 0 <= index < len(on) and on[index]:
            self.rows.append(self._score.row(step, index))


def join(parts: list[Tree], episodes: int) -> Tree:
    """Join the counts of several batches, cut to `episodes` episodes."""
    if not hasattr(parts[0], "_fields"):
        return np.concatenate(parts)[:episodes]
    return type(parts[0])(*(join(list(column), episodes) for column in zip(*parts, strict=True)))
