"""The benchmarks behind docs/benchmarks.md."""

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from benchmarks import BENCHMARKS
from benchmarks import run as run_benchmark
from robomarl.config import UserError


@dataclass(frozen=True)
class Args:
    """Options of `robomarl bench`."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[NAME ...]")] = ()
    """Benchmarks to run; all by default."""
    case: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Only this case of a benchmark that has several, as in `bench train --case start`; may be given several times."""


def run(args: Args) -> dict[str, Any]:
    """Measure and print a table."""
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        raise UserError(f"unknown benchmark {unknown[0]!r}; allowed: {', '.join(BENCHMARKS)}.")
    if args.case and len(args.names) != 1:
        raise UserError("--case belongs to one benchmark; name it, as in `robomarl bench train --case start`.")
    found = []
    for name in args.names or BENCHMARKS:
        print(f"{name}: {BENCHMARKS[name]}")
        for row in run_benchmark(name, args.case):
            print(f"  {row.case:<44} {row.metric:<28} {row.value:>14,.4g} {row.unit}")
            found.append({"benchmark": name, **row._asdict()})
    return {"rows": found}
