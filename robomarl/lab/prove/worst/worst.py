"""`prove --worst`: structured attacks, then a search, at rising scales of all declared bounds.

The robustness factor of a vehicle file is the scale at which the first contact is found. It is a
figure of a campaign: a longer search may find a smaller factor.
"""

import dataclasses
import math
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

from robomarl.core.types import Figures
from robomarl.lab.cluster.crew import crew, each
from robomarl.lab.prove.ledger import Ledger
from robomarl.lab.prove.worst.directed import PAIRS
from robomarl.lab.prove.worst.errors import SETS
from robomarl.lab.prove.worst.figures import figures
from robomarl.lab.prove.worst.jobs import (
    Found,
    Hunt,
    Job,
    Kind,
    Start,
    episodes_of_stage,
    found_of,
    plain_of,
    run_job,
)
from robomarl.lab.prove.worst.teams import TEAMS

UP, DOWN = tuple(i / 10 for i in range(11, 21)), tuple(i / 10 for i in range(9, 0, -1))
SEARCH_SHARE = 0.3
WALL_SHARE = 0.2
"""Number of wall episodes, flown in addition, as a fraction of the episodes of two robots."""
ELSEWHERE = 0.1
"""Share of the budget that is flown at each other scale."""
LEAST = 2000
"""Episodes of two robots at another scale, if the budget has as many."""
ROBOTS = 4096
"""Approximate maximum number of robots in a batch."""
SEARCHES, STAGES = 24, 6
"""Searches side by side, and how long each goes on."""
PINNED_SHARE = 0.2
COUNTS, PINNED = (4, 5, 6, 7, 8), (2, 3)
"""Robots of teams, and of the smaller ones that are flown beside them."""

Tell = Callable[[int], object]
Run = Callable[[list[Job]], Iterable[list[Found]]]


def hunt_down(
    hunt: Hunt,
    workers: int = 1,
    progress: Tell | None = None,
    plan: Callable[[float, int], object] | None = None,
    ledger: Ledger | None = None,
) -> Figures:
    """Attack at one scale after another.

    Args:
        hunt: target and length of the attacks.
        workers: processes, where there is no crew; the figures don't depend on their number.
        progress: called with the number of additional episodes flown.
        plan: called with each scale and its number of episodes.
        ledger: record of earlier jobs; receives the jobs flown now.

    Returns:
        The figures, by the names of `robomarl prove --worst --json`.
    """
    found: dict[float, list[Found]] = {}
    with _runner(workers) as fly:
        run = fly if ledger is None else partial(_known_first, ledger, fly)
        for scale in _scales(hunt, found):
            budget = budget_at(hunt, scale)
            (plan or (lambda *_: None))(scale, episodes_in(budget))
            found[scale] = list(_attack(hunt, scale, budget, run, progress or (lambda _: None)))
    return figures(hunt, found)


def budget_at(hunt: Hunt, scale: float) -> tuple[int, int]:
    """Episodes of two robots and of teams at a scale."""
    if scale == 1.0:
        return hunt.episodes, hunt.team_episodes
    least = min(LEAST, hunt.episodes), min(100, hunt.team_episodes)
    return max(round(hunt.episodes * ELSEWHERE), least[0]), max(round(hunt.team_episodes * ELSEWHERE), least[1])


def episodes_in(budget: tuple[int, int]) -> int:
    """About how many episodes a budget makes, walls and small teams included."""
    return round(budget[0] * (1 + WALL_SHARE) + budget[1] * (1 + PINNED_SHARE))


def _scales(hunt: Hunt, found: dict[float, list[Found]]) -> Iterator[float]:
    """1, then up to the first contact, or down to the last; or as told."""
    if hunt.scales:
        yield from hunt.scales
        return
    yield 1.0
    touched = _touched(found[1.0])
    for scale in DOWN if touched else UP:
        yield scale
        if _touched(found[scale]) != touched:
            return


def _touched(found: Iterable[Found]) -> bool:
    return any(f.contacts for f in found)


def _attack(hunt: Hunt, scale: float, budget: tuple[int, int], run: Run, tell: Tell) -> Iterator[Found]:
    """Yield the results of the structured attacks, then of searches from the worst attacks."""
    first: list[Found] = []
    for found in run(structured(hunt, scale, budget)):
        tell(sum(f.episodes for f in found))
        first += found
    yield from first
    for found in run(searches(hunt, scale, budget, first)):
        tell(sum(f.episodes for f in found))
        yield from found


