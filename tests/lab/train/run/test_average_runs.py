"""Means of weights: of actor, critic and statistics, and only of runs that fit."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import jax
import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import init_state, training_env
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.initial.average_runs import averaged
from robomarl.lab.train.run.run_folder import create_run, load_run
from robomarl.lab.train.run.storage import save_checkpoint


@cache
def beginning(scenario: str, width: int) -> tuple[TrainConfig, FlightScenario, Callable]:
    """Recipe, scenario, and the state before the first update, of a key."""
    config = TrainConfig(scenario=scenario, num_envs=2, unroll=2, minibatches=1, network=NetworkConfig((width,), (4,)))
    loaded = load_scenario(scenario)
    return config, loaded, jax.jit(partial(init_state, config, training_env(config, loaded)))


def write_run(folder: Path, seed: int, scenario: str = "goto_2", width: int = 4) -> Path:
    """A run that has not trained yet."""
    config, loaded, start = beginning(scenario, width)
    create_run(folder, config, loaded, seed)
    save_checkpoint(folder, start(jax.random.key(seed)), keep_before=False)
    return folder


def test_every_weight_is_the_mean_of_all_runs(tmp_path: Path):
    folders = [write_run(tmp_path / f"run_{seed}", seed) for seed in range(3)]
    run, *others = (load_run(folder) for folder in folders)
    found = averaged(run, [str(folder) for folder in folders[1:]])
    assert found.averaged == ("run_1", "run_2")
    for name, value in found.weights.items():
        rows = [each.weights[name] for each in (run, *others)]
        np.testing.assert_allclose(value, np.mean(rows, 0), rtol=1e-6, atol=1e-7)
    assert any((a != b).any() for a, b in zip(found.weights.values(), run.weights.values(), strict=True))
    assert averaged(run, []) is run


def test_a_critic_of_another_team_size_is_left_out_and_another_network_is_refused(tmp_path: Path):
    one, larger = write_run(tmp_path / "one", 0), write_run(tmp_path / "larger", 1, "goto_3")
    run, found = load_run(one), averaged(load_run(one), [str(larger)])
    changed = {name for name, value in found.weights.items() if (value != run.weights[name]).any()}
    assert any("actor" in name for name in changed)
    wide = write_run(tmp_path / "wide", 0, width=8)
    with pytest.raises(UserError, match=r"^--average .*wide: .*actor.* should have shape .* the same network"):
        averaged(run, [str(wide)])
