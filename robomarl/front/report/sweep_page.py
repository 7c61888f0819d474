"""The page of a sweep: learning curves, parallel coordinates, and the command that makes each trial again."""

import math
from pathlib import Path

from robomarl.core.types import Figures
from robomarl.front.report.page import Section, Tile, empty, figure, page, table
from robomarl.front.report.plots.parallel import parallel_coordinates
from robomarl.front.report.plots.style import to_svg
from robomarl.front.report.plots.training import compare_runs
from robomarl.front.report.runs import read_metrics

BEST = 8
"""Trials whose curves are drawn: more colours could not be told apart."""


def write_sweep_page(figures: Figures, out: Path) -> Path:
    """Write `report.html` of a sweep.

    Args:
        figures: content of `sweep.json`.
        out: folder of the sweep.
    """
    metric, trials = figures["metric"], figures["trials"]
    known = [row for row in trials if row[metric] is not None]
    states = ("finished", "stopped", "failed")
    tiles = [
        Tile("best " + metric, f"{known[0][metric]:.3g}" if known else "-", f"of {len(trials)} trials"),
        *(Tile(f"{state} trials", f"{figures[state]} of {len(trials)}") for state in states),
    ]
    sections = [
        Section("Values", _values(known, metric), "Each line is a trial; the darker, the better."),
        Section("Learning curves", _curves(known, out), f"The best {min(BEST, len(known))} trials."),
        Section("Trials", _table(trials, metric), "The best first. Each command trains the trial again, alone."),
    ]
    title, by = f"Sweep of {figures['scenario']}", f"by {metric}, {figures['goal']}; scheduler {figures['scheduler']}"
    file = out / "report.html"
    file.write_text(page(title, by, "", tiles, sections))
    return file


def _values(known: list[Figures], metric: str) -> str:
    if not known:
        return empty("no trial has a value of the metric")
    all_values = [row["values"] | {"seed": row["seed"]} for row in known]
    names = [name for name in all_values[0] if len({str(values[name]) for values in all_values}) > 1]
    rows = [[*(values[name] for name in names), row[metric]] for values, row in zip(all_values, known, strict=True)]
    ranks = [1 - index / max(1, len(known) - 1) for index in range(len(known))]
    return figure(to_svg(parallel_coordinates([*names, metric], rows, ranks)).decode())


def _curves(known: list[Figures], out: Path) -> str:
    names = [Path(row["run"]).name for row in known[:BEST]]
    shown = {name: read_metrics(out / "trials" / name / "metrics.csv") for name in names}
    return figure(to_svg(compare_runs(shown)).decode()) if shown else empty("no trial has a row of metrics")


def _table(trials: list[Figures], metric: str) -> str:
    names = [*trials[0]["values"]] if trials else []
    head = ["trial", metric, *names, "seed", "agent-steps", "state", "command"]
    rows = [
        [
            f"{row['trial']:04d}",
            None if row[metric] is None or not math.isfinite(row[metric]) else f"{row[metric]:.4g}",
            *(row["values"][name] for name in names),
            row["seed"],
            f"{row['steps']:,}",
            row["error"] or row["state"],
            row["command"],
        ]
        for row in trials
    ]
    return table(head, rows)
