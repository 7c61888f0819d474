"""`run_sweep`: all trials of a plan, and the figures of the sweep."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from robomarl.core.config import UserError
from robomarl.core.types import Figures
from robomarl.lab.cluster.connect import Cluster, check_place, connected
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sweep.plan_check import check_plan
from robomarl.lab.sweep.slurm import SLURM, run_on_slurm
from robomarl.lab.sweep.space import choices_of, read_plan
from robomarl.lab.sweep.trial import SweepTrial, last_row
from robomarl.lab.sweep.tuned import SweepJob, TrialOutcome, run_trials
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.runner import longer
from robomarl.lab.train.run.storage import replace_text

RESULTS, PLAN, OF = "sweep.json", "plan.toml", "sweep_of.json"
"""Figures; the plan; and the scenario and recipe that a sweep was begun with."""
LOOK_S = 1.0
"""Time between two looks at how far the trials are [s]."""


@dataclass(frozen=True)
class SweepOptions:
    """How a sweep is carried out."""

    scenario: str
    extended: str
    """Recipe that the values replace parts of; "": the default values."""
    space: Path
    """TOML file; see `SweepPlan`."""
    out: Path
    """Folder of the sweep; its trials are run folders in `trials`."""
    resume: bool = False


def run_sweep(
    base: TrainConfig, options: SweepOptions, cluster: Cluster, on_steps: Callable[[int, int], object]
) -> Figures:
    """Train all trials, and write `sweep.json`.

    Args:
        base: the recipe that the values replace parts of.
        options: the sweep.
        cluster: where its trials are trained.
        on_steps: called with the agent-steps so far and in all, of all trials.

    Returns:
        Figures of the sweep and of each trial, the best first.

    Raises:
        UserError: of the plan, the folder or the cluster; or every trial failed.
    """
    job = job_of(base, options)
    check_folder(options)
    if cluster.on != SLURM:
        check_place(cluster)
    if not (options.out / PLAN).is_file():  # else it was checked when it began
        check_plan(job.plan, job.values, base, load_scenario(options.scenario), options.space.name)
    if cluster.on == SLURM:
        begin(options)
        with _watched(job, on_steps):
            outcomes = run_on_slurm(job, cluster.workers)
    else:
        with connected(cluster) as workers:
            begin(options)  # a call that never began leaves no folder
            with _watched(job, on_steps):
                outcomes = run_trials(job, workers)
    if outcomes and all(outcome.state == "failed" for outcome in outcomes):
        raise UserError(f"{options.out}: every trial failed; the first says: {outcomes[0].error}")
    figures = figures_of(job, options, outcomes)
    replace_text(options.out / RESULTS, json.dumps(figures, indent=1) + "\n")
    return figures


def job_of(base: TrainConfig, options: SweepOptions) -> SweepJob:
    """The trials: each combination with each seed, in the order of the file."""
    plan, combinations = read_plan(options.space, base)
    chosen = [(values, seed) for values in combinations for seed in plan.seeds]
    trials = tuple(
        SweepTrial(
            number=number,
            folder=(options.out / "trials" / f"{number:04d}").absolute(),
            scenario=options.scenario,
            extended=options.extended,
            values=values,
            seed=seed,
            metric=plan.metric,
            steps=plan.steps,
        )
        for number, (values, seed) in enumerate(chosen)
    )
    return SweepJob(
        options.out, plan, trials, longer(base, plan.steps).last_step, choices_of(plan, base, options.space.name)
    )


def figures_of(job: SweepJob, options: SweepOptions, outcomes: list[TrialOutcome]) -> Figures:
    """What `sweep.json` holds; trials from the best to the worst, failed ones last."""
    sign = -1 if job.plan.goal == "max" else 1

    def rank(outcome: TrialOutcome) -> tuple[bool, float, int]:
        metric = outcome.last.metric
        return outcome.state == "failed" or math.isnan(metric), sign * metric, outcome.trial.number

    ranked = sorted(outcomes, key=rank)
    rows = [
        {
            "trial": outcome.trial.number,
            "run": str(options.out / "trials" / outcome.trial.folder.name),
            "state": outcome.state,
            job.plan.metric: outcome.last.metric if math.isfinite(outcome.last.metric) else None,
            "steps": outcome.last.steps,
            "seed": outcome.trial.seed,
            "values": outcome.trial.values,
            "command": outcome.trial.command,
            "error": outcome.error,
        }
        for outcome in ranked
    ]
    states = {state: sum(o.state == state for o in outcomes) for state in ("finished", "stopped", "failed")}
    about = {"scenario": options.scenario, "recipe": options.extended, "metric": job.plan.metric, "goal": job.plan.goal}
    return {"sweep": str(options.out), **about, "scheduler": job.plan.scheduler.kind, **states, "trials": rows}


def begin(options: SweepOptions) -> None:
    """Make the folder, or see that it is of this very plan, scenario and recipe."""
    check_folder(options)
    made, of = options.out / PLAN, options.out / OF
    if made.is_file():
        return
    options.out.mkdir(parents=True, exist_ok=True)
    of.write_text(json.dumps(_about(options)))
    made.write_text(options.space.read_text())


def check_folder(options: SweepOptions) -> None:
    """Raise `UserError` where the folder has another sweep than this one, or one that is not to be resumed."""
    made, of, about = options.out / PLAN, options.out / OF, _about(options)
    if made.is_file():
        if not options.resume:
            raise UserError(f"{options.out} has a sweep already; go on with --resume, or name another --out.")
        if made.read_text() != options.space.read_text():
            raise UserError(f"{options.out} was begun with another plan than {options.space.name}; name its plan.toml.")
        if of.is_file() and (then := json.loads(of.read_text())) != about:
            begun = " and ".join(f"{key} {name!r}" for key, name in then.items())
            raise UserError(f"{options.out} was begun with {begun}; name these, or another --out.")
    elif (options.out / "trials").exists():
        raise UserError(f"{options.out} has trials but no plan.toml, so whose they are is unknown; name another --out.")


def _about(options: SweepOptions) -> dict[str, str]:
    return {"scenario": options.scenario, "recipe": options.extended}


@contextmanager
def _watched(job: SweepJob, on_steps: Callable[[int, int], object]) -> Iterator[None]:
    """Tell how far the trials are, while the block runs."""
    ended = Event()

    def watch() -> None:
        while not ended.wait(LOOK_S):
            on_steps(_steps(job), job.last_step * len(job.trials))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        on_steps(_steps(job), job.last_step * len(job.trials))


def _steps(job: SweepJob) -> int:
    return sum(int(float(last_row(trial.folder).get("steps", 0))) for trial in job.trials)


def plan_of(folder: Path) -> Path:
    """Plan of a sweep that goes on; raises `UserError` where the folder has none."""
    if not (plan := folder / PLAN).is_file():
        raise UserError(f"{folder} has no sweep: there is no plan.toml; name the folder of `robomarl sweep --out`.")
    return plan
