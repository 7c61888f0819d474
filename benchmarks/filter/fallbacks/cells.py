"""The cells of the matrix, flown in parts by several processes; what is done is not flown again."""

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tqdm import tqdm

import robomarl
from benchmarks.filter.fallbacks.drive import Case, fly, summary
from benchmarks.filter.fallbacks.faults import REASONS
from benchmarks.filter.fallbacks.places import CROWDS, LIMITS

VEHICLES = ("crazyflie_21", "carrier_600", "ssl_omni", "turtlebot3_burger", "gritsbot")
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24)
ROBOTS_A_PART = 500
"""A part of a cell has so many robots at most, so that it takes less than a minute."""
LEAST, SUM = (
    ("min_distance_m",),
    ("episodes", "contacts", "in_obstacles", "outside", "hits", "misfits"),
)
Row = dict[str, float | int | str]


@dataclass(frozen=True)
class Plan:
    """What is flown of the matrix."""

    vehicles: tuple[str, ...] = VEHICLES
    reasons: tuple[str, ...] = REASONS
    limits: tuple[str, ...] = LIMITS
    crowds: tuple[str, ...] = CROWDS
    counts: tuple[int, ...] = COUNTS
    episodes: int = 1000
    """Of each cell."""
    seconds: float = 20.0
    scale: float = 1.0
    seed: int = 0

    def cells(self) -> list[Case]:
        """One case for each cell, faults first."""
        shared = {name: getattr(self, name) for name in ("episodes", "seconds", "scale", "seed")}
        cells = [Case(v, r, x, **shared) for v in self.vehicles for r in self.reasons for x in self.limits]
        return cells + [
            Case(v, "ok", "heard", kind, count, **shared)
            for v in self.vehicles
            for kind in self.crowds
            for count in self.counts
        ]


def parts(case: Case) -> Iterator[Case]:
    """The cell in pieces, each with a seed of its own."""
    size, left, seed = max(ROBOTS_A_PART // case.robots, 4), case.episodes, 1000 * case.seed
    while left > 0:
        yield replace(case, episodes=min(size, left), seed=seed)
        left, seed = left - size, seed + 1


def code_hash() -> str:
    """Hash of the filter's source: figures of another filter are not taken for those of this one."""
    folder, found = Path(robomarl.__file__).parent / "core" / "filter", hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".py", ".c", ".h"):
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


def run(cases: list[Case], store: Path, processes: int) -> list[Row]:
    """Fly what is not in the file yet, and give one row for each cell.

    Args:
        cases: cells.
        store: file of lines, one part each; parts are added as they are done.
        processes: how many parts are flown at the same time.
    """
    code, known = code_hash(), _known(store)
    wanted = {_key(part, code): part for case in cases for part in parts(case)}
    todo = {key: part for key, part in wanted.items() if key not in known}
    store.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool, store.open("a") as file:
        jobs = {pool.submit(_part, part): key for key, part in todo.items()}
        bar = tqdm(as_completed(jobs), total=len(jobs), desc="fallbacks", unit="part", disable=None)
        for job in bar:
            known[jobs[job]] = row = job.result()
            file.write(json.dumps({"key": jobs[job], "row": row}) + "\n")
            file.flush()
    return [merged([known[_key(part, code)] for part in parts(case)]) for case in cases]


def merged(rows: list[Row]) -> Row:
    """One row of those of the parts of a cell."""
    found = dict(rows[0])
    for name, value in found.items():
        values = [row[name] for row in rows]
        if name in SUM:
            found[name] = sum(map(int, values))
        elif name.startswith("share_"):
            weights = [int(row["episodes"]) for row in rows]
            found[name] = sum(float(v) * w for v, w in zip(values, weights, strict=True)) / sum(weights)
        elif isinstance(value, float):
            pick: Callable = min if name in LEAST else max
            found[name] = pick(map(float, values))
    return found | {"seed": rows[0]["seed"]}


def _part(case: Case) -> Row:
    return summary(case, fly(case))


def _key(case: Case, code: str) -> str:
    return json.dumps([code, asdict(case)])


def _known(store: Path) -> dict[str, Row]:
    if not store.exists():
        return {}
    lines = [json.loads(line) for line in store.read_text().splitlines() if line.endswith("}")]
    return {line["key"]: line["row"] for line in lines}
