"""A plan beside its recipe and scenario: one sentence for what no trial can be compared by, or does not use."""

from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.sweep.plan_check import OF_UPDATE, check_plan, columns_of
from robomarl.lab.sweep.space import read_plan
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.runner import train_run

SMALL = TrainConfig(num_envs=4, unroll=2, epochs=1, minibatches=1, total_steps=16)


def check(tmp_path: Path, text: str, scenario: str = "swap_2", base: TrainConfig = SMALL) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    plan, combinations = read_plan(file, base)
    check_plan(plan, combinations, base, load_scenario(scenario), file.name)


def told(tmp_path: Path, text: str, scenario: str = "swap_2") -> str:
    with pytest.raises(UserError) as error:
        check(tmp_path, text, scenario)
    assert "\n" not in str(error.value) and str(error.value).startswith("plan.toml: ")
    return str(error.value)


@pytest.mark.slow
def test_the_columns_are_those_of_a_run(tmp_path: Path):
    scenario = load_scenario("swap_2")
    row = train_run(SMALL, scenario, RunOptions(tmp_path / "run", quiet=True, evaluations=0))[0]
    assert {*columns_of(SMALL, scenario)} == row.keys() - {"interrupted", "finished"} > {*OF_UPDATE}


@pytest.mark.parametrize(
    ("metric", "mend"),
    [
        ("no_such_column", "allowed: update, steps, seconds, contact"),
        ("sucess", "did you mean 'success'?"),
        ("reward/arived", "did you mean 'reward/arrived'?"),
        ("eval_success", "is no column that every update has"),
    ],
)
def test_a_metric_that_no_update_has_is_told_with_the_nearest_one(tmp_path: Path, metric: str, mend: str):
    said = told(tmp_path, f"metric = '{metric}'\n[space]\nlearning_rate = [1e-3]\n")
    assert f"metric = {metric!r}" in said and mend in said


def test_the_metric_must_be_one_of_every_algorithm_that_is_tried(tmp_path: Path):
    text = "metric = 'multiplier'\n[space]\nalgorithm = ['reppo', 'mappo']\n"
    assert "metric = 'multiplier' is no column that every update has" in told(tmp_path, text)
    check(tmp_path, text.replace(", 'mappo'", ""))


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("reppo.bins", "algorithm is 'mappo', not reppo"),
        ("search.candidates", "algorithm is 'mappo', not search"),
        ("offline.alpha", "algorithm is 'mappo', not bc or td3_bc or iql"),
        ("imitation.rounds", "it belongs to `robomarl train --imitate`"),
        ("self_play.snapshots", "swap_2 is no game"),
        ("network.heads", "network.encoder is not graph"),
        ("network.gru_size", "network.memory is not gru"),
    ],
)
def test_a_key_that_no_trial_uses_is_told(tmp_path: Path, key: str, why: str):
    assert f"space.{key} changes nothing: {why}" in told(tmp_path, f'[space]\n"{key}" = [2, 4]\n')


def test_a_key_that_some_trials_use_may_stay(tmp_path: Path):
    check(tmp_path, '[space]\n"network.gru_size" = [2, 4]\n"network.memory" = ["none", "gru"]\n')


def test_a_combination_that_does_not_fit_the_scenario_is_told_with_its_words(tmp_path: Path):
    said = told(tmp_path, "[space]\nalgorithm = ['mappo', 'search']\nnum_envs = [32]\n")
    assert 'plan.toml: a trial with algorithm = "search": ' in said
