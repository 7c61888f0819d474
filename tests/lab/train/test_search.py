"""Searching the gains of a law, and the bundle that is the law itself."""

import dataclasses
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cmaes import CMA

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.bundle.provenance import Ancestor
from robomarl.core.bundle.runtime import Policy
from robomarl.core.config import UserError
from robomarl.domains.flight.lab.payload.controllers.decentralized import Gains, PlaceLaw
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.front.cli import main
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import SearchConfig, TrainConfig, load_recipe
from robomarl.lab.train.policy_search import search
from robomarl.lab.train.policy_search.gradient import gradient_run
from robomarl.lab.train.policy_search.search import (
    SearchOptions,
    first_gains,
    fly,
    generations,
    keep_gains,
    make_score,
    search_run,
)
from robomarl.lab.train.policy_search.structured import gained_law, load_law, picker
from robomarl.lab.train.run.ancestry import ancestors_of

FOLLOWED = ("accel", "lead_s", "lean_s2", "far_s")
UNSEARCHED = {f"goal_{name}" for name in FOLLOWED} | {name for name in Gains._fields if name.startswith("lean_")}
"""Where the goal stays; what matters once a mate is lost is not searched at all."""
TINY = dataclasses.replace(load_recipe("lift_3_search")[0], num_envs=64, total_steps=64 * 20 * 3 * 2)


@pytest.fixture(scope="module")
def short() -> FlightScenario:
    """Two tenths of a second: long enough to see that gains matter."""
    return dataclasses.replace(load_scenario("lift_3"), time_limit_s=0.2)


