"""Trainings of several stages: each goes on from what it says, a stop anywhere changes no bit, a bundle at the end."""

import dataclasses
import json
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest

from benchmarks.training.kills import metrics
from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.front import cli
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import init_state, training_env
from robomarl.lab.train.config import NetworkConfig, TrainConfig
from robomarl.lab.train.initial.start import initial_weights
from robomarl.lab.train.run.options import RunOptions
from robomarl.lab.train.run.run_folder import create_run, load_run
from robomarl.lab.train.run.storage import save_checkpoint
from robomarl.lab.train.stages.plan import BundlePlan, Stage, StagedTraining
from robomarl.lab.train.stages.train import create_staged, options_of, read_staged, train_stages

TINY = TrainConfig(
    scenario="goto_2",
    num_envs=2,
    unroll=2,
    minibatches=1,
    epochs=1,
    total_steps=3 * 8,  # an update has 8
    stop_after=2 * 8,
    network=NetworkConfig((4,), (4,)),
)
STAGES = (Stage("one", TINY), Stage("two", TINY, ("one",)), Stage("both", TINY, ("one", "two")))
NAMES = [stage.name for stage in STAGES]
PLAN = StagedTraining(STAGES, bundle=BundlePlan(("both", "two")))


def options(out: Path, **more) -> RunOptions:
    return RunOptions(out, quiet=True, evaluations=0, **more)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All stages without a break."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    ends = list(train_stages(create_staged(out, PLAN, options(out)), options(out)))
    assert [(end.title, end.is_whole) for end in ends] == [
        ("stage 1 of 3, one", True),
        ("stage 2 of 3, two", True),
        ("stage 3 of 3, both", True),
    ]
    return out


def test_a_stage_stops_after_its_steps_and_its_schedules_do_not(whole: Path):
    for name in NAMES:
        rows = metrics(whole / name)
        assert [float(row["steps"]) for row in rows] == [8, 16]
        floor = TINY.noise.floor_std + (TINY.noise.final_floor_std - TINY.noise.floor_std) * 2 / 3
        assert float(rows[-1]["noise_floor"]) == pytest.approx(floor)


def test_a_stage_starts_from_the_mean_of_those_that_it_names(whole: Path):
    plan, env = read_staged(whole), training_env(TINY, load_scenario("goto_2"))
    (found,) = initial_weights(TINY, env, options_of(plan, plan.stage("both"), options(whole)))
    one, two = (load_run(whole / name).weights for name in ("one", "two"))
    for name, value in found.items():
        np.testing.assert_allclose(value, (one[name] + two[name]) / 2, rtol=1e-6, atol=1e-7)
    assert any((one[name] != two[name]).any() for name in one)


@pytest.mark.slow
def test_a_training_that_is_stopped_in_a_stage_and_after_one_ends_the_same_bit_by_bit(whole: Path, tmp_path: Path):
    out = tmp_path / "parts"
    (end,) = train_stages(create_staged(out, PLAN, options(out)), options(out, minutes=0))
    assert (end.stage.name, end.is_whole) == ("one", False)
    end = next(train_stages(read_staged(out), options(out, resume=True)))
    assert (end.stage.name, end.is_whole, (out / "two").exists()) == ("one", True, False)
    ends = list(train_stages(read_staged(out), options(out, resume=True)))
    assert [end.stage.name for end in ends] == ["two", "both"]
    for name in NAMES:
        assert metrics(out / name) == metrics(whole / name)
        with np.load(out / name / "checkpoint.npz") as a, np.load(whole / name / "checkpoint.npz") as b:
            assert a.files == b.files and all(a[key].tobytes() == b[key].tobytes() for key in a.files)


@pytest.mark.slow
def test_the_bundle_is_made_once_there_are_all_stages(whole: Path, capsys: pytest.CaptureFixture[str]):
    """Here nothing was left to train; what goes on says no more than the folder."""
    assert cli.main(["train", "--resume", "--out", str(whole), "--json", str(whole / "said.json")]) == 0
    bundle, figures = load_bundle(whole / "bundle"), json.loads((whole / "said.json").read_text())
    assert (figures["runs"], figures["bundles"]) == ([], {str(whole / "bundle"): bundle.id})
    assert (bundle.contract.name, bundle.contract.training.averaged) == ("whole", ("two",))
    assert bundle.id in capsys.readouterr().out


