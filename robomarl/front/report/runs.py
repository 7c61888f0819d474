"""Content of a run folder, read for the reports without JAX. Missing or damaged parts stay empty."""

import csv
import json
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.log import FlightLog, load_flight
from robomarl.core.types import Figures

Metrics = dict[str, np.ndarray]
"""Column of `metrics.csv` -> [rows], NaN where a cell is blank or is no number."""


class RecordedFlight(NamedTuple):
    """One recorded flight, and known facts about it."""

    name: str
    log: FlightLog
    summary: Figures = {}
    """Figures to show beside the computed ones, by the head of their column, in words and with units."""


class RecordedRun(NamedTuple):
    """A run folder."""

    name: str
    metrics: Metrics
    config: Figures
    scenario: Figures
    about: Figures
    """`run.json`: seed, commit, versions."""
    flights: tuple[RecordedFlight, ...]
    unreadable: tuple[str, ...]
    """Names of files that could not be read."""
    evaluation: Figures = {}
    """`evaluation.json`: figures of the flights that the report is about."""


def read_run(run_dir: Path) -> RecordedRun:
    """Read a run folder; files that are damaged are named in `unreadable`."""
    bad: list[str] = []
    names = ("config", "scenario", "run", "evaluation")
    config, scenario, about, evaluation = (_json(run_dir / f"{name}.json", bad) for name in names)
    flights = []
    for file in sorted((run_dir / "flights").glob("*.npz")):
        try:
            # numpy would leave a file open that is no zip archive.
            log = load_flight(file) if zipfile.is_zipfile(file) else None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            log = None
        if log is None or len(log.time_s) < 2:
            bad.append(file.name)
        else:
            flights.append(RecordedFlight(file.stem, log))
    metrics = read_metrics(run_dir / "metrics.csv")
    return RecordedRun(run_dir.resolve().name, metrics, config, scenario, about, tuple(flights), tuple(bad), evaluation)


def read_metrics(file: Path) -> Metrics:
    """Columns of a metrics file; no columns if there is no file. A row that is cut short ends in NaN."""
    if not file.is_file():
        return {}
    with file.open(newline="", errors="replace") as stream:
        reader = csv.DictReader(stream)
        names = [name for name in reader.fieldnames or [] if name]
        rows = [[_number(row.get(name)) for name in names] for row in reader]
    table = np.array(rows, float).reshape(len(rows), len(names))
    return {name: table[:, i] for i, name in enumerate(names)}


def series(metrics: Metrics, x: str, *names: str) -> tuple[np.ndarray, np.ndarray]:
    """The points of the first of `names` that has any, against column `x`; empty where there are none."""
    for name in names:
        if name in metrics and x in metrics:
            good = np.isfinite(metrics[name]) & np.isfinite(metrics[x])
            if good.any():
                return metrics[x][good], metrics[name][good]
    return np.empty(0), np.empty(0)


def last(metrics: Metrics, *names: str) -> float | None:
    """Newest value of the first of `names` that has any."""
    x = "update" if "update" in metrics else "steps"
    values = series(metrics, x, *names)[1]
    return float(values[-1]) if len(values) else None


def smooth(values: np.ndarray, part: float = 0.04) -> np.ndarray:
    """Centred moving average over a `part` of the curve; shorter windows at the ends."""
    half = max(1, round(part * len(values) / 2))
    total = np.concatenate([[0.0], np.cumsum(values)])
    low = np.maximum(np.arange(len(values)) - half, 0)
    high = np.minimum(np.arange(len(values)) + half + 1, len(values))
    return (total[high] - total[low]) / (high - low)


def thin(array: np.ndarray, most: int = 500) -> np.ndarray:
    """Return at most about `most` rows, evenly, the last one included: more cannot be seen in a figure."""
    if len(array) <= most:
        return array
    return array[np.unique(np.linspace(0, len(array) - 1, most).round().astype(int))]


def _json(file: Path, bad: list[str]) -> Figures:
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text())
    except ValueError:
        content = None
    if not isinstance(content, dict):
        bad.append(file.name)
        return {}
    return content


def _number(cell: str | None) -> float:
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        return float("nan")


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
    run = read_run(folder)
    names = ("steps", "seconds", "success", "eval_success")
    figures = {name: last(run.metrics, name) for name in names}
    figures |= {name: figures[name] or 0.0 for name in ("steps", "seconds")}
    about = {"seed": run.about.get("seed", ""), "commit": str(run.about.get("commit", ""))}
    return {"run": str(folder), "scenario": run.config.get("scenario", "?"), **about, **figures}
