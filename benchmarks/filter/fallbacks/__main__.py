"""`python -m benchmarks.filter.fallbacks VEHICLE`: attack the filter's fallbacks in an independent plant."""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.filter.fallbacks.cells import COUNTS, Plan, Row
from benchmarks.filter.fallbacks.drive import Case, Found, fly, summary
from benchmarks.filter.fallbacks.examples import EXAMPLES, genes_of
from benchmarks.filter.fallbacks.faults import REASONS
from benchmarks.filter.fallbacks.places import CROWDS, LIMITS
from benchmarks.filter.fallbacks.table import write

LINE = "{reason:12} {limit:12} {contacts:4d} of {episodes:4d} touch, least {min_distance_m:6.3f} m; "
LINE += "{in_obstacles:4d} in obstacles, {depth_m:6.3f} m; {outside:4d} outside, {outside_m:6.3f} m; "
LINE += "over the speed {over_speed_m_s:6.3f} m/s; hit at {hit_m_s:5.3f} m/s; {misfits} misfits;"


def parser() -> argparse.ArgumentParser:
    """Options of the command line."""
    found = argparse.ArgumentParser(description=__doc__)
    found.add_argument("vehicle", nargs="?", help="name of a vehicle file; default: crazyflie_21, of a table all")
    found.add_argument("--reason", choices=REASONS, help="fault; default: all of them")
    found.add_argument("--limit", choices=LIMITS, help="limit that is attacked; default: all of them")
    found.add_argument("--crowd", choices=CROWDS, help="start a crowd in place of a limit")
    found.add_argument("--example", choices=tuple(EXAMPLES), help="fly a case that failed once, in place of a cell")
    found.add_argument("--genes", type=Path, help="choices of one episode that `search --save` wrote: fly it again")
    found.add_argument("--count", type=int, default=0, help="robots; default: what the limit needs, 8 in a crowd")
    found.add_argument("--episodes", type=int, default=48, help="of each cell")
    found.add_argument("--seconds", type=float, default=20.0)
    found.add_argument("--scale", type=float, default=1.0, help="factor of all declared bounds")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--backend", choices=("auto", "c", "numpy"), default="auto")
    found.add_argument(
        "--table", type=Path, help="fly the whole matrix, or what the options leave of it; write this page"
    )
    found.add_argument("--counts", type=int, nargs="+", default=COUNTS, help="sizes of the table's crowds")
    found.add_argument("--part", choices=("faults", "crowds"), help="half of the table; default: all of it")
    found.add_argument("--cells", type=Path, default=Path("build/fallbacks.jsonl"), help="what was flown; resumes")
    found.add_argument("--processes", type=int, default=2)
    found.add_argument("--json", type=Path, help="write the figures there")
    found.add_argument("--worst", type=int, default=0, help="print the choices of so many of the worst episodes")
    return found


def main() -> None:
    """Fly the cells that were asked for, one line each."""
    options = parser().parse_args()
    rows = tabled(options) if options.table else flown(options)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1))


def tabled(options: argparse.Namespace) -> list[Row]:
    """The page of the matrix; its command says how to make it again."""
    plan = Plan(episodes=options.episodes, seconds=options.seconds, scale=options.scale, seed=options.seed)
    if options.vehicle:
        plan = replace(plan, vehicles=(options.vehicle,))
    if options.reason or options.part == "crowds":
        plan = replace(plan, reasons=(options.reason,) if options.reason else ())
    if options.limit:
        plan = replace(plan, limits=(options.limit,))
    if options.crowd or options.part == "faults":
        plan = replace(plan, crowds=(options.crowd,) if options.crowd else ())
    plan = replace(plan, counts=(options.count,) if options.count else tuple(options.counts))
    command = f"python -m benchmarks.filter.fallbacks --table docs/{options.table.name} --episodes {options.episodes}"
    command += f" --counts {' '.join(map(str, plan.counts))}"
    return write(options.table, plan, options.cells, options.processes, command)


def flown(options: argparse.Namespace) -> list[Row]:
    """Fly cells at once, and print a line for each."""
    rows: list[Row] = []
    for case in cases_of(options):
        genes = None
        if options.genes:
            genes = dict(np.load(options.genes))
            case = replace(case, episodes=1, count=genes["heading"].shape[1])
        elif options.example:
            genes = genes_of(case, EXAMPLES[options.example].fixed)
        found = fly(case, genes)
        row = summary(case, found)
        rows.append(row)
        shares = [f"{k[6:]} {v:.0%}" for k, v in row.items() if k.startswith("share_") and float(v) > 0.005]
        print(LINE.format(**row), ", ".join(shares), flush=True)
        for episode in np.argsort(_badness(found))[::-1][: options.worst]:
            print(f"    episode {episode}: least {found.least_m[episode]:.3f} m")
    return rows


def cases_of(options: argparse.Namespace) -> list[Case]:
    """The cells."""
    vehicle = options.vehicle or "crazyflie_21"
    shared = {name: getattr(options, name) for name in ("episodes", "seconds", "scale", "seed", "backend")}
    if options.example:
        shared |= {"count": options.count} if options.count else {}
        return [replace(Case(vehicle, **EXAMPLES[options.example].changes), **shared)]
    if options.crowd:
        reasons = [options.reason or "ok"]
        count = options.count or 8
        return [Case(vehicle, r, "heard", options.crowd, count, **shared) for r in reasons]
    reasons = [options.reason] if options.reason else list(REASONS)
    limits = [options.limit] if options.limit else list(LIMITS)
    return [Case(vehicle, r, x, count=options.count, **shared) for r in reasons for x in limits]


def _badness(found: Found) -> np.ndarray:
    return np.maximum(found.contact_m - found.least_m, np.maximum(found.depth_m, found.outside_m))


if __name__ == "__main__":
    main()
