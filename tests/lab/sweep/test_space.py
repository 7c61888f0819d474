"""The plan of a sweep: combinations by hand, draws within their ends, and one sentence for each mistake."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.lab.sweep.space import read_plan, recipe_lines, with_values
from robomarl.lab.train.config import TrainConfig, load_recipe

BASE = TrainConfig(num_envs=64, minibatches=4)


def plan(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    return file


def test_lists_are_tried_in_all_combinations_in_the_order_of_the_file(tmp_path: Path):
    file = plan(tmp_path, 'trials = 9\n[space]\nminibatches = [2, 4]\n"network.activation" = ["tanh", "elu"]\n')
    _, found = read_plan(file, BASE)
    assert [tuple(values.values()) for values in found] == [(2, "tanh"), (2, "elu"), (4, "tanh"), (4, "elu")]


def test_draws_stay_within_their_ends_and_are_those_of_their_seed(tmp_path: Path):
    drawn = "learning_rate = { log = [1e-4, 1e-2] }\nepochs = { range = [1, 5] }\n"
    text = f"trials = 300\n[space]\n{drawn}unroll = [16, 32]\n"
    _, found = read_plan(plan(tmp_path, text), BASE)
    rates = [math.log10(float(values["learning_rate"])) for values in found]
    assert len(found) == 600 and all(-4 <= rate <= -2 for rate in rates)
    assert abs(sum(rates) / len(rates) + 3) < 0.1  # the logarithm is uniform
    assert {values["epochs"] for values in found} == {1, 2, 3, 4, 5}  # whole numbers stay so
    assert found == read_plan(plan(tmp_path, text), BASE)[1]
    assert found != read_plan(plan(tmp_path, "draw_seed = 1\n" + text), BASE)[1]


def test_the_recipe_of_a_trial_is_read_back_as_it_was_meant(tmp_path: Path):
    values = {"learning_rate": 3e-4, "noise.final_floor_std": 0.05, "network.activation": "elu", "minibatches": 2}
    file = tmp_path / "trial.toml"
    file.write_text(recipe_lines("swap_4", values))
    assert load_recipe(str(file))[0] == with_values(load_recipe("swap_4")[0], values, "plan.toml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trials = 3\n", "[space] is empty"),
        ("[space]\nlearning_rat = [1e-3]\n", "did you mean 'learning_rate'"),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nkind = 'ashe'\n", "scheduler.kind"),
        ("[space]\nlearning_rate = 1e-3\n", "must be a list of values"),
        ("[space]\nlearning_rate = []\n", "must be a list of values"),
        ("[space]\nlearning_rate = { log = [0, 1] }\n", "write it with 0 < low < high"),
        ("[space]\nlearning_rate = { range = [2, 1] }\n", "write it with low < high"),
        ("[space]\nlearning_rate = [-1.0]\n", "learning_rate"),
        ("[space]\nminibatches = [4, 5]\n", "must divide num_envs"),
        ("[space]\nnetwork = ['x']\n", "name a key in it"),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nkeep_one_of = 1\n", "stops no trial"),
        ("[space]\nlearning_rate = [1e-3]\ngoal = 'max'\n", "no key 'goal'"),
        ("goal = 'most'\n[space]\nlearning_rate = [1e-3]\n", "goal"),
        ("[space]\nlearning_rate = [1e-3\n", "not valid TOML"),
        ("seeds = [0, 0]\n[space]\nlearning_rate = [1e-3]\n", "seeds = [0, 0] must name one seed or more, each once"),
        ("seeds = []\n[space]\nlearning_rate = [1e-3]\n", "must name one seed"),
        ("metric = ''\n[space]\nlearning_rate = [1e-3]\n", "metric is empty"),
        ("[space]\nlearning_rate = [1e-3, 1e-3]\n", "has a value twice"),
        ("[space]\nscenario = ['lift_3']\n", "space.scenario is the same in all trials"),
        ("trials = 100000000\n[space]\nlearning_rate = { range = [1e-4, 1e-3] }\n", "these are 100000000 trials"),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nkind = 'pbt'\n", "compares trials, and there is one"),
        ("mode = 'max'\n[space]\nlearning_rate = [1e-3]\n", "unknown key 'mode'; allowed: space, metric, goal"),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nfirst_steps = 9\n", 'is for kind = "asha" or "pbt"'),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nkind = 'pbt'\nkeep_one_of = 4\n", 'is for kind = "asha"'),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nkind = 'asha'\ngrace_period = 9\n", "scheduler.grace_period"),
        ("[space]\nlearning_rate = [1e-3]\n[scheduler]\nkind = 'asha'\nfirst_steps = 0\n", "scheduler.first_steps"),
        ("trials = 0\n[space]\nlearning_rate = [1e-3]\n", "trials"),
        ("steps = -5\n[space]\nlearning_rate = [1e-3]\n", "steps"),
        ("seeds = [-1]\n[space]\nlearning_rate = [1e-3]\n", "seeds"),
        (
            "steps = 4000\n[space]\nlearning_rate = [1e-3, 2e-3]\n[scheduler]\nkind = 'asha'\n",
            "scheduler.first_steps = 500000, and a trial ends after 4000 agent-steps, so asha does nothing",
        ),
    ],
)
def test_a_mistake_is_one_sentence_that_names_file_and_key(tmp_path: Path, text: str, told: str):
    with pytest.raises(UserError) as error:
        read_plan(plan(tmp_path, text), BASE)
    assert told in str(error.value) and str(error.value).startswith("plan.toml")
    assert "\n" not in str(error.value)


def test_a_folder_belongs_to_one_sweep(tmp_path: Path):
    pytest.importorskip("ray")
    from robomarl.lab.sweep.sweep import SweepOptions, begin

    out, file = tmp_path / "out", plan(tmp_path, "[space]\nminibatches = [2]\n")
    first = SweepOptions("swap_4", "", file, out)
    begin(first)
    begin(replace(first, resume=True))
    with pytest.raises(UserError, match="has a sweep already"):
        begin(first)
    with pytest.raises(UserError, match="was begun with scenario 'swap_4' and recipe ''; name these"):
        begin(replace(first, scenario="lift_3", resume=True))
    file.write_text("[space]\nminibatches = [4]\n")
    with pytest.raises(UserError, match="was begun with another plan"):
        begin(replace(first, resume=True))
    (out / "plan.toml").unlink()
    (out / "trials").mkdir()
    with pytest.raises(UserError, match="has trials but no plan.toml"):
        begin(first)
