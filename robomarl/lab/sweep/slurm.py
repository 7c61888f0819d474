"""Trials as jobs of Slurm, by `submitit`: one job a trial, begun again from its checkpoint when it is preempted."""

from pathlib import Path

import submitit

from robomarl.core.config import UserError
from robomarl.lab.sweep.trial import SweepTrial, TrialReport, train_trial
from robomarl.lab.sweep.tuned import SweepJob, TrialOutcome

SLURM = "slurm"
JOB_MINUTES, JOB_GB = 24 * 60, 2
"""Time and memory of a job."""


class SlurmJob(submitit.helpers.Checkpointable):
    """One trial as a job; the scheduler that ends it early queues it again."""

    def __call__(self, trial: SweepTrial) -> TrialReport:
        """Train."""
        return train_trial(trial, lambda _: None)


def run_on_slurm(job: SweepJob, workers: int, cluster: str | None = None) -> list[TrialOutcome]:
    """Train all trials as jobs of one array; returns their outcomes by number.

    Args:
        job: the trials; without a scheduler, for jobs do not hear of each other.
        workers: jobs at a time; 0: as many as Slurm gives.
        cluster: submitit's name of the executor; None: Slurm.

    Raises:
        UserError: the plan has a scheduler, or there is no Slurm here.
    """
    jobs = submit_trials(job, workers, cluster)
    return [_outcome(trial, one) for trial, one in zip(job.trials, jobs, strict=True)]


def submit_trials(job: SweepJob, workers: int, cluster: str | None = None) -> "list[submitit.Job[TrialReport]]":
    """Send all trials as one array of jobs; see `run_on_slurm`."""
    if job.plan.scheduler.kind != "none":
        raise UserError(f"--on slurm has no scheduler {job.plan.scheduler.kind!r}; leave it out, or use ray://.")
    executor = _executor(job.out / "slurm", cluster)
    executor.update_parameters(timeout_min=JOB_MINUTES, name="robomarl_sweep", cpus_per_task=1, mem_gb=JOB_GB)
    if workers and cluster is None:
        executor.update_parameters(slurm_array_parallelism=workers)
    return executor.map_array(SlurmJob(), job.trials)


def _executor(folder: Path, cluster: str | None) -> submitit.AutoExecutor:
    try:
        return submitit.AutoExecutor(folder, cluster=cluster or "slurm")
    except RuntimeError:
        raise UserError("--on slurm: there is no sbatch here; call it on a login node of the cluster.") from None


def _outcome(trial: SweepTrial, job: "submitit.Job[TrialReport]") -> TrialOutcome:
    error = job.exception()
    if error is not None:
        return TrialOutcome(trial, TrialReport(0, float("nan")), "failed", str(error).strip().splitlines()[-1])
    return TrialOutcome(trial, job.result(), "finished")
