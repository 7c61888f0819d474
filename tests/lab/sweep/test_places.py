"""Sweeps with population-based training, and as jobs of Slurm: by submitit's local executor, and the batch file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.lab.sweep.slurm import run_on_slurm, submit_trials
from robomarl.lab.sweep.sweep import SweepOptions, job_of
from robomarl.lab.sweep.tuned import SweepJob
from robomarl.lab.train.config import TrainConfig

pytest.importorskip("submitit")

PLAN = """steps = 4096
metric = "reward"
seeds = [0]
[space]
learning_rate = [1e-9, 3e-3]
num_envs = [16]
unroll = [16]
minibatches = [2]
epochs = [1]
"""


def job(folder: Path) -> SweepJob:
    (folder / "plan.toml").write_text(PLAN)
    return job_of(TrainConfig(), SweepOptions("swap_2", "", folder / "plan.toml", folder / "sweep"))


@pytest.mark.slow
def test_jobs_of_slurm_train_their_trials(tmp_path: Path):
    outcomes = run_on_slurm(job(tmp_path), 2, "local")
    assert [o.state for o in outcomes] == ["finished", "finished"], outcomes
    assert all(o.last.ended and o.last.steps >= 4096 for o in outcomes)
    again = run_on_slurm(job(tmp_path), 2, "local")  # nothing is left to train
    assert [o.last for o in again] == [o.last for o in outcomes]


def test_the_batch_file_asks_for_an_array_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("srun", "sbatch"):  # the ends of submitit; it finds Slurm by them
        (tmp_path / name).write_text(f'#!/bin/sh\ncat "$1" > {tmp_path}/sent.sh\necho Submitted batch job 7\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    jobs = submit_trials(job(tmp_path), 3)
    assert [one.job_id for one in jobs] == ["7_0", "7_1"]
    text = (tmp_path / "sent.sh").read_text()
    for line in ("array=0-1%2", "time=1440", "job-name=robomarl_sweep", "signal=USR2@90", "cpus-per-task=1", "mem=2GB"):
        assert f"#SBATCH --{line}" in text, text
    assert "submitit.core._submit" in text


@pytest.mark.slow
def test_pbt_gives_the_worse_trial_the_weights_of_the_better(tmp_path: Path):
    plan = PLAN.replace("4096", "8192").replace("[space]", '[scheduler]\nkind = "pbt"\nfirst_steps = 4096\n[space]')
    (tmp_path / "plan.toml").write_text(plan)
    words = ["sweep", "swap_2", "--space", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "sweep"), "--quiet"]
    out = tmp_path / "figures.json"
    found = subprocess.run(
        [sys.executable, "-m", "robomarl", *words, "--workers", "2", "--json", str(out)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    told = json.loads(out.read_text())
    assert (told["finished"], told["failed"]) == (2, 0), told
    assert all(trial["steps"] >= 8192 for trial in told["trials"])
    assert list((tmp_path / "sweep" / "trials").glob("*_from_*")), "no trial was given the weights of another"
