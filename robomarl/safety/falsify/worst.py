"""`prove --worst`: structured attacks, then a search, at rising scales of all declared bounds.

The robustness factor of a vehicle file is the scale at which the first contact is found. A figure of a campaign: who
searches longer may find less.
"""

import dataclasses
import math
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from robomarl.safety.falsify.directed import PAIRS
from robomarl.safety.falsify.errors import SETS
from robomarl.safety.falsify.jobs import TOLERANCE_M, Found, Hunt, Job, Kind, Start, episodes_of_stage, run_job
from robomarl.safety.falsify.teams import TEAMS

UP, DOWN = tuple(i / 10 for i in range(11, 21)), tuple(i / 10 for i in range(9, 0, -1))
SEARCH_SHARE = 0.3
WALL_SHARE = 0.2
"""Of the episodes of two robots, beside them."""
ELSEWHERE = 0.1
"""Share of the budget that is flown at each other scale."""
LEAST = 2000
"""Episodes of two robots at another scale, if the budget has as many."""
ROBOTS = 4096
"""In a batch, at most about."""
SEARCHES, STAGES = 64, 6
"""Searches side by side, and how long each goes on."""
PINNED_SHARE = 0.2
COUNTS, PINNED = (4, 5, 6, 7, 8), (2, 3)
"""Robots of teams, and of the smaller ones that are flown beside them."""

Tell = Callable[[int], object]
Run = Callable[[list[Job]], Iterable[list[Found]]]


def hunt_down(
    hunt: Hunt, workers: int = 1, progress: Tell | None = None, plan: Callable[[float, int], object] | None = None
) -> dict[str, Any]:
    """Attack at one scale after the other.

    Args:
        hunt: what is attacked, and how long.
        workers: processes; the figures don't depend on them.
        progress: told how many more episodes have been flown.
        plan: told each scale, and how many episodes it takes.

    Returns:
        The figures, by the names of `robomarl prove --worst --json`.
    """
    found: dict[float, list[Found]] = {}
    with _runner(workers) as run:
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
    """The structured attacks, then searches from the worst of them."""
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
    pairs, teams = round(budget[0] * (1 - SEARCH_SHARE)), budget[1]
    jobs = _spread(Job(hunt, scale, "pair", PAIRS, 0, 0), pairs)
    jobs += _spread(Job(hunt, scale, "wall", tuple(SETS), 0, 0, 1), round(pairs * WALL_SHARE))
    # Sizes in turn.
    for counts, episodes in ((COUNTS, teams), (PINNED, round(PINNED_SHARE * teams))):
        for count in counts:
            jobs += _spread(Job(hunt, scale, "team", TEAMS, 0, 0, count), math.ceil(episodes / len(counts)))
    return jobs


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
    pairs = budget[0] * SEARCH_SHARE
    asked: tuple[tuple[Kind, int, float], ...] = (("pair", 2, pairs), ("wall", 1, pairs * WALL_SHARE))
    for kind, count, episodes in asked:
        starts = _diverse([f.start for f in first if f.kind == kind and f.start])
        stages = max(1, round(episodes / episodes_of_stage(SEARCHES)))
        width = min(SEARCHES, int(episodes // episodes_of_stage(1)), len(starts))
        # Each job goes on for some stages from attacks of its own.
        for number in range(math.ceil(stages / STAGES) if width else 0):
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


def _runner(workers: int) -> Any:
    return _Many(workers) if workers > 1 else _One()


class _One:
    """Jobs in this process."""

    def __enter__(self) -> Any:
        return lambda jobs: map(run_job, jobs)

    def __exit__(self, *_: object) -> None:
        return None


class _Many:
    """Jobs in several; what they find comes in the order of the jobs, so that the figures are the same."""

    def __init__(self, workers: int) -> None:
        self._pool = multiprocessing.get_context("spawn").Pool(workers)

    def __enter__(self) -> Any:
        return lambda jobs: self._pool.imap(run_job, jobs)

    def __exit__(self, *_: object) -> None:
        self._pool.terminate()


def figures(hunt: Hunt, found: dict[float, list[Found]]) -> dict[str, Any]:
    """Sum up."""
    touched = [scale for scale, ones in found.items() if _touched(ones)]
    out = [scale for scale, ones in found.items() if any(f.outside for f in ones)]
    scales = [_at(scale, found[scale]) for scale in sorted(found)]
    here = next((s for s in scales if s["scale"] == 1.0), scales[0])
    safety = hunt.vehicle.safety
    return {
        "vehicle": hunt.vehicle.name,
        "filter": hunt.mode,
        "seed": hunt.seed,
        "robustness_factor": min(touched) if touched else max(found),
        "first_contact_at": min(touched) if touched else None,
        "first_outside_at": min(out) if out else None,
        "episodes_at_bounds": here["episodes"] if here["scale"] == 1.0 else 0,
        **{k: here[k] for k in ("team_episodes", "wall_episodes", "contacts", "below", "min_distance_m")},
        **{k: here[k] for k in ("min_scaled_m", "outside_m")},
        "kept_m": safety.separation_m,
        "tolerance_m": TOLERANCE_M,
        "contact_m": 2 * hunt.vehicle.body.radius_m,
        "robots": [1, max(f.count for ones in found.values() for f in ones)],
        "scales": scales,
    }


def _at(scale: float, found: list[Found]) -> dict[str, Any]:
    """One scale's figures: distances of all robots, walls, and every family."""
    met = [f for f in found if f.kind != "wall"]
    walls = [f for f in found if f.kind != "pair"]
    nearest = min(met, key=lambda f: (f.contacts == 0, f.scaled_m), default=None)
    farthest = max((f for f in found if f.kind == "wall"), key=lambda f: f.outside_m, default=None)
    return {
        "scale": scale,
        "episodes": sum(f.episodes for f in met if f.count == 2),
        "team_episodes": sum(f.episodes for f in met if f.count >= COUNTS[0]),
        "wall_episodes": sum(f.episodes for f in found if f.kind == "wall"),
        "contacts": sum(f.contacts for f in met),
        "below": sum(f.below for f in met),
        "min_distance_m": min((f.least_m for f in met), default=None),
        "min_scaled_m": min((f.scaled_m for f in met), default=None),
        "outside_m": max((f.outside_m for f in walls), default=None),
        "outside_episodes": sum(f.outside for f in walls),
        "families": _families(found),
        "worst": nearest and nearest.worst,
        "worst_wall": farthest and farthest.worst,
    }


def _families(found: list[Found]) -> dict[str, dict[str, Any]]:
    """Episodes, contacts and least distances of each family of attacks."""
    table: dict[str, dict[str, Any]] = {}
    for f in found:
        name = f"{f.kind}:{f.family}"
        row = table.setdefault(name, {"episodes": 0, "contacts": 0, "outside": 0, "scaled_m": None, "outside_m": None})
        row["episodes"] += f.episodes
        row["contacts"] += f.contacts
        row["outside"] += f.outside
        if f.kind != "wall":
            row["scaled_m"] = min(f.scaled_m, row["scaled_m"] or math.inf)
        if f.kind != "pair":
            row["outside_m"] = max(f.outside_m, -math.inf if row["outside_m"] is None else row["outside_m"])
    return table
