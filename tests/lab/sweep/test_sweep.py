"""Sweeps on real Ray: figures that do not depend on workers, killed workers and drivers, and a page."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.processes import below

pytest.importorskip("ray")

PLAN = """steps = 8192
metric = "reward"
seeds = [0, 1]
[space]
learning_rate = [1e-3, 3e-3]
num_envs = [16]
unroll = [16]
minibatches = [2]
epochs = [1]
"""
PATIENCE_S = 300
ENVIRONMENT = os.environ | {"RAY_worker_niceness": "0"}
"""Of workers that wait for nobody."""


def sweep(folder: Path, *words: str, plan: str = PLAN) -> list[str]:
    folder.mkdir(exist_ok=True)
    file = folder / "plan.toml"
    file.write_text(plan)
    command = [
        sys.executable,
        "-m",
        "robomarl",
        "sweep",
        "swap_2",
        "--space",
        str(file),
        "--out",
        str(folder / "sweep"),
    ]
    return [*command, "--quiet", "--json", str(folder / "figures.json"), *words]


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=2 * PATIENCE_S, env=ENVIRONMENT)


def figures(folder: Path) -> list[dict[str, object]]:
    """All that does not depend on where the folder lies."""
    kept = ("trial", "state", "reward", "steps", "seed", "values")
    found = json.loads((folder / "sweep" / "sweep.json").read_text())["trials"]
    return [{name: row[name] for name in kept} for row in found]


def rows(folder: Path) -> list[list[dict[str, str]]]:
    """Metrics of all trials, but the clock's."""
    found = []
    for file in sorted((folder / "sweep" / "trials").glob("*/metrics.csv")):
        with file.open(newline="") as stream:
            found.append([{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(stream)])
    return found


def wait_for(condition: Callable[[], object]) -> None:
    for _ in range(PATIENCE_S * 10):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come")


def test_a_sweep_trains_each_combination_with_each_seed_and_its_page_has_the_commands(tmp_path: Path):
    plan = PLAN.replace("learning_rate = [1e-3, 3e-3]", "learning_rate = [1e-3]")
    found = run(sweep(tmp_path, "--workers", "2", plan=plan))
    assert found.returncode == 0, found.stderr
    told = json.loads((tmp_path / "figures.json").read_text())
    assert (told["finished"], told["stopped"], told["failed"]) == (2, 0, 0)
    assert sorted(t["seed"] for t in told["trials"]) == [0, 1]
    best = told["trials"][0]
    assert best["reward"] == max(t["reward"] for t in told["trials"])
    assert best["command"] in found.stdout
    page = (tmp_path / "sweep" / "report.html").read_text()
    assert all(t["command"] in page.replace("&#x27;", "'") for t in told["trials"])
    again = run(sweep(tmp_path, plan=plan))
    assert again.returncode == 1 and "go on with --resume" in again.stderr and "Traceback" not in again.stderr
    more = run(sweep(tmp_path, "--resume", plan=plan))  # nothing is left
    assert more.returncode == 0 and figures(tmp_path) == [
        {name: t[name] for name in ("trial", "state", "reward", "steps", "seed", "values")} for t in told["trials"]
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep that nothing disturbed, on one worker."""
    folder = tmp_path_factory.mktemp("whole")
    found = run(sweep(folder, "--workers", "1"))
    assert found.returncode == 0, found.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["worker", "raylet", "driver"])
def test_a_kill_loses_no_finished_trial_and_the_rest_are_equal_in_every_bit(tmp_path: Path, whole: Path, victim: str):
    broken = tmp_path / "broken"
    running = subprocess.Popen(sweep(broken, "--workers", "1"), start_new_session=True, env=ENVIRONMENT)
    wait_for(lambda: [*broken.glob("sweep/trials/0001/metrics.csv")])
    if victim == "driver":
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    else:
        pids = below(running.pid, {"worker": "ray::ImplicitFunc", "raylet": "raylet/raylet"}[victim])
        assert pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        running.wait(PATIENCE_S)
    if running.returncode:
        assert run(sweep(broken, "--resume")).returncode == 0
    assert figures(broken) == figures(whole)
    assert rows(broken) == rows(whole)


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_workers(tmp_path: Path, whole: Path):
    for workers in ("2", "4"):
        folder = tmp_path / workers
        assert run(sweep(folder, "--workers", workers)).returncode == 0
        assert (figures(folder), rows(folder)) == (figures(whole), rows(whole))


@pytest.mark.slow
def test_asha_stops_the_worst_early(tmp_path: Path):
    plan = PLAN.replace("learning_rate = [1e-3, 3e-3]", "learning_rate = [1e-9, 1e-8, 3e-3]")
    plan = plan.replace("[space]", '[scheduler]\nkind = "asha"\nfirst_steps = 4096\nkeep_one_of = 3\n[space]')
    found = run(sweep(tmp_path, "--workers", "2", plan=plan))
    assert found.returncode == 0, found.stderr
    told = json.loads((tmp_path / "figures.json").read_text())
    assert told["stopped"] > 0 and told["finished"] > 0


def test_a_wrong_call_is_one_sentence_before_anything_starts(tmp_path: Path):
    for words, said in (
        (("--workers", "100000"), "GB are free"),
        (("--on", "ray://10.1.2.3:10001"), "RAY_AUTH_MODE=token"),
        (("--on", "cluster"), "is no place"),
    ):
        found = run(sweep(tmp_path / words[1][:3], *words))
        assert found.returncode == 1 and said in found.stderr and found.stderr.count("\n") == 1, found.stderr
        assert not (tmp_path / words[1][:3] / "sweep").exists()  # the mended call needs no other --out


def test_a_wrong_metric_is_told_before_there_is_a_folder_or_a_worker(tmp_path: Path):
    found = run(sweep(tmp_path, plan=PLAN.replace('"reward"', '"rewards"')))
    assert found.returncode == 1 and found.stderr.count("\n") == 1
    assert "plan.toml: metric = 'rewards' is no column that every update has; did you mean 'reward'?" in found.stderr
    assert not (tmp_path / "sweep").exists()
