"""The benchmarks behind docs/benchmarks.md."""

import importlib
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated

import tyro

from robomarl.core.config import Count, Positive, UsageError, UserError, suggest
from robomarl.core.paths import checkout_dir
from robomarl.core.types import Figures
from robomarl.front.cli.sharing import shared


@dataclass(frozen=True)
class Args:
    """Options of `robomarl bench`."""

    names: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[NAME ...]")] = ()
    """Benchmarks to run; all by default."""
    case: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Only this case of a benchmark that has several, as in `bench train --case start`; may be given several times."""
    trials: Count | None = None
    """Trials of `bench scale`; 16 by default."""
    seconds: Positive | None = None
    """Length of a trial of `bench scale` [s]; 30 by default."""
    kills: Count | None = None
    """Kills of `bench scale --case kills`; 30 by default."""
    on: str = ""
    """Place of workers that share the episodes of benchmarks that evaluate policies: local, or ray://HOST:PORT; by
    default this process flies them alone."""
    workers: Count | None = None
    """Processes that share them, with --on; by default one a core of that place."""


def run(args: Args) -> Figures:
    """Measure and print a table."""
    benchmarks = _benchmarks()
    unknown = [name for name in args.names if name not in benchmarks.BENCHMARKS]
    if unknown:
        raise UsageError(f"unknown benchmark {unknown[0]!r}; {suggest(unknown[0], benchmarks.BENCHMARKS)}")
    if args.case and len(args.names) != 1:
        raise UsageError("--case belongs to one benchmark; name it, as in `robomarl bench train --case start`.")
    if (args.trials or args.seconds or args.kills) and args.names != ("scale",):
        raise UsageError("--trials, --seconds and --kills belong to `robomarl bench scale`; name it alone.")
    with shared(args.on, args.workers):
        return {"rows": [row for name in args.names or benchmarks.BENCHMARKS for row in _rows(benchmarks, name, args)]}


def _rows(benchmarks: ModuleType, name: str, args: Args) -> list[Figures]:
    """Measure one benchmark, and print its rows."""
    found: list[Figures] = []
    given = {key: value for key in ("trials", "seconds", "kills") if (value := getattr(args, key)) is not None}
    size = benchmarks.Size(**given)
    print(f"{name}: {benchmarks.BENCHMARKS[name]}")
    for row in benchmarks.run(name, args.case, size):
        print(f"  {row.case:<44} {row.metric:<28} {row.value:>14,.4g} {row.unit}")
        found.append({"benchmark": name, **row._asdict()})
    return found


def _benchmarks() -> ModuleType:
    """Return the package beside robomarl's own, from any working directory; it is not among the installed ones.

    Raises:
        UserError: robomarl is installed without its checkout.
    """
    checkout = checkout_dir()
    if checkout is None or not (checkout / "benchmarks").is_dir():
        raise UserError("benchmarks/ is not installed with robomarl; run `robomarl bench` in a checkout of it.")
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    return importlib.import_module("benchmarks")
