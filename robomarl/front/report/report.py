"""Reports as single HTML files: a training run, a demo. They open offline, on a phone, and print."""

from pathlib import Path

import numpy as np

from robomarl.front.report.demo_report import DemoReport, DemoStage, distance_tile, write_demo_report
from robomarl.front.report.page import Section, Tile, empty, page, write_page
from robomarl.front.report.plots.measurements import TeamMeasurements
from robomarl.front.report.plots.training import compare_runs_plot
from robomarl.front.report.runs import RecordedFlight, RecordedRun, last, read_run, series
from robomarl.front.report.sections import (
    final_success,
    flight_section,
    hover_tile,
    learning_section,
    least_m,
    motion_figure,
    optimization_section,
    recipe_section,
    reward_section,
    safety_section,
)
from robomarl.front.report.units import collision_words, duration, percent, si

__all__ = [
    "DemoReport",
    "RecordedFlight",
    "TeamMeasurements",
    "DemoStage",
    "compare_runs_plot",
    "write_demo_report",
    "write_run_report",
]


def write_run_report(run_dir: Path, file: Path) -> None:
    """Write the report of a training run.

    Args:
        run_dir: a run folder: `metrics.csv`, `config.json`, `scenario.json`, `run.json`,
            `flights/*.npz`. A missing part leaves an empty place in the page, with a text on the
            missing data.
        file: the HTML file.
    """
    run = read_run(run_dir)
    tolerance = (run.scenario.get("success") or {}).get("position_m")
    sections = [
        learning_section(run.metrics),
        reward_section(run.metrics),
        optimization_section(run.metrics, run.config.get("target_kl")),
        flight_section(run.flights, (), tolerance, motion_figure(run.flights) if run.flights else ""),
        *([safety_section(run.flights)] if run.flights else []),
        recipe_section(run),
    ]
    if run.unreadable:
        sections.append(Section("Damaged files", empty("Left out, because unreadable: " + ", ".join(run.unreadable))))
    scenario = run.scenario.get("name") or run.config.get("scenario") or "unknown scenario"
    count = run.scenario.get("count")
    subtitle = f"Training run of {scenario}" + (f", {count} robots" if count else "")
    write_page(page(f"Run {run.name}", subtitle, _verdict(run), _tiles(run), sections), file)


def _verdict(run: RecordedRun) -> str:
    steps, seconds = last(run.metrics, "steps"), last(run.metrics, "seconds")
    if steps is None:
        return "No metrics yet: metrics.csv is missing or has no rows."
    rate, where = final_success(run.metrics)
    after = f"After {si(steps)} agent-steps" + (f" ({duration(seconds)})" if seconds else "")
    success = f"{percent(rate)} of the teams succeed {where}" if rate is not None else "success was not logged"
    collisions = last(run.metrics, "eval_collisions")
    if where == "in training":
        return f"{after}, {success}. There is no evaluation in MuJoCo yet."
    touched = "" if collisions is None else f"; the last evaluation had {collision_words(collisions)}"
    return f"{after}, {success}{touched}."


def _speed(run: RecordedRun) -> float | None:
    """Agent-steps per second of the median update; the first one, which compiles, does not count."""
    steps, seconds = series(run.metrics, "seconds", "steps")[::-1]
    took = np.diff(seconds)
    rates = np.diff(steps)[took > 0] / took[took > 0]
    return float(np.median(rates)) if len(rates) else None


def _tiles(run: RecordedRun) -> list[Tile]:
    rate, where = final_success(run.metrics)
    tiles = []
    if rate is not None:
        best = max(series(run.metrics, "steps", "eval_success" if "Mu" in where else "success")[1], default=rate)
        tiles.append(Tile("Success", percent(rate), f"{where}; best {percent(float(best))}"))
    collisions, contact = last(run.metrics, "eval_collisions"), last(run.metrics, "contact")
    if collisions is not None:
        tiles.append(
            Tile("Collisions", f"{collisions:g}", "episodes of the last evaluation", "bad" if collisions else "good")
        )
    elif contact is not None:
        tiles.append(Tile("Contact", percent(contact), "of training episodes"))
    if run.flights and least_m(run.flights) < float("inf"):
        tiles.append(distance_tile(run.flights))
    tiles += hover_tile(run.evaluation)
    steps, seconds = last(run.metrics, "steps"), last(run.metrics, "seconds")
    if seconds:
        tiles.append(Tile("Training time", duration(seconds)))
    if steps is not None:
        tiles.append(Tile("Agent-steps", si(steps)))
    speed = _speed(run)
    if speed is not None:
        tiles.append(Tile("Speed", f"{si(speed)}/s", "agent-steps, learning included; median update"))
    return tiles
