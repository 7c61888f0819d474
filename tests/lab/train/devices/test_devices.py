"""Environments over four devices: the metrics of one, no waiting inside of loops, and errors in one sentence."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.front.cli.train import Args, check_parts
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.devices import memory
from robomarl.lab.train.devices.across import Devices
from robomarl.lab.train.devices.divide import check_devices
from robomarl.lab.train.state import PlayAndLearn

CONFIG = TrainConfig(num_envs=16, minibatches=2)


def on_four(out: Path, *what: str) -> dict:
    """Call functions of `on_four.py` in a process with four devices."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    words = [sys.executable, "-m", "tests.lab.train.devices.on_four", str(out / "found.json"), *what]
    subprocess.run(words, env=environment, check=True, timeout=900)
    return json.loads((out / "found.json").read_text())


def test_sums_are_of_all_devices_and_no_loop_waits_for_them(tmp_path: Path) -> None:
    """The same loop as a sharded `vmap` has an all-reduce in its condition, which the check finds."""
    found = on_four(tmp_path, "sums", "loops")
    np.testing.assert_allclose(found["sums"]["four"], found["sums"]["one"], rtol=1e-6)
    divided, sharded = found["loops"]["shard_map"], found["loops"]["vmap"]
    assert divided["loops"] >= 1 and not divided["collectives"]
    assert sharded["loops"] >= 1 and any("all-reduce" in line for line in sharded["collectives"])


@pytest.mark.slow
def test_no_loop_of_an_update_behind_the_filter_waits_for_other_devices(tmp_path: Path) -> None:
    """All programs of an update are read; the rollout as a sharded `vmap` fails the same check."""
    found = on_four(tmp_path, "filtered")["filtered"]
    assert all(part["loops"] for part in found.values())
    assert {name for name, part in found.items() if part["collectives"]} == {"vmap"}


@pytest.mark.slow
def test_metrics_of_four_devices_are_those_of_one(tmp_path: Path) -> None:
    """Twenty updates of two seeds; and a run that four devices go on with, which one began."""
    found = on_four(tmp_path, "trained")["trained"]
    one, four, other = found["rows"].values()
    assert len(one) == len(four) == len(other) == 20
    for wanted, *others in zip(one, four, other, strict=True):
        for seeds in others:
            for mine, its in zip(seeds, wanted, strict=True):
                assert mine.keys() == its.keys()
                np.testing.assert_allclose([*mine.values()], [*its.values()], rtol=1e-5, atol=1e-5)
    for name in ("four", "other"):
        np.testing.assert_allclose(found["parameters"][name], found["parameters"]["one"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("config", "scenario", "count", "said"),
    [
        (CONFIG, "swap_4", 4, "--devices 4: JAX has 1 here; on a CPU, XLA_FLAGS=--xla_force_host"),
        (CONFIG, "swap_4", 3, "--devices 3 must divide num_envs = 16"),
        (replace(CONFIG, minibatches=16), "swap_4", 2, "--devices 2 must divide num_envs / minibatches = 1"),
        (replace(CONFIG, algorithm="reppo"), "swap_4", 2, "algorithm = 'reppo'; only mappo and ippo of teams"),
        (CONFIG, "soccer_2v2", 2, "soccer_2v2 is a game; only mappo and ippo of teams"),
    ],
)
def test_what_can_not_be_divided_is_said(config: TrainConfig, scenario: str, count: int, said: str) -> None:
    """Each in one sentence, with the mend."""
    with pytest.raises(UserError) as error:
        check_devices(config, load_scenario(scenario), Devices(count))
    assert said in str(error.value)


def test_only_training_in_simulation_is_divided() -> None:
    """A profile is of one device."""
    with pytest.raises(UserError, match="--devices 2: only training in simulation"):
        check_parts(Args("swap_4", devices=2, profile=True), None)


def test_seeds_that_do_not_fit_into_memory_are_refused_before_they_train() -> None:
    """The memory is that of the largest compiled program, and the sentence names a number of seeds that fits."""
    x = jax.ShapeDtypeStruct((4, 1000), np.float32)
    small, large = (jax.jit(f).lower(x).compile() for f in (lambda x: x.sum(), lambda x: x + 1.0))
    update = PlayAndLearn(small, large, small)
    assert memory.needed_bytes(update) >= 2 * 4 * 4 * 1000
    need = memory.needed_bytes(update)
    memory.check_memory(update, 4, need)
    memory.check_memory(update, 1, need // 2)
    with pytest.raises(UserError, match=r"--seeds 4 need about .* GB side by side, .*; train 2 at a time"):
        memory.check_memory(update, 4, need // 2)
    assert memory.device_bytes() > 1e8
