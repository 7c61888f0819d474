"""Searching the gains of a law, and the bundle that is the law itself."""

import dataclasses
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.config import UserError
from robomarl.domains.flight.scenario import FlightScenario
from robomarl.domains.flight.tasks import task_of
from robomarl.domains.payload.controllers.decentralized import Gains, PlaceLaw
from robomarl.evaluate.resolve import resolve_policy
from robomarl.policies.export import export_bundle
from robomarl.policies.runtime import Policy
from robomarl.sim.env import make_env
from robomarl.sim.scenario import load_scenario
from robomarl.train.config import TrainConfig, load_recipe
from robomarl.train.policy_search.search import make_score, search_run
from robomarl.train.policy_search.structured import gained_law, picker
from robomarl.train.run.bundle_as_run import run_of

TINY = dataclasses.replace(load_recipe("lift_3_search")[0], num_envs=64, total_steps=64 * 20 * 3 * 2)


@pytest.fixture(scope="module")
def short() -> FlightScenario:
    """Two tenths of a second: long enough to see that gains matter."""
    return dataclasses.replace(load_scenario("lift_3"), time_limit_s=0.2)


@pytest.fixture(scope="module")
def searched(short: FlightScenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("search") / "searched"
    found = search_run(TINY, short, folder, seed=0, quiet=True)
    assert found["update"] == 2
    return folder


def test_gains_that_nobody_searched_are_the_law():
    """By hand, far from everything: 3 (1.5 place - velocity) - 0.8 times the velocity of the own point."""
    scenario = load_scenario("lift_3")
    obs = np.zeros((1, 30), np.float32)
    obs[0, :6], obs[0, 14], obs[0, 21:] = (0.1, 0, 0, 0, 0.05, 0), 1.0, (0.02, 0, 0, 0.01, 0, 0, 0.0, 0, 0)
    swing = 0.02 / (2 * scenario.period_s)
    wanted = [3 * 1.5 * 0.1 - 0.8 * swing, -3 * 0.05, 0.0]
    np.testing.assert_allclose(PlaceLaw(scenario).act(obs)[0, :3], wanted, atol=1e-5)
    more = PlaceLaw(scenario, Gains(answer=1.0, answer_most_m=0.03)).act(obs + np.float32(0))
    np.testing.assert_allclose(more[0, :3], wanted, atol=1e-5)  # its own point is where it should be
    obs[0, 21:] = np.tile((0.06, 0, 0), 3)
    moved = PlaceLaw(scenario, Gains(answer=1.0, answer_most_m=0.03)).act(obs)[0, 0]
    assert moved == pytest.approx(3 * 1.5 * (0.1 + 0.03), abs=1e-5)  # as far as it may answer


@pytest.mark.slow
def test_candidates_meet_the_same_episodes(short: FlightScenario):
    """The same gains have the same score in every place of a generation, other gains another one."""
    score = jax.jit(make_score(make_env(short), gained_law(short), 4))
    gains = np.stack([np.asarray(Gains()), np.asarray(Gains()), np.asarray(Gains(velocity_per_s=0.5))])
    first, second, other = np.asarray(score(jax.random.key(0), gains))
    assert first == second
    assert first != other
    assert score(jax.random.key(1), gains)[0] != first


def test_a_policy_sees_what_its_law_reads(short: FlightScenario):
    whole, part = task_of(short).observation(short), PlaceLaw.observation
    obs = jnp.arange(whole.size, dtype=jnp.float32)
    names = dict(zip(whole.element_names(), obs.tolist(), strict=True))
    assert picker(whole, part)(obs).tolist() == [names[name] for name in part.element_names()]


@pytest.mark.slow
def test_the_bundle_is_the_law_with_these_gains(searched: Path, tmp_path: Path):
    """No network in between: what the run flies and what the graph says are equal but for rounding."""
    gains = json.loads((searched / "law.json").read_text())["gains"]
    assert gains != Gains()._asdict()
    policy, scenario = resolve_policy(str(searched))
    assert scenario.time_limit_s == 0.2
    bundle = export_bundle(run_of(str(searched)), tmp_path / "bundle", "searched")
    obs = np.random.default_rng(0).normal(size=(50, bundle.contract.observation.spec.size))
    law = PlaceLaw(scenario, Gains(**gains))
    pick = picker(bundle.contract.observation.spec, law.observation)
    wanted = law.act(np.asarray(pick(jnp.asarray(obs, jnp.float32))))
    for flown in (policy, Policy(bundle)):
        np.testing.assert_allclose(flown((), obs.astype(np.float32))[1], wanted, atol=1e-4)
    assert bundle.contract.training.recipe["algorithm"] == "search"


def test_what_has_no_gains_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r'swap_4.toml: algorithm = "search" is for a law with gains'):
        search_run(TINY, load_scenario("swap_4"), tmp_path / "run")
    with pytest.raises(ValueError, match=r"search.candidates = 32 must divide num_envs = 48"):
        TrainConfig(algorithm="search", num_envs=48)
