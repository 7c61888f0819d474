"""Recipes of version 1: those in `old/` were taken from the history of this repository, as they were shipped."""

import json
import math
import tomllib
from pathlib import Path

import pytest

from robomarl.core.config import UserError, to_dict
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import TrainConfig, load_recipe, read_recipe, recipe_names, recipes_dir
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.run_folder import load_recipe_of, recipe_of
from robomarl.lab.train.stages.read import load_plan
from robomarl.lab.train.stages.train import create_staged, read_staged
from robomarl.lab.train.stages.versions import renewed

OLD = Path(__file__).parent / "old"
PERIOD_S = 0.04  # of soccer


def test_a_discount_is_a_time_constant_at_the_rate_of_its_scenario():
    config, _ = load_recipe(str(OLD / "soccer_2v2.toml"))
    assert config.version == 2
    assert config.gamma_lambda(PERIOD_S) == pytest.approx((0.995, 0.95))  # the second was the default then
    assert config.self_play.scripts == ("chaser", "keeper")  # so were these, and the file means them


def test_stages_of_version_1_are_read():
    plan = load_plan(str(OLD / "soccer_3v3.toml"))
    assert plan is not None
    found = {stage.name: stage.config.gamma_lambda(PERIOD_S) for stage in plan.stages}
    assert found["three"] == pytest.approx((0.995, 0.95), rel=1e-3)
    assert found["three_open"] == pytest.approx((0.995, 0.97), rel=1e-3)
    assert all(stage.config.self_play.scripts == ("keeper",) for stage in plan.stages)


def written(folder: Path, text: str) -> str:
    (folder / "mine.toml").write_text(text)
    return str(folder / "mine.toml")


def test_a_recipe_says_what_is_other_than_in_the_one_that_it_extends(tmp_path: Path):
    base, _ = load_recipe("swap_4")
    for version in ("", "version = 1\n"):
        mine, _ = load_recipe(written(tmp_path, f'extends = "swap_4"\n{version}discount = 0.98\n'))
        assert mine.gamma_lambda(0.02)[0] == pytest.approx(0.98)
        assert (mine.credit_s, mine.self_play) == (base.credit_s, base.self_play)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version = 1\ndiscount = 1.0", "mine.toml: discount = 1.0 of version 1 has no time constant"),
        ("version = 1\ngae_lambda = 'x'", "gae_lambda = 'x' of version 1 has no time constant, .*write credit_s"),
        ("version = 1\ndiscount = 0.9\nscenario = 'nothing'", "Unknown scenario 'nothing'"),
        ("version = 2\ndiscount = 0.9", "mine.toml: unknown key 'discount'"),
        ("version = 3", "mine.toml: version = 3 is newer than 2, .* update robomarl"),
        (
            "version = 1\n[[stage]]\nname = 'a'\nsteps = 1\ntries = 3",
            r"stage\[0\]\.tries = 3 is of version 1, .* `--seeds`",
        ),
        ("version = 1\nstage = [3]", "stage must be tables"),
    ],
)
def test_what_no_recipe_of_today_says_is_refused_with_the_mend(tmp_path: Path, text: str, said: str):
    with pytest.raises(UserError, match=said):
        load_plan(written(tmp_path, text))


def test_run_folders_and_kept_plans_of_version_1_are_read(tmp_path: Path):
    scenario = load_scenario("swap_4")
    kept = to_dict(TrainConfig()) | {"version": 1, "discount": 0.97, "gae_lambda": 0.9}
    del kept["value_horizon_s"], kept["credit_s"]
    assert recipe_of(kept, scenario, "config.json").gamma_lambda(scenario.period_s) == pytest.approx((0.97, 0.9))
    for name, content in (
        ("config", kept),
        ("scenario", to_dict(scenario) | {"version": 1}),
        ("run", {"seed": 0, "commit": "", "versions": {}}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert load_recipe_of(tmp_path)[0].value_horizon_s == pytest.approx(-0.02 / math.log(0.97))


def test_a_plan_that_was_kept_in_version_1_goes_on(tmp_path: Path):
    plan = load_plan("soccer_3v3")
    assert plan is not None
    kept = create_staged(tmp_path / "run", plan, RunOptions(tmp_path / "run", 0))
    file = tmp_path / "run" / "recipe.json"
    file.write_text(file.read_text().replace('"version": 2', '"version": 1'))
    assert read_staged(tmp_path / "run").stages == kept.stages


def test_recipes_that_ship_are_of_the_newest_version():
    for name in recipe_names():
        own = tomllib.loads((recipes_dir() / f"{name}.toml").read_text())
        assert own.get("version", 2) == 2
        assert read_recipe(name)[0]["version"] == 2
        assert renewed(own, {}, name) == own
