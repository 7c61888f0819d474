"""Run folders: they explain themselves, refuse to be overwritten, and go on bit by bit where they stopped."""

import csv
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Literal

import jax
import numpy as np
import pytest

from benchmarks.training.kills import TIMEOUT_S, metrics, train, train_with_kills, write_recipe
from robomarl.core.config import UserError
from robomarl.front.cli.train import Args, choose
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.run import runner
from robomarl.lab.train.run.best_policy import BestPolicyKeeper
from robomarl.lab.train.run.logs import kept_lines
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.run_folder import load_policy, load_run
from robomarl.lab.train.run.runner import train_run

TINY = TrainConfig(
    scenario="swap_4",
    num_envs=4,
    unroll=2,
    minibatches=2,
    epochs=1,
    total_steps=4 * 2 * 4 * 4,
    network=NetworkConfig((8,), (8,)),
)

PER_UPDATE = 4 * 2 * 4
"""Agent-steps."""


def _options(out: Path, **more) -> RunOptions:
    return RunOptions(out, quiet=True, evaluations=0, **more)


def _rows(out: Path) -> list[dict[str, str]]:
    with (out / "metrics.csv").open(newline="") as stream:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(stream)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four updates without a break."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    train_run(TINY, load_scenario("swap_4"), _options(out))
    return out


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("swap_4", "--init swap_4: .* should have shape"),
        ("nowhere", "nowhere"),
        ("lift_3", "--init lift_3: it is a law with gains and has no network"),
    ],
)
def test_what_can_not_be_started_from_leaves_no_run_folder(source: str, said: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(UserError, match=said):
        train_run(TINY, load_scenario("swap_4"), _options(out, init=(source,)))
    assert not out.exists()


def test_run_folder_explains_itself(whole: Path) -> None:
    """Recipe, scenario, seed, commit, versions, metrics with every reward term, TensorBoard, checkpoint."""
    run = load_run(whole)
    assert run.config == TINY
    assert run.scenario == load_scenario("swap_4")
    assert {"jax", "mujoco", "brax"} <= run.versions.keys()
    rows = _rows(whole)
    assert len(rows) == 4
    assert {f"reward/{name}" for name in run.env.weights} <= rows[0].keys()
    assert list((whole / "tb").iterdir())


def test_existing_run_folder_is_refused_with_the_mend(whole: Path) -> None:
    """One sentence that names --out and says --resume."""
    with pytest.raises(UserError, match=r"--out .*whole.*--resume"):
        train_run(TINY, load_scenario("swap_4"), _options(whole))


def test_resumed_run_is_bit_identical(whole: Path, tmp_path: Path) -> None:
    """Two updates, a new start from the checkpoint, two more: the same metrics and the same state, bit by bit."""
    out = tmp_path / "parts"
    half = dataclasses.replace(TINY, total_steps=TINY.total_steps)
    train_run(half, load_scenario("swap_4"), _options(out, minutes=0))  # one update
    train_run(half, load_scenario("swap_4"), _options(out, minutes=0, resume=True))
    train_run(half, load_scenario("swap_4"), _options(out, resume=True))
    assert _rows(out) == _rows(whole)
    with np.load(out / "checkpoint.npz") as a, np.load(whole / "checkpoint.npz") as b:
        assert a.files == b.files
        assert all(a[name].tobytes() == b[name].tobytes() for name in a.files)


def judging(judge: Callable[[int], dict[str, float]]) -> Callable[..., "Future[dict[str, float]]"]:
    """Evaluates after every update, with figures of `judge(steps)`."""
    return lambda _, worker, state, steps: worker.submit(judge, steps)


def test_training_goes_on_while_a_policy_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge waits for the last update; all rows are logged all the same, each with its own figure, in order."""
    updated = threading.Semaphore(0)

    def judge(steps: int) -> dict[str, float]:
        done = steps > PER_UPDATE or all(updated.acquire(timeout=60) for _ in range(4))
        return {"eval_success": steps / 1e6 if done else -1.0}

    monkeypatch.setattr(BestPolicyKeeper, "submit", judging(judge))
    out = tmp_path / "run"
    train_run(TINY, load_scenario("swap_4"), _options(out, on_update=lambda *_: updated.release()))
    assert [float(row["eval_success"]) for row in _rows(out)] == [(1 + i) * PER_UPDATE / 1e6 for i in range(4)]


def test_a_judge_that_fails_ends_the_run_with_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(steps: int) -> dict[str, float]:
        raise UserError("the model has no name")

    monkeypatch.setattr(BestPolicyKeeper, "submit", judging(judge))
    with pytest.raises(UserError, match="the model has no name"):
        train_run(TINY, load_scenario("swap_4"), _options(tmp_path / "run"))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["shac", "reppo"])
def test_other_learners_resume_bit_by_bit_too(algorithm: Literal["shac", "reppo"], tmp_path: Path) -> None:
    """And what it leaves is a policy, which another way to learn goes on from."""
    config = dataclasses.replace(TINY, algorithm=algorithm)
    train_run(config, load_scenario("swap_4"), _options(tmp_path / "whole"))
    train_run(config, load_scenario("swap_4"), _options(tmp_path / "parts", minutes=0))
    train_run(config, load_scenario("swap_4"), _options(tmp_path / "parts", resume=True))
    assert _rows(tmp_path / "parts") == _rows(tmp_path / "whole")
    policy = load_policy(tmp_path / "parts")
    assert np.isfinite(policy((), np.zeros((4, policy.observation.size), np.float32))[1]).all()
    train_run(TINY, load_scenario("swap_4"), _options(tmp_path / "on", minutes=0, init=(str(tmp_path / "parts"),)))
    assert float(load_run(tmp_path / "on").state.goes_on) == 1


@pytest.mark.slow
def test_several_seeds_at_once_equal_the_seeds_one_by_one(whole: Path, tmp_path: Path) -> None:
    """Seed 0 of a vmapped pair trains like seed 0 alone (within float rounding); seed 1 differs."""
    pair = tmp_path / "pair"
    train_run(TINY, load_scenario("swap_4"), _options(pair, seeds=2))
    alone, first, second = (load_run(f).state.params["actor"] for f in (whole, pair / "seed_0", pair / "seed_1"))
    leaves = [jax.tree.leaves(p) for p in (alone, first, second)]
    for a, b in zip(leaves[0], leaves[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)
    assert any(np.abs(a - c).max() > 1e-3 for a, c in zip(leaves[0], leaves[2], strict=True))


def test_run_policy_is_within_the_limits_and_pure(whole: Path) -> None:
    """A run's policy gives the same action for the same observation, within the action's range."""
    policy = load_policy(whole)
    obs = np.random.default_rng(0).normal(size=(3, 4, policy.observation.size)).astype(np.float32)
    _, first = policy(policy.init((3, 4)), obs)
    _, again = policy(policy.init((3, 4)), obs)
    np.testing.assert_array_equal(first, again)
    assert np.all(first >= policy.action.low) and np.all(first <= policy.action.high)


def test_nan_stops_the_run_names_the_term_and_keeps_its_inputs(tmp_path: Path) -> None:
    """A reward that overflows makes real infinities and NaNs: traced to that term, and what made them is kept."""
    out = tmp_path / "run"
    config = dataclasses.replace(TINY, weights={"smooth": -1.6e40})
    with pytest.raises(UserError, match=r"in update 1, first in reward/smooth; .*nan/.*learning_rate"):
        train_run(config, load_scenario("swap_4"), _options(out))
    with np.load(out / "nan" / "inputs.npz") as inputs:
        assert str(inputs["term"]) == "reward/smooth"
        assert np.isfinite(inputs["rollout.obs"]).all() and inputs["rollout.obs"].shape[:3] == (2, 4, 4)
        assert not np.isfinite(inputs["reward/smooth"]).all() and not np.isfinite(inputs["batch.target"]).all()
    with np.load(out / "nan" / "before.npz") as before, np.load(out / "checkpoint.npz") as good:
        assert all(before[name].tobytes() == good[name].tobytes() for name in good.files)
    assert all(np.isfinite(p).all() for p in jax.tree.leaves(load_run(out, "checkpoint.npz").state.params))


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_run_is_bit_identical(kills: int, tmp_path: Path) -> None:
    """Real processes, real SIGKILLs at random rows: the same metrics as without."""
    rows = 60
    recipe = write_recipe(tmp_path / "tiny.toml", rows)
    whole = train(recipe, tmp_path / "whole")
    fell = train_with_kills(recipe, tmp_path / "killed", rows, kills, seed=4)
    assert whole.wait(TIMEOUT_S) == 0
    assert len(fell) == kills and max(fell) > 0 and len(metrics(tmp_path / "whole")) == rows
    assert metrics(tmp_path / "killed") == metrics(tmp_path / "whole")


@pytest.mark.slow
def test_seeds_killed_between_their_checkpoints_start_from_the_same_step(tmp_path: Path) -> None:
    """Seed 0 has saved update 2, seed 1 has not yet: both start from update 1, and end as if nothing had happened."""
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    train_run(TINY, load_scenario("swap_4"), _options(calm, seeds=2))
    train_run(TINY, load_scenario("swap_4"), _options(killed, seeds=2, minutes=0, save_every_s=0.0))
    for name in ("checkpoint.npz", "checkpoint.before.npz"):
        assert (killed / "seed_0" / name).is_file()
    (killed / "seed_1" / "checkpoint.before.npz").replace(killed / "seed_1" / "checkpoint.npz")
    train_run(TINY, load_scenario("swap_4"), _options(killed, seeds=2, resume=True))
    for seed in ("seed_0", "seed_1"):
        assert _rows(killed / seed) == _rows(calm / seed)


def test_resume_goes_on_to_the_steps_that_are_asked_for(whole: Path, tmp_path: Path) -> None:
    """A finished run says so; with more --steps it trains on, and its recipe says how far."""
    out = tmp_path / "copy"
    shutil.copytree(whole, out)
    with pytest.raises(UserError, match=r"has all of its 128 agent-steps; add --steps"):
        train_run(TINY, load_scenario("swap_4"), _options(out, resume=True))
    rows = train_run(TINY, load_scenario("swap_4"), _options(out, resume=True, steps=6 * 32))
    assert (rows[0]["update"], rows[0]["steps"], len(_rows(out))) == (6, 192, 6)
    assert load_run(out).config.total_steps == 192


def test_a_run_has_one_process_at_a_time_and_a_refused_one_changes_nothing(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(whole, out)
    before = {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}
    hold = f"import fcntl, os, sys; fcntl.flock(os.open({str(out)!r}, os.O_RDONLY), fcntl.LOCK_EX); print(); input()"
    command = [sys.executable, "-u", "-c", hold]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(UserError, match="another process is training there"):
            train_run(TINY, load_scenario("swap_4"), _options(out, resume=True, steps=6 * 32))
        other.kill()
    with pytest.raises(UserError, match="has all of its 64 agent-steps"):
        train_run(TINY, load_scenario("swap_4"), _options(out, resume=True, steps=64))
    assert before == {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}
    train_run(TINY, load_scenario("swap_4"), _options(out, resume=True, steps=5 * 32))


def test_a_run_that_fails_before_its_first_checkpoint_leaves_no_folder_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(runner, "check_roles", lambda *_: (_ for _ in ()).throw(UserError("no such role")))
        with pytest.raises(UserError, match="no such role"):
            train_run(TINY, load_scenario("swap_4"), _options(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_run_goes_on_where_the_file_of_its_scenario_is_gone(whole: Path, tmp_path: Path) -> None:
    """Recipe, scenario and seed are in the folder; `train --resume` needs no word but its name."""
    out = tmp_path / "copy"
    shutil.copytree(whole, out)
    recipe = json.loads((out / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**recipe, "scenario": "gone.toml"}))
    _, scenario, seed = choose(Args(resume=True, out=out))
    assert (scenario, seed) == (load_scenario("swap_4"), 0)


def test_a_metrics_line_that_a_kill_cut_short_is_dropped(tmp_path: Path) -> None:
    """The cut number looks like a smaller one; rows after the checkpoint go as well."""
    file = tmp_path / "metrics.csv"
    file.write_text("update,steps\r\n1,100\r\n2,200\r\n3,300\r\n4,4")
    assert kept_lines(file, 200) == ["update,steps\r\n", "1,100\r\n", "2,200\r\n"]


@pytest.mark.slow
def test_ctrl_c_keeps_a_checkpoint_that_resumes(tmp_path: Path) -> None:
    """A real process, a real SIGINT in the middle of training: exit, a sentence, a checkpoint that loads."""
    out = tmp_path / "run"
    recipe = tmp_path / "tiny.toml"
    recipe.write_text("num_envs = 4\nunroll = 2\nminibatches = 2\nepochs = 1\ntotal_steps = 100000000\n")
    command = [
        sys.executable,
        "-m",
        "robomarl",
        "train",
        "swap_4",
        "--recipe",
        str(recipe),
        "--out",
        str(out),
        "--quiet",
        "--json",
        str(tmp_path / "figures.json"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    deadline = time.monotonic() + 240
    while len(_rows(out)) < 3 if (out / "metrics.csv").is_file() else True:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert "--resume" in output and process.returncode == 130
    assert json.loads((tmp_path / "figures.json").read_text())["interrupted"] == 1.0
    assert int(load_run(out, "checkpoint.npz").state.steps) == int(float(_rows(out)[-1]["steps"]))
    assert json.loads((out / "run.json").read_text())["seed"] == 0