def test_every_seed_goes_on_from_its_own_stage_before(tmp_path: Path):
    out = tmp_path / "seeds"
    pair = options(out, seed=4, seeds=2)
    plan = create_staged(out, dataclasses.replace(PLAN, stages=STAGES[:2], bundle=None), pair)
    assert (plan.seed, plan.seeds, read_staged(out)) == (4, 2, plan)
    scenario = load_scenario("goto_2")
    env = training_env(TINY, scenario)
    start = jax.jit(partial(init_state, TINY, env))
    for seed in (4, 5):
        create_run(out / "one" / f"seed_{seed}", TINY, scenario, seed)
        save_checkpoint(out / "one" / f"seed_{seed}", start(jax.random.key(seed)), keep_before=False)
    found = initial_weights(TINY, env, options_of(plan, plan.stages[1], pair))
    for seed, weights in zip((4, 5), found, strict=True):
        wanted = load_run(out / "one" / f"seed_{seed}").weights
        assert all((weights[name] == value).all() for name, value in wanted.items())
    assert any((found[0][name] != found[1][name]).any() for name in found[0])


def test_what_would_end_a_later_stage_is_said_before_the_first(tmp_path: Path):
    narrow = dataclasses.replace(TINY, network=NetworkConfig((3,), (4,)))
    lessons = dataclasses.replace(TINY, weights={"nothing": 1.0})
    for last, said in (
        (Stage("last", narrow, ("one",)), r"^stage last: start = 'one': .*actor.* should have shape"),
        (Stage("last", TINY, ("swap_4",)), r"^stage last: start = 'swap_4': .*should have shape"),
        (Stage("last", lessons), r"^stage last: .*nothing"),
    ):
        with pytest.raises(UserError, match=said):
            create_staged(tmp_path / "run", StagedTraining((STAGES[0], last)), options(tmp_path / "run"))
    alike = StagedTraining(STAGES[:2], bundle=BundlePlan("one", ("two",)))
    with pytest.raises(UserError, match="--expert: one and two were trained in variants 0 and 0 of a game"):
        create_staged(tmp_path / "run", alike, options(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (["train", "soccer_2v2", "--steps", "100"], "--steps is of one run, and the recipe has stages", 2),
        (["train", "soccer_2v2", "--stage", "none"], "--stage none: no such stage; allowed: first, filter,", 2),
        (["train", "swap_4", "--stage", "none"], "--stage none: the recipe has no stages", 2),
        (["train", "--resume", "--out", "{out}", "--stage", "one"], "leave --stage out", 2),
        (["train", "--resume", "--out", "{out}", "--seed", "7"], "is of seed 0; leave --seed out", 2),
        (["train", "--recipe", "soccer_2v2", "--out", "{out}"], "the run folder exists; add --resume", 1),
        (["eval", "{out}"], "is of a training with stages; name the folder of a stage in it, or of its bundle", 1),
    ],
)
def test_mistakes_on_the_command_line_are_one_sentence(
    words: list[str], said: str, status: int, whole: Path, capsys: pytest.CaptureFixture[str]
):
    assert cli.main([word.format(out=whole) for word in words]) == status
    assert said in capsys.readouterr().err


def test_one_command_trains_all_stages_and_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Ended by the minutes, after one update of the first stage."""
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(
        'scenario = "goto_2"\nnum_envs = 2\nunroll = 2\nminibatches = 1\nepochs = 1\n'
        '[[stage]]\nname = "one"\nsteps = 16\n[[stage]]\nname = "two"\nsteps = 16\n'
    )
    out = str(tmp_path / "run")
    assert cli.main(["train", "--recipe", str(recipe), "--out", out, "--minutes", "1e-9"]) == 0
    said = capsys.readouterr()
    assert "stage 1 of 2, one" in said.err
    assert "stopped in stage 1 of 2, one; `robomarl train --resume --out" in said.out
    assert [float(row["steps"]) for row in metrics(tmp_path / "run" / "one")] == [8]
