"""State and plan travel in one message: a mate knows what the filter committed to at the stamp of what it heard."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest

from robomarl.core.bundle.pilot import Pilot, PilotCarry
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.env import TeamEnv
from robomarl.domains.flight.lab.evaluation.score import FlightScore
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.lab.evaluate.episodes import EpisodeRunner
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.sim.message import braking_plan, mates_of
from robomarl.lab.sim.scenario import load_scenario

STEPS = 40


def lossy(name: str, latency_s: float = 0.04) -> FlightScenario:
    scenario = load_scenario(name)
    return dataclasses.replace(
        scenario,
        time_limit_s=STEPS * scenario.period_s,
        radio=dataclasses.replace(scenario.radio, latency_s=latency_s),
        randomize=dataclasses.replace(scenario.randomize, packet_loss=(0.5, 0.5)),
    )


class Witness(Pilot):
    """Remembers what every robot saw and committed to."""

    def __init__(self, pilot: Pilot) -> None:
        super().__init__(pilot.policy, pilot.safety)
        self.views: list[LocalView] = []
        self.plans: list[Plan] = []

    def step(self, carry: PilotCarry, view: LocalView) -> tuple[PilotCarry, FilterResult]:
        carry, result = super().step(carry, view)
        self.views.append(view)
        self.plans.append(Plan(*carry.safety.plan))
        return carry, result


def check(views: list[LocalView], plans: list[Plan], period_s: float, mates: np.ndarray) -> np.ndarray:
    """Compare what was heard at every decision with what its sender knew and planned; the ages in decisions."""
    ages = []
    for t, view in enumerate(views):
        age = np.round(np.asarray(view.heard.age_s) / period_s).astype(int)
        ages.append(np.where(view.heard.mask, age, 0))
        for place in zip(*np.nonzero((age < t) & view.heard.mask), strict=True):  # what came after the start
            *env, i, k = place
            then, sender = t - age[place], (*env, mates[i, k])
            np.testing.assert_array_equal(view.heard.pos_m[place], views[then].own.pos_m[sender])
            for heard, said in zip(view.heard.plan, plans[then], strict=True):
                np.testing.assert_allclose(heard[place], said[sender], atol=2e-6)
    return np.array(ages)


@pytest.mark.parametrize(("sim", "name"), [("mujoco", "swap_3"), ("fast", "swap_3"), ("mujoco", "lift_3")])
def test_eval_sends_the_plan_that_belongs_to_the_state(sim: str, name: str):
    """Under loss the plan is as old as the state that came with it."""
    scenario: Any = lossy(name)
    policy: Any = GotoPolicy(scenario)
    if name.startswith("lift"):
        from robomarl.domains.flight.lab.simulation import law_policy

        policy = law_policy(scenario)
    pilot = Witness(make_pilot(policy, scenario, "full"))
    EpisodeRunner(pilot, make_team(scenario, sim, 2, 0), FlightScore(scenario)).run(2, name, progress=False)
    ages = check(pilot.views, pilot.plans, scenario.period_s, mates_of(scenario.count))
    lag = round(scenario.radio.latency_s / scenario.period_s)
    assert {lag, lag + 1, lag + 2} <= set(ages[5:].ravel()), "messages are late, and some were lost"
    moved = np.abs(pilot.plans[-1].pos_m - pilot.views[-1].own.pos_m).max()
    assert moved > 0.01, "a plan is another state than the one it comes with"


def test_without_a_filter_the_plan_repeats_the_state():
    scenario = lossy("swap_2")
    team = make_team(scenario, "fast", 2, 0)
    team.reset()
    for _ in range(6):
        team.step(np.ones((2, 2, 4), np.float32))
        heard, brake = team.views().heard, scenario.vehicle_config.safety.brake_m_s2
        for found, wanted in zip(heard.plan, braking_plan(heard.pos_m, heard.vel_m_s, brake), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_message_without_latency_is_heard_before_its_sender_has_decided():
    scenario = lossy("swap_2", latency_s=0.0)
    team, three = make_team(scenario, "fast", 1, 0), np.ones((1, 2, 3))
    team.reset()
    for _ in range(3):
        team.step(np.ones((1, 2, 4), np.float32), Plan(three, three, three))
    heard = team.views().heard
    np.testing.assert_array_equal(heard.plan.pos_m, heard.pos_m)


def test_training_behind_the_filter_hears_plans_and_without_it_carries_none():
    scenario = lossy("swap_3")
    env = TeamEnv(scenario, safety="qp")
    step, state = jax.jit(env.step), jax.jit(env.reset)(jax.random.key(0))
    views, plans = [], []
    for _ in range(12):
        views.append(jax.device_get(env.views(state.pipeline_state.world)))  # type: ignore[union-attr]
        state = step(state, jax.numpy.ones((3, 4)))
        plans.append(jax.device_get(state.pipeline_state.safety.plan))  # type: ignore[union-attr]
    assert check(views, plans, scenario.period_s, mates_of(3)).max() > 2
    bare = jax.eval_shape(TeamEnv(scenario).reset, jax.random.key(0)).pipeline_state.world
    assert bare.air.plan == bare.sent[0].plan == ()


def test_players_hear_the_plans_of_their_own_team():
    scenario = load_scenario("soccer_2v2")
    sim, random = make_soccer(scenario, "fast", 2, 0), np.random.default_rng(0)
    sim.reset()
    views, plans = [], []
    for _ in range(15):
        views.append(sim.views())
        rows = random.normal(size=(3, 2, 4, 3)) * [1, 1, 0]
        plans.append(Plan(*rows))
        sim.step(random.normal(size=(2, 4, 4)), plans[-1])
    mates = np.array([[1], [0], [3], [2]])
    assert check(views, plans, scenario.period_s, mates).max() >= 2


@pytest.mark.slow
def test_training_players_send_what_their_filters_commit_to():
    env = SoccerEnv(load_scenario("soccer_2v2"), safety="qp")
    step, state = jax.jit(env.step), jax.jit(env.reset)(jax.random.key(0))
    views, plans = [], []
    for _ in range(8):
        rally: Any = state.pipeline_state
        views.append(jax.tree.map(lambda part: part[:2], jax.device_get(env.views(rally.world))))
        state = step(state, jax.numpy.ones((4, 4)))
        plans.append(jax.device_get(state.pipeline_state.safety.plan))  # type: ignore[union-attr]
    assert check(views, plans, env.scenario.period_s, mates_of(2)).max() >= 1
