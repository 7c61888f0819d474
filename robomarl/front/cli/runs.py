"""List training runs side by side, and overlay their learning curves."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

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
    from robomarl.front.report.runs import find_runs, summary

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


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