@pytest.fixture(scope="module")
def searched(short: FlightScenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search") / "searched"
    found = search_run(TINY, short, SearchOptions(folder, quiet=True))
    assert found["update"] == 2
    return folder


def seen(**values: tuple[float, ...] | np.ndarray) -> np.ndarray:
    """[1, O] what the law of `lift_3` reads: a level load and vehicle, zeros but for the values."""
    spec = PlaceLaw(load_scenario("lift_3")).observation
    obs, names = np.zeros((1, spec.size), np.float32), spec.element_names()
    level = {"own_axes": np.eye(3).ravel(), "load_axes": np.eye(3).ravel(), "own_index": np.eye(6)[0]}
    for name, value in {**level, **values}.items():
        at = [i for i, element in enumerate(names) if element.split(".")[0] == name]
        obs[0, at] = value
    return obs


def test_gains_that_nobody_searched_are_the_law():
    """By hand, far from everything: 3 (1.5 place - velocity) - 0.8 times the velocity of the own point."""
    scenario = load_scenario("lift_3")
    errors = (0.02, 0, 0, 0.01, 0, 0, 0.0, 0, 0)
    obs = seen(place_error=(0.1, 0, 0), velocity=(0, 0.05, 0), point_error=errors)
    swing = 0.02 / (2 * scenario.period_s)
    wanted = [3 * 1.5 * 0.1 - 0.8 * swing, -3 * 0.05, 0.0]
    np.testing.assert_allclose(PlaceLaw(scenario).act(obs)[0, :3], wanted, atol=1e-5)
    more = PlaceLaw(scenario, Gains(answer=1.0, answer_most_m=0.03)).act(obs + np.float32(0))
    np.testing.assert_allclose(more[0, :3], wanted, atol=1e-5)  # its own point is where it should be
    obs[0, 39:48] = np.tile((0.06, 0, 0), 3)
    moved = PlaceLaw(scenario, Gains(answer=1.0, answer_most_m=0.03)).act(obs)[0, 0]
    assert moved == pytest.approx(3 * 1.5 * (0.1 + 0.03), abs=1e-5)  # as far as it may answer


def test_a_load_that_is_far_is_led_farther_and_turned_farther():
    """By hand: half-way between near and far, the own point 0.3 m from where it should be."""
    scenario = load_scenario("lift_3")
    far = np.tile((0.3, 0, 0), 3)
    obs = seen(load_error=(0, -0.8, 0), point_error=far)
    led = PlaceLaw(scenario, Gains(lead_m=0.2)).act(obs)[0, :3]
    np.testing.assert_allclose(led, [0, -3 * 1.5 * 0.1, 0], atol=1e-5)
    obs = seen(load_turn=(0, 0, 2.0), cable=(0.1, 0.0, 0.9), point_error=far)
    led = PlaceLaw(scenario, Gains(turn_lead_rad=0.4)).act(obs)[0, :3]
    arm = np.array([0.27 + 0.1, 0.22])  # from the load's middle to the vehicle, which is at its place
    turned = np.array([[np.cos(0.2), -np.sin(0.2)], [np.sin(0.2), np.cos(0.2)]]) @ arm
    np.testing.assert_allclose(led, [*(3 * 1.5 * (turned - arm)), 0], atol=1e-5)


def test_near_and_far_have_gains_of_their_own():
    scenario = load_scenario("lift_3")
    law = PlaceLaw(scenario, Gains(velocity_near_per_s=1.0, velocity_far_per_s=2.0, near_m=0.1))
    for away, gain in ((0.0, 1.0), (0.1, 1.5), (0.9, 1.9)):
        obs = seen(velocity=(0.2, 0, 0), point_error=np.tile((away, 0, 0), 3))
        assert law.act(obs)[0, 0] == pytest.approx(-gain * 0.2, abs=1e-4)


def test_what_follows_a_goal_is_searched_where_it_moves_and_the_rest_where_it_stays():
    stays, moves = (gained_law(load_scenario(name)).search_step for name in ("lift_3", "lift_3_eight"))
    assert {name for name, step in moves._asdict().items() if step} == {f"goal_{n}" for n in FOLLOWED}
    assert {name for name, step in stays._asdict().items() if not step} == UNSEARCHED


@pytest.mark.slow
def test_gains_that_are_not_searched_stay(searched: Path):
    gains = json.loads((searched / "law.json").read_text())["gains"]
    start = first_gains(gained_law(load_scenario("lift_3")), TINY.search.start)
    kept = {name for name, value in gains.items() if value == pytest.approx(getattr(start, name), abs=1e-12)}
    assert kept == UNSEARCHED


@pytest.mark.slow
def test_candidates_meet_the_same_episodes(short: FlightScenario):
    """The same gains have the same score in every place of a generation, other gains another one."""
    score = jax.jit(make_score(make_env(short), gained_law(short), TINY.search, 4))
    gains = np.stack([np.asarray(Gains()), np.asarray(Gains()), np.asarray(Gains(velocity_near_per_s=0.5))])
    first, second, other = np.asarray(score(jax.random.key(0), gains))
    assert first == second
    assert first != other
    assert score(jax.random.key(1), gains)[0] != first


@pytest.mark.slow
def test_being_late_costs_what_the_recipe_says(short: FlightScenario):
    """Nobody arrives within two tenths of a second."""
    key, env, law = jax.random.key(0), make_env(short), gained_law(short)
    early, late = (
        float(jax.jit(lambda k, w=worth: fly(env, law, w, k))(key))
        for worth in (SearchConfig(late_per_s=0.0), SearchConfig(late_per_s=5.0))
    )
    assert early - late == pytest.approx(5.0 * 0.2, abs=1e-4)


def test_a_policy_sees_what_its_law_reads(short: FlightScenario):
    whole, part = task_of(short).observation(short), PlaceLaw(short).observation
    obs = jnp.arange(whole.size, dtype=jnp.float32)
    names = dict(zip(whole.element_names(), obs.tolist(), strict=True))
    assert picker(whole, part)(obs).tolist() == [names[name] for name in part.element_names()]


@pytest.mark.slow
def test_the_bundle_is_the_law_with_these_gains(searched: Path, tmp_path: Path):
    """No network in between: what the run flies and what the graph says are equal but for rounding."""
    gains = json.loads((searched / "law.json").read_text())["gains"]
    assert gains != Gains()._asdict()
    policy, scenario = resolve_policy(str(searched), kind=FlightScenario)
    assert scenario.time_limit_s == 0.2
    assert main(["export", str(searched), str(tmp_path / "bundle"), "--episodes", "2"]) == 0
    bundle = load_bundle(tmp_path / "bundle")
    flown = json.loads((tmp_path / "bundle" / "eval.json").read_text())
    assert flown["id"] == bundle.id and flown["filter_full"]["episodes"] == 2
    assert "## How it flew\n\n2 episodes on `mujoco`" in bundle.files["README.md"].decode()
    obs = np.random.default_rng(0).normal(size=(50, bundle.contract.observation.spec.size))
    law = PlaceLaw(scenario, Gains(**gains))
    pick = picker(bundle.contract.observation.spec, law.observation)
    wanted = law.act(np.asarray(pick(jnp.asarray(obs, jnp.float32))))
    for flown in (policy, Policy(bundle)):
        np.testing.assert_allclose(flown((), obs.astype(np.float32))[1], wanted, atol=1e-4)
    assert bundle.contract.training.recipe["algorithm"] == "search"


def test_minutes_that_are_over_end_a_search_after_the_generation_under_way(short: FlightScenario, tmp_path: Path):
    env = training_env(TINY, short)
    search = CMA(mean=np.ones(3), sigma=0.1, seed=0, population_size=4)
    for minutes, updates in ((0.0, 1), (60.0, 2)):
        (tmp_path / f"{updates}").mkdir()
        options = SearchOptions(tmp_path / f"{updates}", quiet=True, minutes=minutes)
        row = generations(TINY, env, lambda key, asked: -np.square(asked).sum(-1), search, options)
        assert row["update"] == updates


def test_a_search_that_ctrl_c_stops_keeps_the_newest_generation(
    short: FlightScenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The scores are a plain function here; Ctrl-C comes as the first row is written."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "make_score", lambda *_: lambda key, gains, rivals: -jnp.square(gains).sum(-1))
    monkeypatch.setattr(search.Logs, "write", stop)
    with pytest.raises(KeyboardInterrupt):
        search_run(TINY, short, SearchOptions(tmp_path / "run", quiet=True))
    assert "Ctrl-C stopped the run; law.json has what was found so far" in capsys.readouterr().out
    found, start = load_law(tmp_path / "run").gains, first_gains(gained_law(short), TINY.search.start)
    assert np.square(found).sum() < np.square(start).sum()


RESUMED = "last minutes and keep no checkpoint; train anew with another --out"


def test_a_search_is_not_resumed_and_no_error_says_that_it_may_be(
    short: FlightScenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    keep_gains(TINY, short, Gains(), SearchOptions(tmp_path / "run"))
    assert main(["train", "--resume", "--out", str(tmp_path / "run")]) == 2
    assert RESUMED in capsys.readouterr().err
    assert main(["train", "--recipe", "lift_3_search", "--out", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().err
    assert "are not resumed; name another --out." in said and "--resume" not in said


UNREAD = (
    ("--init", "swap_4"), ("--seeds", "2"), ("--imitate",), ("--log", "wandb"), ("--save-every-s", "3"),
    ("--evaluations", "0"),
)  # fmt: skip


@pytest.mark.parametrize("words", UNREAD)
@pytest.mark.parametrize("recipe", ["lift_3_search", "volley_hit"])
def test_options_that_are_not_read_are_refused(
    recipe: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["train", "--recipe", recipe, "--out", str(tmp_path / "run"), *words]) == 2
    assert f"{words[0]}: a run of algorithm = " in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("recipe", ["lift_3_search", "volley_hit"])
def test_a_curriculum_that_is_not_read_is_refused(recipe: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    lesson = '[[curriculum]]\nparameter = "randomize.wind_m_s"\nbegin = [0.0, 0.0]\nend = [0.0, 0.5]\n'
    (tmp_path / "mine.toml").write_text(f'extends = "{recipe}"\n{lesson}')
    words = ["train", "--recipe", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "run")]
    assert main(words) == 1
    assert "leave [[curriculum]] out" in capsys.readouterr().err


def test_gains_are_kept_with_where_they_come_from(short: FlightScenario, tmp_path: Path):
    """In the run folder, and sealed into bundles by whoever exports it."""
    gains, told = Gains(answer=0.7), (Ancestor("lift_3", "ab" * 32, ("bag sha256 0123",)),)
    keep_gains(TINY, short, gains, SearchOptions(tmp_path / "run", ancestry=told))
    run = load_law(tmp_path / "run")
    assert run.gains == gains
    assert run.ancestry == told == ancestors_of((str(tmp_path / "run"),))


def test_what_has_no_gains_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r'swap_4.toml: algorithm = "search" is for a law with gains'):
        search_run(TINY, load_scenario("swap_4"), SearchOptions(tmp_path / "run"))
    with pytest.raises(UserError, match=r'swap_4.toml: algorithm = "gradient" is for a law with gains'):
        gradient_run(TrainConfig(algorithm="gradient"), load_scenario("swap_4"), SearchOptions(tmp_path / "run"))
    law = gained_law(load_scenario("lift_3"))
    with pytest.raises(
        UserError, match=r"search.start of the recipe: P is no gain of the law that is a number; allowed: pos"
    ):
        first_gains(law, {"P": 1.0})
    begun = first_gains(law, {"lead_m": 0.2})
    assert begun.lead_m == 0.2 and begun.answer == law.search_from.answer
    with pytest.raises(ValueError, match=r"search.candidates = 32 must divide num_envs = 48"):
        TrainConfig(algorithm="search", num_envs=48)
