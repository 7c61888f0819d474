"""Trials under Ray Tune: started, stopped, begun again after a worker's death, and found again after our own."""

import json
import math
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ray import tune
from ray.tune.schedulers import ASHAScheduler, PopulationBasedTraining, TrialScheduler
from ray.tune.search.sample import Domain

from robomarl.core.config import UserError
from robomarl.lab.sweep.space import Draws, SchedulerConfig, SweepPlan, Value, Values
from robomarl.lab.sweep.trial import SweepTrial, TrialReport, train_trial

NUMBER, TUNE_FOLDER = "number", "ray_tune"
TRIAL_ID = re.compile(r"[0-9a-f]+_\d{5}")
"""Ray's name of a trial, as in the name of its folder."""
DEATHS = 5
"""Times that a trial's worker may die before the trial counts as failed."""


@dataclass(frozen=True)
class TrialOutcome:
    """How a trial ended."""

    trial: SweepTrial
    last: TrialReport
    state: str
    """finished, stopped (by the scheduler) or failed."""
    error: str = ""


@dataclass(frozen=True)
class SweepJob:
    """All trials of a sweep."""

    out: Path
    """Folder of the sweep."""
    plan: SweepPlan
    trials: tuple[SweepTrial, ...]
    last_step: int
    """Agent-steps of a whole trial."""
    draws: Mapping[str, list[Value] | Draws]
    """Choices by key, of which pbt takes others."""

    @property
    def values(self) -> list[Values]:
        """Values of each trial, in their order."""
        return [trial.values for trial in self.trials]


def run_trials(job: SweepJob, workers: int) -> list[TrialOutcome]:
    """Train all trials, those of an interrupted sweep from where they stood; returns the outcomes by number.

    Args:
        job: the trials.
        workers: trials at a time.
    """
    place = (job.out / TUNE_FOLDER).resolve()
    pbt = _exchanges(job)
    trials = tuple(replace(trial, steps=trial.steps or job.last_step) for trial in job.trials) if pbt else job.trials
    work = tune.with_resources(tune.with_parameters(_work, trials=trials, pbt=pbt), {"cpu": 1})
    if tune.Tuner.can_restore(str(place)):
        tuner = tune.Tuner.restore(str(place), work, resume_unfinished=True, restart_errored=True)
    else:
        shutil.rmtree(place, ignore_errors=True)
        tuner = tune.Tuner(
            work,
            param_space={NUMBER: tune.grid_search([trial.number for trial in job.trials])} | _values(job),
            tune_config=tune.TuneConfig(
                metric="metric",
                mode=job.plan.goal,
                max_concurrent_trials=workers,
                scheduler=scheduler_of(job),
                reuse_actors=not pbt,  # a worker keeps its compiled programs for the next trial
            ),
            run_config=tune.RunConfig(
                name=TUNE_FOLDER,
                storage_path=str(place.parent),
                failure_config=tune.FailureConfig(max_failures=DEATHS),
                verbose=0,
            ),
        )
    results = tuner.fit()
    numbers = {_number(TRIAL_ID.findall(result.path)[-1]): result for result in results}
    found = {number: _outcome(job, result, number) for number, result in numbers.items()}
    return [found[trial.number] for trial in job.trials if trial.number in found]


def scheduler_of(job: SweepJob) -> TrialScheduler | None:
    """Ray's scheduler of the plan; time is counted in agent-steps."""
    chosen: SchedulerConfig = job.plan.scheduler
    if chosen.kind == "asha":
        first = min(chosen.first_steps, job.last_step)
        # `max_t` is never reached: a trial at it counts as stopped, and would not write its end.
        return ASHAScheduler(
            time_attr="steps", max_t=2 * job.last_step, grace_period=first, reduction_factor=chosen.keep_one_of
        )
    if chosen.kind == "pbt":
        return PopulationBasedTraining(
            time_attr="steps",
            perturbation_interval=chosen.first_steps,
            hyperparam_mutations={key: _domain(choice) for key, choice in job.draws.items()},
            synch=True,
        )
    return None


def _work(config: dict[str, Value], trials: tuple[SweepTrial, ...], pbt: bool) -> None:
    """Train one trial in a worker."""
    trial = trials[_number(tune.get_context().get_trial_id())]
    before = 0
    if pbt:
        trial, before = _exchanged(trial, {key: value for key, value in config.items() if key != NUMBER})

    def report(now: TrialReport) -> None:
        row = {"steps": before + now.steps, "metric": now.metric, "ended": now.ended}
        if not pbt:
            tune.report(row)
            return
        with TemporaryDirectory() as folder:
            about = {"number": trial.number, "steps": before + now.steps, "before": before, "start": trial.start}
            (Path(folder) / "about.json").write_text(json.dumps(about))
            shutil.copytree(trial.folder, Path(folder) / "run")
            tune.report(row, checkpoint=tune.Checkpoint.from_directory(folder))

    train_trial(trial, report)


def _number(trial_id: str) -> int:
    """Number of a trial by Ray's name of it, which ends with it; pbt copies `config`, the number in it included."""
    return int(trial_id.rsplit("_", 1)[-1])


def _exchanged(trial: SweepTrial, values: dict[str, Value]) -> tuple[SweepTrial, int]:
    """The trial with the values that pbt gives it, and the agent-steps of the weights that it began with.

    A trial is paused at each exchange. One that keeps its weights goes on in its run folder.
    """
    trial = replace(trial, values=values)
    given = tune.get_checkpoint()
    if given is None:
        return trial, 0
    with given.as_directory() as folder:
        about = json.loads((Path(folder) / "about.json").read_text())
        if about["number"] == trial.number:
            return _rest(trial, about["start"], about["before"]), about["before"]
        start = trial.folder.with_name(f"{trial.folder.name}_from_{about['number']:04d}")
        shutil.rmtree(start, ignore_errors=True)
        shutil.copytree(Path(folder) / "run", start)
    shutil.rmtree(trial.folder, ignore_errors=True)
    return _rest(trial, str(start), about["steps"]), about["steps"]


def _rest(trial: SweepTrial, start: str, before: int) -> SweepTrial:
    """The trial from these weights on, which have so many agent-steps already."""
    assert trial.steps is not None, "trials that exchange have their steps"
    return replace(trial, start=start, steps=max(1, trial.steps - before))


def _exchanges(job: SweepJob) -> bool:
    return job.plan.scheduler.kind == "pbt"


def _values(job: SweepJob) -> dict[str, object]:
    """The values of each trial as parameters of Ray, which pbt changes."""
    if not _exchanges(job):
        return {}
    by_number = {trial.number: trial.values for trial in job.trials}
    return {key: tune.sample_from(lambda spec, key=key: by_number[spec["config"][NUMBER]][key]) for key in job.draws}


def _domain(choice: list[Value] | Draws) -> Domain | list[Value]:
    if isinstance(choice, Draws):
        return tune.loguniform(choice.low, choice.high) if choice.is_log else tune.uniform(choice.low, choice.high)
    return list(choice)


def _outcome(job: SweepJob, result: tune.Result, number: int) -> TrialOutcome:
    trial, row = job.trials[number], result.metrics or {}
    last = TrialReport(int(row.get("steps", 0)), float(row.get("metric", math.nan)), bool(row.get("ended")))
    if result.error is not None:
        return TrialOutcome(trial, last, "failed", _cause(result.error))
    return TrialOutcome(trial, last, "finished" if last.ended else "stopped")


def _cause(error: BaseException) -> str:
    """The sentence of what went wrong in a worker, out of Ray's wrappings."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, UserError):
        return str(cause)
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
