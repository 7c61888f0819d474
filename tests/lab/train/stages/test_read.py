"""Recipes with stages, as they are read: what each stage takes from where, what ships, and what is refused."""

import dataclasses
import re
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError, build, to_dict
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import recipe_names
from robomarl.lab.train.run.run_folder import recipe_of
from robomarl.lab.train.stages.check import check_plan
from robomarl.lab.train.stages.plan import StagedTraining
from robomarl.lab.train.stages.read import load_plan

TOP = """scenario = "goto_2"
seed = 3
epochs = 1
noise.floor_std = 0.3
"""
FIRST = '[[stage]]\nname = "first"\nsteps = 100\nlearning_rate = 0.002\n'
SECOND = '[[stage]]\nname = "second"\nsteps = 50\ntotal_steps = 400\nnoise.final_floor_std = 0.2\n'


def recipe(folder: Path, text: str, name: str = "mine") -> str:
    file = folder / f"{name}.toml"
    file.write_text(text)
    return str(file)


def plan_of(folder: Path, text: str, scenario: str = "") -> StagedTraining:
    plan = load_plan(recipe(folder, text), scenario)
    assert plan is not None
    return plan


def test_a_stage_has_the_keys_of_the_one_before_and_says_what_is_other(tmp_path: Path):
    text = TOP + FIRST + SECOND + '[[stage]]\nname = "third"\nsteps = 30\nextends = "first"\n'
    plan = plan_of(tmp_path, text)
    first, second, third = (stage.config for stage in plan.stages)
    assert plan.seed == 3 and (first.epochs, second.epochs, third.epochs) == (1, 1, 1)
    assert (first.learning_rate, second.learning_rate) == (0.002, 0.002)
    assert (second.noise.floor_std, second.noise.final_floor_std) == (0.3, 0.2)
    assert third == dataclasses.replace(first, total_steps=30)


def test_schedules_end_with_the_steps_of_a_stage_unless_it_says_another_end(tmp_path: Path):
    plan = plan_of(tmp_path, TOP + FIRST + SECOND + '[[stage]]\nname = "third"\nsteps = 30\n')
    found = [(stage.config.total_steps, stage.config.last_step) for stage in plan.stages]
    assert found == [(100, 100), (400, 50), (30, 30)]


def test_a_stage_starts_from_the_one_before_from_a_mean_from_a_bundle_or_from_nothing(tmp_path: Path):
    starts = ("", 'start = ["first", "second"]', 'start = "swap_4"', 'start = ""')
    more = "".join(f'[[stage]]\nname = "s{i}"\nsteps = 1\n{start}\n' for i, start in enumerate(starts))
    plan = plan_of(tmp_path, TOP + FIRST + SECOND + more)
    wanted = [(), ("first",), ("second",), ("first", "second"), ("swap_4",), ()]
    assert [stage.start for stage in plan.stages] == wanted


def test_stages_of_another_recipe_follow_with_their_own_keys_and_scenario(tmp_path: Path):
    other = recipe(
        tmp_path, 'scenario = "goto_3"\nepochs = 2\n' + SECOND + '[[stage]]\nname = "last"\nsteps = 5\n', "b"
    )
    text = TOP + FIRST + f'[[stage]]\nrecipe = "{other}"\n[[stage]]\nname = "end"\nsteps = 7\nstart = "second"\n'
    stages = plan_of(tmp_path, text, "goto_4").stages
    assert [(s.name, s.start, s.config.scenario, s.config.epochs) for s in stages] == [
        ("first", (), "goto_4", 1),
        ("second", ("first",), "goto_3", 2),
        ("last", ("second",), "goto_3", 2),
        ("end", ("second",), "goto_4", 1),
    ]
    assert stages[-1].config.learning_rate == 0.002, "of the stage before in the same file"


