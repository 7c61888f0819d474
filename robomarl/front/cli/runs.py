"""List training runs side by side, and overlay their learning curves."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.front.cli.ends import PlotFile


@dataclass(frozen=True)
class Args:
    """Options of `robomarl runs`."""

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[FOLDER ...]")] = ()
    """Run folders, or folders that hold some; runs/ by default."""
    plot: PlotFile | None = None
    """Write the overlaid learning curves here: .svg or .png."""
    x: Literal["steps", "seconds"] = "steps"
    """Horizontal axis of the plot."""


def run(args: Args) -> Figures:
    """Print a table of the runs; draw them if asked."""
    from robomarl.front.report.report import compare_runs_plot

    folders = find_runs(args.folders or (Path("runs"),))
    rows = [summary(folder) for folder in folders]
    print(f"{'run':<28}{'scenario':<12}{'seed':>5}{'steps':>9}{'time s':>9}{'train':>8}{'mujoco':>8}  commit")
    for row in rows:
        print(
            f"{row['run']:<28}{row['scenario']:<12}{row['seed']:>5}{row['steps'] / 1e6:>8.1f}M{row['seconds']:>9.0f}"
            f"{_percent(row['success']):>8}{_percent(row['eval_success']):>8}  {row['commit'][:9]}"
        )
    if args.plot:
        compare_runs_plot(folders, args.plot, args.x)
        print(f"plot: {args.plot}")
    return {"runs": rows}


def find_runs(places: tuple[Path, ...]) -> list[Path]:
    """Run folders among and below the places, by name.

    Raises:
        UserError: there is none.
    """
    found = sorted({f.parent for place in places for f in (*place.glob("config.json"), *place.glob("**/config.json"))})
    if not found:
        raise UserError(f"no run folder in {', '.join(map(str, places))}; `robomarl train SCENARIO` makes one.")
    return found


def summary(folder: Path) -> Figures:
    """The figures of one run that the table shows."""
    from robomarl.front.report.runs import last, read_run

    run = read_run(folder)
    names = ("steps", "seconds", "success", "eval_success")
    figures = {name: last(run.metrics, name) for name in names}
    figures |= {name: figures[name] or 0.0 for name in ("steps", "seconds")}
    about = {"seed": run.about.get("seed", ""), "commit": str(run.about.get("commit", ""))}
    return {"run": str(folder), "scenario": run.config.get("scenario", "?"), **about, **figures}


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
