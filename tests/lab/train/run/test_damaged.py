"""Run folders that are not whole: killed, copied by halves, edited. Each is one sentence, and export writes nothing."""

import json
import shutil
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.front import cli
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import init_state, training_env
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.run.run_folder import create_run, load_run
from robomarl.lab.train.run.storage import load_checkpoints, save_arrays, save_state


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with the state of before the first update."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    config = TrainConfig(scenario="swap_2", num_envs=8, minibatches=1, network=NetworkConfig((8,), (8,)))
    scenario = load_scenario("swap_2")
    create_run(folder, config, scenario, 0)
    start = jax.jit(partial(init_state, config, training_env(config, scenario)))
    save_state(folder / "checkpoint.npz", start(jax.random.key(0)))
    return folder


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


def refused(run: Path, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", str(run), str(run.parent / "bundle")]) == 1
    shown = capsys.readouterr().err
    assert said in shown and shown.count("\n") == 1 and "did not foresee" not in shown, shown
    assert not (run.parent / "bundle").exists()


def test_a_run_that_was_stopped_before_its_first_update_has_nothing_to_export(
    run: Path, capsys: pytest.CaptureFixture[str]
):
    refused(run, "run: was stopped before its first update: there is nothing to export; train longer.", capsys)


@pytest.mark.parametrize("name", ["config.json", "scenario.json", "run.json"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "can't be read"),
        (b"{", "can't be read"),
        (b"\xff\xfe", "can't be read"),
        (b"[]", "is no table of keys"),
        (b"3", "is no table of keys"),
        (b"[" * 100_000, "can't be read"),
        (b"{}", ""),
        (b'{"version": 99, "scenario": "swap_2", "seed": "x"}', ""),
    ],
)
def test_a_file_that_is_not_whole_is_named(
    run: Path, name: str, content: bytes, said: str, capsys: pytest.CaptureFixture[str]
):
    (run / name).write_bytes(content)
    refused(run, said, capsys)


@pytest.mark.parametrize("name", ["config.json", "scenario.json", "run.json", "checkpoint.npz"])
def test_a_file_that_is_gone_is_named(run: Path, name: str, capsys: pytest.CaptureFixture[str]):
    (run / name).unlink()
    refused(run, name, capsys)


@pytest.mark.parametrize("key", ["seed", "commit", "versions"])
def test_a_key_of_run_json_that_is_gone_is_named(run: Path, key: str, capsys: pytest.CaptureFixture[str]):
    about = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({k: v for k, v in about.items() if k != key}))
    refused(run, f"run.json: {key} is missing or of another type", capsys)


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.99])
@pytest.mark.parametrize("name", ["checkpoint.npz", "best.npz"])
def test_a_checkpoint_that_was_cut_off_is_no_whole_one(
    run: Path, name: str, kept: float, capsys: pytest.CaptureFixture[str]
):
    data = (run / "checkpoint.npz").read_bytes()
    (run / name).write_bytes(data[: int(len(data) * kept) if isinstance(kept, float) else kept])
    refused(run, f"{name}: is no whole checkpoint", capsys)


@pytest.mark.parametrize("seed", range(4))
def test_a_checkpoint_with_bytes_of_another_file_is_no_whole_one(run: Path, seed: int):
    data = bytearray((run / "checkpoint.npz").read_bytes())
    draw = np.random.default_rng(seed)
    start = int(draw.integers(0, len(data) - 400))
    data[start : start + 400] = draw.bytes(400)
    (run / "checkpoint.npz").write_bytes(data)
    with pytest.raises(UserError, match=r"checkpoint\.npz"):
        load_run(run)


def test_a_checkpoint_of_another_run_is_named(run: Path):
    with np.load(run / "checkpoint.npz") as data:
        arrays = {name: data[name] for name in data.files}
    save_arrays(run / "checkpoint.npz", {name: arrays[name] for name in list(arrays)[:-1]})
    with pytest.raises(UserError, match="holds .* arrays, not .*: it is of another version"):
        load_run(run)
    largest = max(arrays, key=lambda name: arrays[name].size)
    save_arrays(run / "checkpoint.npz", {**arrays, largest: arrays[largest][..., :-1]})
    with pytest.raises(UserError, match=r"is of shape .*; it is of another run"):
        load_run(run)


def test_a_resumed_run_says_which_state_is_whole(run: Path):
    shutil.copy(run / "checkpoint.npz", run / "checkpoint.before.npz")
    (run / "checkpoint.npz").write_bytes(b"PK")
    config, scenario = TrainConfig(scenario="swap_2", num_envs=8, minibatches=1), load_scenario("swap_2")
    with pytest.raises(UserError, match=r"remove it, checkpoint\.before\.npz is the state of before"):
        load_checkpoints([run], config, training_env(config, scenario))


@pytest.mark.parametrize("text", ["", "steps,reward\n", "junk\n\x00\n", "steps,reward\n1,"])
def test_metrics_that_are_not_whole_hurt_nobody(run: Path, text: str, capsys: pytest.CaptureFixture[str]):
    (run / "metrics.csv").write_text(text)
    assert cli.main(["runs", str(run)]) == 0
    assert "Traceback" not in capsys.readouterr().err