def test_a_recipe_without_stages_has_no_plan_and_a_plan_survives_its_file(tmp_path: Path):
    assert load_plan("swap_4") is None
    plan = plan_of(tmp_path, TOP + FIRST + SECOND + '[bundle]\nactor = ["second", "first"]\nexperts = ["first"]\n')
    assert build(StagedTraining, to_dict(plan), "recipe.json") == plan


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FIRST + FIRST, r"mine\.toml: stage 'first' needs another name: .*not taken"),
        (FIRST.replace("first", "../out"), r"mine\.toml: stage '\.\./out' needs another name"),
        (FIRST.replace("first", "bundle"), r"stage 'bundle' needs another name"),
        ('[[stage]]\nname = "a"\n', r"mine\.toml: key 'stage\[0\]\.steps' is missing"),
        (FIRST + "lerning_rate = 1.0", r"mine\.toml: unknown key 'stage first\.lerning_rate'; did you mean 'learning"),
        (FIRST + "total_steps = 50", r"stage first: 100 agent-steps are more than total_steps = 50"),
        (FIRST + 'extends = "none"', r"stage first extends 'none'; allowed: stages before it \(none yet\)"),
        (FIRST + 'start = "none"', r"stage first starts from 'none', .*; name a stage before it, a bundle, or a run"),
        (FIRST + 'start = ["second"]\n' + SECOND, r"stage first starts from 'second'"),
        (FIRST + '[bundle]\nactor = "second"', r"\[bundle\] is made of 'second', which is no stage; allowed: first"),
        ('[bundle]\nactor = "second"', r"mine\.toml: \[bundle\] is made of stages, and there is none"),
        ("stage = 3", r"mine\.toml: stage must be tables of keys"),
        ('[[stage]]\nrecipe = "swap_4"', r"takes the stages of swap_4\.toml, which has none"),
        (
            '[[stage]]\nrecipe = "soccer_2v2"',
            r"soccer_2v2\.toml: stage\[7\] .*of a file whose stages another one takes",
        ),
        ('[[stage]]\nrecipe = "soccer_3v3"\nsteps = 3', r"stage\[0\] .*has other keys than `start`"),
    ],
)
def test_mistakes_name_file_stage_and_mend(text: str, said: str, tmp_path: Path):
    with pytest.raises(UserError, match=said):
        load_plan(recipe(tmp_path, text))


def test_the_stages_that_the_docs_show_are_read(tmp_path: Path, root: Path):
    (block,) = re.findall(r"```toml\n(scenario.*?)```", (root / "docs" / "training.md").read_text(), re.S)
    plan = plan_of(tmp_path, block)
    assert [(s.name, len(s.start), s.config.filter) for s in plan.stages] == [
        ("first", 0, "off"),
        ("behind_the_filter", 1, "qp"),
        ("last", 2, "off"),
    ]
    check_plan(plan)


def test_the_soccer_recipe_ends_with_what_the_shipped_bundle_records():
    names = [name for name in recipe_names() if name.startswith("soccer")]
    assert names == ["soccer_2v2", "soccer_2v2_eyes", "soccer_3v3"]
    plan, training = load_plan("soccer_2v2"), load_bundle("soccer_2v2").contract.training
    assert plan is not None and plan.bundle is not None
    ours, sealed = plan.stage("wide").config, recipe_of(training.recipe, load_scenario("soccer_2v2"), "bundle.json")
    assert ours.gamma_lambda(0.04) == pytest.approx(sealed.gamma_lambda(0.04), rel=1e-4)
    assert ours.fastest == 5e-3  # it was the top of all recipes
    own = {name: getattr(ours, name) for name in ("value_horizon_s", "credit_s", "stop_after")}
    assert ours == dataclasses.replace(sealed, **own)
    of_three = [stage for stage in plan.stages if stage.config.scenario == "soccer_3v3"]
    assert sum(stage.config.last_step for stage in of_three) == 300_000_000 + 327_942_144 + 5_996_544
    assert of_three[0].start == ("polish",) and plan.stage("polish").start == ("alone", "together")
    assert (plan.bundle.actor, plan.bundle.experts, plan.bundle.team_size) == (
        "wide",
        (("three_wide", "three_wide_slower"),),
        (2, 3),
    )
