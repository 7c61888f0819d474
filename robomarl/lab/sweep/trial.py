"""`SweepTrial`: one run of a sweep. A worker trains it in a run folder of its own, from its newest checkpoint on."""

import csv
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sweep.space import Values, recipe_lines
from robomarl.lab.train.config import load_recipe
from robomarl.lab.train.initial.kept import KeptPrograms
from robomarl.lab.train.run.options import Rows, RunOptions
from robomarl.lab.train.run.runner import NothingLeftError, longer, train_run
from robomarl.lab.train.state import TrainState

LAST_UPDATES, REPORTS = 20, 40
"""Updates whose mean a report is, and reports of a trial."""


@dataclass(frozen=True)
class SweepTrial:
    """One run: its place, recipe and seed."""

    number: int
    folder: Path
    """Run folder."""
    scenario: str
    extended: str
    """Recipe that the values replace parts of; "": the default one."""
    values: Values
    seed: int
    metric: str
    steps: int | None = None
    """Agent-steps, instead of the recipe's."""
    start: str = ""
    """Run folder whose weights it begins with; "": from nothing."""

    @property
    def recipe_file(self) -> Path:
        """Recipe of the trial, with which `robomarl train --recipe` makes it again."""
        return self.folder.with_suffix(".toml")

    @property
    def command(self) -> str:
        """Command that trains it again, alone."""
        steps = f" --steps {self.steps}" if self.steps else ""
        return f"robomarl train {self.scenario} --recipe {self.recipe_file} --seed {self.seed}{steps} --out FOLDER"


@dataclass(frozen=True)
class TrialReport:
    """How far a trial is."""

    steps: int
    """Agent-steps."""
    metric: float
    """Mean of its metric over the last updates; NaN if they have none."""
    ended: bool = False
    """True: the trial has all of its agent-steps."""


@cache
def programs_of_this_worker() -> KeptPrograms:
    """Programs of the last trial of this process: trials that differ in their seeds alone have equal ones."""
    return KeptPrograms()


def train_trial(trial: SweepTrial, report: Callable[[TrialReport], None]) -> TrialReport:
    """Train a trial to its end, from its newest checkpoint on; a finished one is not trained again.

    Args:
        trial: the trial.
        report: called with the state from time to time; what it raises ends the training.

    Returns:
        The last report.

    Raises:
        UserError: the recipe is none, or training fails.
    """
    trial.folder.parent.mkdir(parents=True, exist_ok=True)
    trial.recipe_file.write_text(recipe_lines(trial.extended, trial.values))
    if trial.folder.is_dir() and not (trial.folder / "checkpoint.npz").is_file():
        shutil.rmtree(trial.folder)  # a worker that died before the first checkpoint
    config, _ = load_recipe(str(trial.recipe_file))
    config = replace(longer(config, trial.steps), scenario=trial.scenario)
    window = _Window(trial, report, config.last_step)
    options = RunOptions(
        trial.folder,
        trial.seed,
        steps=trial.steps,
        resume=trial.folder.is_dir(),
        init=(trial.start,) if trial.start else (),
        quiet=True,
        kept=programs_of_this_worker(),
        on_update=window.update,
    )
    try:
        train_run(config, load_scenario(trial.scenario), options)
    except NothingLeftError:
        pass
    last = replace(window.now, ended=True)
    report(last)
    return last


class _Window:
    """Mean of a metric over the last updates, of those before a restart as well."""

    def __init__(self, trial: SweepTrial, report: Callable[[TrialReport], None], last_step: int) -> None:
        self._metric, self._report, self._every = trial.metric, report, max(1, last_step // REPORTS)
        rows = _rows(trial.folder / "metrics.csv")
        known = rows[-1] if rows else {}
        self._check(known)
        self._values = {int(float(row["update"])): float(row.get(self._metric) or "nan") for row in rows}
        self._steps = int(float(known.get("steps", 0)))
        self._said = self._steps

    @property
    def now(self) -> TrialReport:
        """The newest figures."""
        last = [self._values[number] for number in sorted(self._values)[-LAST_UPDATES:]]
        finite = [value for value in last if math.isfinite(value)]
        return TrialReport(self._steps, sum(finite) / len(finite) if finite else math.nan)

    def update(self, _: TrainState, rows: Rows) -> None:
        """One update more; told when it is time."""
        row = rows[0]
        self._check(row)
        # Updates that were logged behind the checkpoint are done again: they must not count twice.
        number = int(row["update"])
        self._values = {n: value for n, value in self._values.items() if n < number} | {number: row[self._metric]}
        self._steps = int(row["steps"])
        if self._steps // self._every > self._said // self._every:
            self._said = self._steps
            self._report(self.now)

    def _check(self, row: dict[str, float] | dict[str, str]) -> None:
        if row and self._metric not in row:
            names = ", ".join(sorted(name for name in row if not name.startswith("eval_")))
            raise UserError(f"metric = {self._metric!r} is no column of metrics.csv; name one of {names}.")


def last_row(folder: Path) -> dict[str, str]:
    """The newest whole row of a run's metrics; none before the first."""
    rows = _rows(folder / "metrics.csv")
    return rows[-1] if rows else {}


def _rows(file: Path) -> list[dict[str, str]]:
    """Whole rows of a CSV file; none where there is no file. A worker that was killed may have left half a row."""
    if not file.is_file():
        return []
    with file.open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if None not in row.values()]
