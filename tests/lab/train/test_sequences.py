"""Sequences of actions: what is played when, what a decision earns, and that robots do what was trained."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.training.distribution import NormalDistribution

from benchmarks.flight.sequences import HeldPolicy
from robomarl.core.bundle.runtime import Policy, _SequencePlayer, load_policy, read_golden
from robomarl.core.config import UserError
from robomarl.fleet.checks import verify
from robomarl.lab.export import export_bundle
from robomarl.lab.export.model_card import model_card
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.algorithm import training_env
from robomarl.lab.train.config import NetworkConfig, NoiseConfig, TrainConfig
from robomarl.lab.train.imitation import Teacher, blank_state
from robomarl.lab.train.mappo import change_loss, init_state, make_update
from robomarl.lab.train.run.run_folder import Run, RunPolicy
from robomarl.lab.train.run.weights import learned, weights_of
from robomarl.lab.train.sequences.holding import repeated
from robomarl.lab.train.sequences.play import SequenceConfig, SequenceEnv, playing
from robomarl.lab.train.stages.check import check_plan
from robomarl.lab.train.stages.plan import Stage, StagedTraining
from tests.lab.train.learners import first_state

SMALL = TrainConfig(num_envs=2, unroll=2, minibatches=1, epochs=1, network=NetworkConfig((6,), (4,)))
THREE = replace(SMALL, sequence=SequenceConfig(3))
SHORT = replace(load_scenario("swap_4"), count=2, time_limit_s=0.16)
"""Eight actions."""


def test_a_decision_is_played_action_by_action_and_only_then_the_policy_looks_again():
    """By hand: a decision is obs, obs + 0.1, obs + 0.2; its own memory counts decisions."""

    def decide(carry: tuple, obs: jax.Array) -> tuple[tuple, jax.Array]:
        return (carry[0] + 1,), obs + jnp.array([0.0, 0.1, 0.2])

    config = SequenceConfig(3)
    play, carry = playing(config, decide), (*config.init_memory(1, (2,)), jnp.zeros((2, 1)))
    carry = (carry[0].at[1].set([[7.0], [8.0]]), carry[1].at[1].set(2.0), carry[2])  # the second one has two to play
    seen = []
    for t in range(5):
        carry, action = play(carry, jnp.full((2, 1), float(t)))
        seen.append(action[:, 0].tolist())
    np.testing.assert_allclose(np.transpose(seen), [[0, 0.1, 0.2, 3, 3.1], [7, 8, 2, 2.1, 2.2]], atol=1e-6)
    assert carry[2].ravel().tolist() == [2, 1] and carry[1].ravel().tolist() == [1, 0]


def test_a_held_action_is_played_so_often():
    held = SequenceConfig(3, held=True)
    assert held.played(jnp.array([[1.0, 2.0]])).tolist() == [[[1, 2]] * 3] and held.outputs == 1
    wanted = np.array([[1.0, 0.0], [2.0, 0.0], [6.0, 3.0]])
    assert held.said(wanted).tolist() == [3, 1], "the mean is nearest"
    assert SequenceConfig(3).said(wanted).tolist() == [1, 0, 2, 0, 6, 3]
    assert SequenceConfig(3).played(SequenceConfig(3).said(wanted)).tolist() == wanted.tolist()
    one: Any = object()
    assert playing(SequenceConfig(), one) is one, "one action is the policy as it was"


def test_a_decision_is_its_actions_and_earns_what_they_earn():
    one, env = training_env(SMALL, SHORT), training_env(THREE, SHORT)
    gamma = SMALL.gamma_lambda(one.decision_s)[0]
    actions = one.action.high * jax.random.uniform(jax.random.key(1), (3, 2, 4), minval=-1.0)
    begun = jax.jit(env.reset)(jax.random.key(0))
    after = jax.jit(env.step)(begun, jnp.moveaxis(actions, 0, 1).reshape(2, 12))
    state, reward, step = begun, jnp.zeros(2), jax.jit(one.step)
    for i, action in enumerate(actions):
        state = step(state, action)
        reward += gamma**i * state.reward
    np.testing.assert_allclose(after.reward, reward, rtol=1e-5)
    np.testing.assert_allclose(after.obs, state.obs, rtol=1e-5, atol=1e-5)
    total = sum(value for name, value in after.metrics.items() if name.startswith("reward/"))
    np.testing.assert_allclose(total, reward.mean(), rtol=1e-4)
    assert (env.decision_s, env.action_size) == (pytest.approx(0.06), 12)
    assert env.decision_s == 3 * one.decision_s and env.commanded == one.commanded


def test_what_comes_after_the_end_of_an_episode_does_not_count():
    """Eight actions are two decisions of three, and two of the third; the time is up after those."""
    env = training_env(THREE, SHORT)
    state, step = jax.jit(env.reset)(jax.random.key(0)), jax.jit(env.step)
    ends = []
    for _ in range(3):
        state = step(state, jnp.zeros((2, 12)))
        ends.append((float(state.done), float(state.info["steps"]), float(state.info["truncation"])))
    assert ends == [(0, 3, 0), (0, 6, 0), (1, 8, 1)]
    over = step(state, jnp.ones((2, 12)))
    assert (over.reward == 0).all() and (over.obs == state.obs).all()


def test_a_calm_sequence_changes_little_from_action_to_action():
    """By hand: tanh is 0, 0.5 | 0.1, 0.1; squared changes are 0.25, then 0.16, then 0, over two actions each."""
    loc = jnp.arctanh(jnp.array([[[[0.0, 0.5]], [[0.1, 0.1]]]]))
    dist = NormalDistribution(2).create_dist((loc, jnp.ones_like(loc)))
    wanted = (0.16 + (0.25 + 0.0) / 2) / 2
    assert change_loss(dist, jnp.zeros((1, 2)), 2) == pytest.approx(wanted, rel=1e-5)
    assert change_loss(dist, jnp.ones((1, 2)), 2) == pytest.approx(0.125 / 2, rel=1e-5)


@pytest.fixture(scope="module")
def trained() -> Run:
    """A policy after one update, whose weights are then large enough to tell actions apart."""
    env = training_env(THREE, SHORT)
    state, metrics = jax.jit(make_update(THREE, env))(first_state(THREE, env))
    assert all(np.isfinite(value) for value in metrics.values()) and state.steps == 2 * 2 * 2
    rng = np.random.default_rng(0)
    actor = jax.tree.map(lambda leaf: rng.normal(0, 0.3, leaf.shape).astype(np.float32), state.params["actor"])
    low = jnp.full(env.observation_size, -3.0)
    state = state._replace(params=state.params | {"actor": actor}, obs_range=(low, -low))
    return Run(Path("three"), SHORT, THREE, 0, "", {}, state)


@pytest.fixture(scope="module")
def flown(trained: Run, tmp_path_factory: pytest.TempPathFactory) -> Policy:
    return load_policy(export_bundle(trained, tmp_path_factory.mktemp("sequence") / "three").folder)


def test_the_bundle_says_both_rates_and_does_what_was_trained(trained: Run, flown: Policy):
    contract = flown.contract
    assert (contract.rate_hz, contract.actions_each) == (50, 3) and contract.decision_hz == pytest.approx(50 / 3)
    assert [(c.name, c.shape) for c in contract.policy_carries] == [("pending", (2, 4)), ("left", (1,))]
    assert "50 actions a second, 3 of each decision" in model_card(contract)
    sequence = read_golden(flown.bundle)
    run, many, one = RunPolicy(trained), flown.init((2, 2)), [flown.init() for _ in range(2)]
    carry = run.init((2, 2))
    for t in range(7):
        obs = sequence.obs[:, t]
        carry, wanted = run(carry, obs)
        many, action = flown(many, obs)
        np.testing.assert_allclose(action, wanted, atol=1e-5)
        for robot in range(2):  # alone, the graph is not asked while actions are left
            one[robot], alone = flown(one[robot], obs[0, robot])
            np.testing.assert_allclose(alone, wanted[0, robot], atol=1e-5)
            for mine, theirs in zip(one[robot], many, strict=True):
                np.testing.assert_allclose(mine, theirs[0, robot], atol=1e-5)


def test_a_blind_robot_plays_nothing(flown: Policy):
    obs = np.zeros(flown.observation.size, np.float32)
    carry, _ = flown(flown.init(), obs)
    _, action = flown(carry, obs + np.nan)
    assert np.isnan(action).all(), "the filter has to see that, whatever was decided before"


def test_what_is_timed_of_a_policy_is_its_network(flown: Policy, monkeypatch: pytest.MonkeyPatch):
    """Two of three calls had been of actions that were only played."""
    player = flown._single
    assert isinstance(player, _SequencePlayer)
    asked, ask = [], player._ask
    monkeypatch.setattr(player, "_ask", lambda carry, obs: asked.append(obs) or ask(carry, obs))
    decide = verify._decider(flown, read_golden(flown.bundle))
    for i in range(12):
        decide(i)
    assert len(asked) == 12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"decision_hz": 20.0}, "decision_hz = 20 must divide rate_hz = 50"),
        ({"decision_hz": 10.0}, r"do not fit 5 actions a decision, which need \{'pending': \(4, 4\), 'left': \(1,\)\}"),
        ({"decision_hz": None}, "do not fit 1 actions a decision"),
        ({"decision_hz": 100.0}, "must divide"),
    ],
)
def test_a_contract_whose_memory_is_not_that_of_its_rates_is_refused(flown: Policy, change: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        replace(flown.contract, **change)


def test_the_memory_of_a_sequence_comes_first(flown: Policy):
    """A robot alone takes the first two memories for it."""
    pending, left = flown.contract.policy_carries
    others = [c for c in flown.contract.carries if c.owner != "policy"]
    with pytest.raises(ValueError, match="must begin with pending and left, in this order"):
        replace(flown.contract, carries=(*others, left, pending))


@pytest.mark.parametrize(
    ("config", "scenario", "said"),
    [
        (replace(THREE, algorithm="shac"), "swap_4", "algorithm = 'shac' learns one action at a time"),
        (replace(THREE, algorithm="iql"), "swap_4", "algorithm = 'iql' learns one action at a time"),
        (replace(THREE, noise=NoiseConfig(scale=(1.0,) * 4)), "swap_4", "noise.scale is for the elements of one"),
        (THREE, "soccer_2v2", "soccer_2v2 is a game"),
    ],
)
def test_sequences_that_nobody_learns_are_refused(config: TrainConfig, scenario: str, said: str):
    with pytest.raises(UserError, match=f"sequence.actions = 3: .*{said}"):
        training_env(config, load_scenario(scenario))


@pytest.mark.parametrize("sequence", [SequenceConfig(3), SequenceConfig(3, held=True)])
def test_a_policy_of_one_action_goes_on_by_holding_it(sequence: SequenceConfig):
    one, config = training_env(SMALL, SHORT), replace(SMALL, sequence=sequence)
    env = training_env(config, SHORT)
    first = first_state(SMALL, one)
    state = learned(lambda k: init_state(config, env, k), repeated(weights_of(first), config, env), "--init it")
    policy = RunPolicy(Run(Path("held"), SHORT, config, 0, "", {}, state))
    held = HeldPolicy(RunPolicy(Run(Path("one"), SHORT, SMALL, 0, "", {}, first)), 3)
    carry, other = policy.init((2,)), held.init((2,))
    for obs in np.random.default_rng(0).normal(size=(7, 2, one.observation_size)).astype(np.float32):
        carry, action = policy(carry, obs)
        other, wanted = held(other, obs)
        np.testing.assert_allclose(action, wanted, atol=1e-6)


def test_a_stage_of_sequences_may_follow_one_of_single_actions():
    config = replace(SMALL, scenario="swap_4")
    check_plan(StagedTraining((Stage("one", config), Stage("three", replace(THREE, scenario="swap_4"), ("one",)))))


def test_imitation_learns_what_the_law_does_over_a_decision():
    """A law that counts: the actions that are wanted of a decision are those of its time and of the next two."""
    scenario = replace(load_scenario("swap_4"), count=2, time_limit_s=0.14)
    config = replace(THREE, scenario="swap_4")
    env = training_env(config, scenario)
    assert isinstance(env, SequenceEnv) and env.commanded.size == 4
    rows = _flown_by_a_law_that_counts(config, env, scenario)
    np.testing.assert_allclose(rows.wanted[0].reshape(3, 4)[:, 0], [0.0, 0.1, 0.2], atol=1e-6)
    times = np.unique(rows.wanted.reshape(-1, 3, 4)[:, 0, 0].round(4))
    assert times.tolist() == [0.0, pytest.approx(0.3)], "two whole decisions in seven actions"
    assert len(rows.obs) == len(rows.wanted) and rows.obs.shape[1] == env.observation_size


def _flown_by_a_law_that_counts(config: TrainConfig, env: Any, scenario: Any) -> Any:
    from robomarl.lab.evaluate.pilots import NoFilter
    from robomarl.lab.simulation import simulation_of

    action = env.unwrapped.action
    count = iter(range(100))

    class Law:
        observation = env.observation

        def act(self, obs: np.ndarray) -> np.ndarray:
            half = (action.high - action.low) / 2
            return (action.high + action.low) / 2 + half * 0.1 * next(count) + np.zeros((*obs.shape[:-1], 4))

    teacher = object.__new__(Teacher)
    simulation = simulation_of(scenario)
    teacher.__dict__.update(
        _env=env, _law=Law(), _sequence=config.sequence, _thrown=False, _random=np.random.default_rng(0),
        _imitated=SimpleNamespace(failed=lambda scenario, world: np.zeros(2, bool)),
        _networks=SimpleNamespace(init_carry=lambda batch: ()),
        _act=lambda params, stats, carry, obs: (carry, np.zeros((*obs.shape[:-1], 4))),
    )  # fmt: skip
    team, bar = simulation.batch(scenario, "fast", 2, 0), SimpleNamespace(update=lambda: None)
    return teacher._fly(team, NoFilter(), blank_state(config, env, 0), 0.0, bar)  # type: ignore[arg-type]


def test_the_recipe_that_ships_is_of_four_actions():
    from robomarl.lab.train.config import load_recipe

    config, _ = load_recipe("swap_4_sequence")
    assert config.sequence == SequenceConfig(4) and math.isclose(training_env(config, SHORT).decision_s, 0.08)
