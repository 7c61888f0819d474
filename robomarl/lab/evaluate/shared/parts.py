"""`fly`: the episodes of an evaluation in this process, or in parts shared among workers, with equal counts.

Each episode has the draws of its number in the whole batch, and the parts do not depend on the number of workers. A
part has a multiple of 8 episodes, and the batch of one process too: an engine that is compiled computes the rest of a
division by its vector registers with other instructions, which may round differently.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Generic, NamedTuple, TypeVar

from robomarl.lab.cluster.crew import Crew, crew
from robomarl.lab.evaluate.episodes import EpisodeRunner, EpisodeScore, Moves, batch_size, join
from robomarl.lab.sim.batch import BatchSim
from robomarl.lab.trees import Tree

C = TypeVar("C")
LANES, WHOLE, PART = 8, 16, 64
"""Divisor of the episodes of a part; most episodes that are not divided; most episodes of a part."""

Made = tuple[Moves, BatchSim, EpisodeScore[C]]
"""All that flies some episodes side by side: the pilot, the simulation and the score."""


@dataclass(frozen=True)
class EpisodeJob(Generic[C]):
    """Episodes to fly."""

    make: Callable[[int], Made[C]]
    """(episodes side by side) -> the objects that fly them; a worker receives the function by pickling."""
    episodes: int
    title: str
    """Title of the progress bar."""
    record: int | None = None
    """Number of the episode to record."""
    progress: bool = True
    """Show a progress bar on a terminal."""
    side_by_side: int = EpisodeScore.side_by_side
    """Most episodes of a batch."""

    @property
    def whole(self) -> int:
        """Episodes of a batch."""
        return batch_size(self.episodes, self.side_by_side)


class Flown(NamedTuple, Generic[C]):
    """Episodes that have been flown."""

    counts: C
    rows: list[object]
    """Log entries of the recorded episode."""
    realtime_factor: float
    """Simulated over elapsed seconds, all episodes summed; without a crew the first decision is left out."""


class EpisodePart(NamedTuple):
    """Some episodes of a batch."""

    batch: int
    first: int
    count: int


class PartFlown(NamedTuple, Generic[C]):
    """A part that has been flown."""

    counts: C
    rows: list[object]
    seconds: float
    """Simulated time, all episodes summed [s]."""


def fly(flights: EpisodeJob[C]) -> Flown[C]:
    """Fly the episodes, in this process or shared by the `crew`."""
    workers = crew()
    if workers:
        return _shared(flights, workers)
    runner = EpisodeRunner(*_taken(flights), flights.record)
    counts = runner.run(flights.episodes, flights.title, flights.progress)
    return Flown(counts, runner.rows, runner.realtime_factor)


def _taken(flights: EpisodeJob[C]) -> Made[C]:
    """All that flies a whole batch; as many more episodes are simulated as make a multiple of `LANES`."""
    pilot, sim, score = flights.make(_size(flights.whole, 1))
    sim.take(0, flights.whole)
    return pilot, sim, score


def _shared(flights: EpisodeJob[C], workers: Crew) -> Flown[C]:
    import cloudpickle  # pickles functions within functions as well

    started_s, parts = time.perf_counter(), parts_of(flights)
    work = partial(fly_part, cloudpickle.dumps(flights))
    flown = list(workers.map(work, parts, flights.title, flights.progress))
    wall_s = time.perf_counter() - started_s
    counts = join([one.counts for one in flown], flights.episodes)
    rows = [row for one in flown for row in one.rows]
    return Flown(counts, rows, sum(one.seconds for one in flown) / wall_s)


def parts_of(flights: EpisodeJob[C]) -> list[EpisodePart]:
    """All parts, in the order of their episodes; they are independent of the number of workers."""
    whole, batches = flights.whole, math.ceil(flights.episodes / flights.whole)
    size = _size(whole, math.ceil(whole / PART))
    firsts = range(0, whole, size)
    return [EpisodePart(batch, first, min(size, whole - first)) for batch in range(batches) for first in firsts]


def _size(whole: int, parts: int) -> int:
    """Episodes that are simulated side by side, where a batch is divided."""
    return whole if whole <= WHOLE else math.ceil(whole / parts / LANES) * LANES


def fly_part(pickled: bytes, part: EpisodePart) -> PartFlown[Tree]:
    """Fly a part in a worker.

    Args:
        pickled: the `EpisodeJob`.
        part: the part.
    """
    flights, runner = _begun(pickled)
    counts = runner.part(part.first, flights.whole, part.batch)
    begun = part.batch * flights.whole + part.first
    has_record = flights.record is not None and begun <= flights.record < begun + part.count
    return PartFlown(join([counts], part.count), runner.rows if has_record else [], runner.seconds)


@lru_cache(maxsize=1)
def _begun(pickled: bytes) -> tuple[EpisodeJob[Tree], EpisodeRunner[Tree]]:
    """State that a worker keeps from part to part, so that it compiles once."""
    import cloudpickle

    flights: EpisodeJob[Tree] = cloudpickle.loads(pickled)
    size = _size(flights.whole, math.ceil(flights.whole / PART))
    return flights, EpisodeRunner(*flights.make(size), flights.record)