def structured(hunt: Hunt, scale: float, budget: tuple[int, int]) -> list[Job]:
    """Jobs of every family, as many of each."""
    pairs, teams = budget
    walls = round(pairs * WALL_SHARE)
    jobs = _spread(Job(hunt, scale, "pair", PAIRS, 0, 0), pairs - _planned(pairs, len(PAIRS)).episodes)
    jobs += _spread(Job(hunt, scale, "wall", tuple(SETS), 0, 0, 1), walls - _planned(walls, len(SETS)).episodes)
    # Sizes in turn.
    for counts, episodes in ((COUNTS, teams), (PINNED, round(PINNED_SHARE * teams))):
        for count in counts:
            jobs += _spread(Job(hunt, scale, "team", TEAMS, 0, 0, count), math.ceil(episodes / len(counts)))
    return jobs


class Planned(NamedTuple):
    """How much of a budget is searched."""

    width: int
    """Searches side by side."""
    stages: int

    @property
    def episodes(self) -> int:
        """That they take."""
        return self.stages * episodes_of_stage(self.width)


def _planned(episodes: int, families: int) -> Planned:
    share = SEARCH_SHARE * episodes
    width = min(SEARCHES, families, int(share // episodes_of_stage(1)))
    return Planned(width, int(share // episodes_of_stage(width)) if width else 0)


def _spread(job: Job, episodes: int) -> list[Job]:
    """Batches of all families until there are as many episodes."""
    if episodes < 1:
        return []
    families = len(job.families)
    batches = math.ceil(episodes * job.count / ROBOTS)
    each = math.ceil(episodes / batches / families)
    return [dataclasses.replace(job, number=i, episodes=each) for i in range(batches)]


def searches(hunt: Hunt, scale: float, budget: tuple[int, int], first: list[Found]) -> list[Job]:
    """Searches of pairs and at walls, from the worst that the structured attacks found."""
    jobs: list[Job] = []
    asked: tuple[tuple[Kind, int, Planned], ...] = (
        ("pair", 2, _planned(budget[0], len(PAIRS))),
        ("wall", 1, _planned(round(budget[0] * WALL_SHARE), len(SETS))),
    )
    for kind, count, (width, stages) in asked:
        starts = _diverse([f.start for f in first if f.kind == kind and f.start])
        # Each job goes on for some stages from attacks of its own.
        for number in range(math.ceil(stages / STAGES)):
            start = tuple(starts[(number * width + i) % len(starts)] for i in range(width))
            left = min(STAGES, stages - number * STAGES)
            jobs.append(Job(hunt, scale, kind, ("search",), number, 0, count, start, left))
    return jobs


def _diverse(starts: list[Start]) -> list[Start]:
    """The worst of every family, then the second of every family, and so on."""
    rank: dict[str, int] = {}
    ranked = []
    for start in sorted(starts, key=lambda s: s.clearance_m):
        rank[start.family] = rank.get(start.family, -1) + 1
        ranked.append((rank[start.family], start.clearance_m, start))
    return [start for _, _, start in sorted(ranked, key=lambda r: r[:2])]


def _known_first(ledger: Ledger, fly: Run, jobs: list[Job]) -> Iterator[list[Found]]:
    """Yield the results in the order of the jobs; only jobs that are not in the ledger are flown."""
    flown = iter(fly([job for job in jobs if job.key not in ledger.records]))
    for job in jobs:
        if (plain := ledger.records.get(job.key)) is None:
            found = next(flown)
            ledger.add(job.key, [plain_of(f) for f in found])
        else:
            found = [found_of(p) for p in plain]
        yield found


def _runner(workers: int) -> AbstractContextManager[Run]:
    return _Many(workers) if workers > 1 and not crew() else _One()


class _One:
    """Jobs in this process, or by the crew."""

    def __enter__(self) -> Run:
        return lambda jobs: each(run_job, jobs, "attacks")

    def __exit__(self, *_: object) -> None:
        return None


class _Many:
    """Jobs in several processes; their results come in the order of the jobs, so the figures do not change."""

    def __init__(self, workers: int) -> None:
        self._pool = multiprocessing.get_context("spawn").Pool(workers)

    def __enter__(self) -> Run:
        return lambda jobs: self._pool.imap(run_job, jobs)

    def __exit__(self, *_: object) -> None:
        self._pool.terminate()


def holds(found: Figures) -> bool:
    """Return True if no robots touch and none leaves the arena with all bounds as declared, or smaller.

    Args:
        found: figures of `hunt_down`. If only larger scales were asked for, the least scale counts.
    """
    least = max(1.0, min(row["scale"] for row in found["scales"]))
    failed = (found["first_contact_at"], found["first_outside_at"])
    return all(scale is None or scale > least for scale in failed)
