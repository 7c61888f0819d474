"""Run folders: they explain themselves, refuse to be overwritten, and go on bit by bit where they stopped."""

import csv
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.config import UserError
from robomarl.sim.scenario import load_scenario
from robomarl.train.checkpoint import load_policy, load_run
from robomarl.train.config import NetworkConfig, TrainConfig
from robomarl.train.runner import RunOptions, guard_nan, train_run

TINY = TrainConfig(
    scenario="swap_4",
    num_envs=4,
    unroll=2,
    minibatches=2,
    epochs=1,
    total_steps=4 * 2 * 4 * 4,
    network=NetworkConfig((8,), (8,)),
)


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


def test_nan_stops_the_run_and_names_the_term(tmp_path: Path) -> None:
    """One sentence with the run, the metric and the mend."""
    with pytest.raises(UserError, match=r"loss/value became nan.*learning_rate"):
        guard_nan({"reward": 1.0, "loss/value": float("nan")}, tmp_path)


def test_ctrl_c_keeps_a_checkpoint_that_resumes(tmp_path: Path) -> None:
    """A real process, a real SIGINT in the middle of training: exit, a sentence, a checkpoint that loads."""
    out = tmp_path / "run"
    recipe = tmp_path / "tiny.toml"
    recipe.write_text("num_envs = 4\nunroll = 2\nminibatches = 2\nepochs = 1\ntotal_steps = 100000000\n")
    command = [
        sys.executable,
        "-m",
        "robomarl.cli",
        "train",
        "swap_4",
        "--recipe",
        str(recipe),
        "--out",
        str(out),
        "--quiet",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    deadline = time.monotonic() + 240
    while len(_rows(out)) < 3 if (out / "metrics.csv").is_file() else True:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=240)
    assert "--resume" in output and process.returncode == 0
    assert int(load_run(out, "checkpoint.npz").state.steps) == int(float(_rows(out)[-1]["steps"]))
    assert json.loads((out / "run.json").read_text())["seed"] == 0
