"""The rules against deadlock: what each does, who waits at a narrow place, and that as flown everybody arrives."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.flight import liveness
from robomarl.core.bundle.pilot import Pilot
from robomarl.core.domain.registry import domains
from robomarl.core.filter.deadlock_rules import passages
from robomarl.core.filter.deadlock_rules.meeting import LIFT_GAIN_PER_S, SIDE_GAIN_PER_S
from robomarl.core.filter.give_way import GiveWay, WayCarry, keep_right, meet
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.filter.params import Arena, SafetyParams
from robomarl.core.view import LocalView
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.evaluation.score import FlightScore
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.episodes import EpisodeRunner
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig
from robomarl.lab.evaluate.pilots import make_pilot
from robomarl.lab.evaluate.score import successes
from robomarl.lab.sim.filter_params import safety_params
from robomarl.lab.sim.scenario import load_scenario
from tests.core.filter.views import PARAMS, leaves, make_view, pick, random_views

SLIT = (
    Obstacle("box", (-0.15, 0.25, 0.0), (0.15, 3.0, 3.0)),
    Obstacle("box", (-0.15, -3.0, 0.0), (0.15, -0.25, 3.0)),
)
WALLED = dataclasses.replace(PARAMS, obstacles=SLIT)
ASKED = np.array([0.3, 0.1, -0.2, 0.4])
EAST, WEST = np.array([3.0, 0, 1]), np.array([-3.0, 0, 1])


def bound_for(goal: np.ndarray, view: LocalView) -> LocalView:
    return view._replace(goal=view.goal._replace(pos_m=goal))


def asked_of(params: SafetyParams, view: LocalView) -> np.ndarray:
    return keep_right(params, view, ASKED, meet(view, params.limits.speed_m_s))


def waits(params: SafetyParams, view: LocalView) -> bool:
    nothing = passages.no_passage(np.array(0.0))
    passage = passages.look(params, nothing, view).passage
    return bool(passage.known_s > 0) and bool(passages.must_wait(passage, view))


def test_who_meets_a_mate_on_its_way_keeps_to_the_right():
    """Head on: right of the way to the goal, by the side speed that is missing; else nothing is changed."""
    limit = PARAMS.limits.speed_m_s
    meeting = bound_for(EAST, make_view((0, 0, 1), (1, 0, 0), [((1.5, 0.1, 1), (-1, 0, 0))], age_s=0.0))
    # In 0.75 s, at 0.1 m: 1.1 / 1.2 in width, 3.25 / 4 in time, so more than a sixth.
    asked = asked_of(PARAMS, meeting)
    np.testing.assert_allclose(asked, ASKED + [0, -SIDE_GAIN_PER_S * limit, 0, 0], atol=1e-5)
    stepping = meeting._replace(own=meeting.own._replace(vel_m_s=np.array([1.0, -1.5, 0])))
    assert asked_of(PARAMS, stepping)[1] == pytest.approx(ASKED[1], abs=1e-5)
    for mates in ([((-1.5, 0, 1), (1, 0, 0))], [((1.5, 2.0, 1), (-1, 0, 0))], [((1.5, 0, 1), (2, 0, 0))], []):
        view = bound_for(EAST, make_view((0, 0, 1), (1, 0, 0), mates))
        np.testing.assert_allclose(asked_of(PARAMS, view), ASKED, atol=1e-12)
    silent = meeting._replace(heard=meeting.heard._replace(mask=np.array([False])))
    np.testing.assert_array_equal(asked_of(PARAMS, silent), ASKED)


@pytest.mark.parametrize("below_m", [0.1, -0.1])
def test_who_is_above_goes_up_and_who_is_below_goes_down(below_m: float):
    view = bound_for(EAST, make_view((0, 0, 1), (1, 0, 0), [((1.5, 0.1, 1 - below_m), (-1, 0, 0))], age_s=0.0))
    lift = asked_of(PARAMS, view)[2] - ASKED[2]
    assert np.sign(lift) == np.sign(below_m)
    assert abs(lift) < LIFT_GAIN_PER_S
    planar = dataclasses.replace(PARAMS.limits, accel_min_m_s2=(-3, -3, 0), accel_max_m_s2=(3, 3, 0))
    driving = dataclasses.replace(PARAMS, planar=True, limits=planar)
    assert asked_of(driving, view)[2] == ASKED[2]
    low = dataclasses.replace(PARAMS, arena=Arena((-3, -3, 0.9), (3, 3, 1.1)))
    assert asked_of(low, view)[2] == pytest.approx(ASKED[2]), "no room"


def test_who_is_stuck_turns_right_for_a_while():
    view = make_view((0, 0, 1), (0, 0, 0))
    view = view._replace(goal=view.goal._replace(pos_m=np.array([1.0, 0, 1])))
    rules, asked = GiveWay(PARAMS), np.array([1.0, 0, 0, 0.2])
    carry, turned = rules.init(np.zeros(())), []
    for _ in range(200):
        carry, command = rules(carry._replace(active=np.array(True)), view, asked)
        turned.append(command[1] < -0.5)
        assert np.linalg.norm(command) == pytest.approx(np.linalg.norm(asked))
    assert not any(turned[:48])
    assert all(turned[52:110])
    forward = []
    for _ in range(700):
        carry, command = rules(carry._replace(active=np.array(True)), view, asked)
        forward.append((round(float(command[0]), 2), round(float(command[1]), 2)))
    assert {(0.26, -0.97), (-0.87, -0.5), (0.26, 0.97), (-0.87, 0.5)} <= set(forward), "right, back, left, back"
    carry = rules.init(np.zeros(()))
    for _ in range(200):
        carry, command = rules(carry, view, asked)
        np.testing.assert_array_equal(command, asked)


def test_a_slit_is_a_narrow_place_and_a_pillar_and_open_air_are_none():
    nothing = passages.no_passage(np.array(0.0))
    view = bound_for(EAST, make_view((-1.0, 0.05, 1), (0, 0, 0)))
    found = passages.look(WALLED, nothing, view).passage
    assert found.known_s == passages.REMEMBER_S
    assert found.entry_m[0] == pytest.approx(-0.2, abs=0.2)
    assert 0.3 < found.length_m < 0.9
    pillar = dataclasses.replace(PARAMS, obstacles=(Obstacle("capsule", (0, 0, 0), (0, 0, 3), 0.15),))
    for params, place in (
        (pillar, (-1.0, 0.05, 1)),
        (pillar, (-0.4, 0.1, 1)),
        (WALLED, (0.8, 0, 1)),
        (WALLED, (-1, 1, 1)),
    ):
        view = bound_for(EAST if place[1] < 1 else np.array([-1.0, -1, 1]), make_view(place, (0, 0, 0)))
        assert passages.look(params, nothing, view).passage.known_s == 0, place
    assert passages.look(pillar, nothing, bound_for(EAST, make_view((-1, 0, 1), (0, 0, 0)))).blocked


@pytest.mark.parametrize(("east_at", "west_at"), [(-1.0, 1.0), (-1.0, 0.9), (-0.8, 1.6), (-1.6, 0.8), (-0.1, 0.3)])
def test_of_two_before_a_slit_exactly_one_waits(east_at: float, west_at: float):
    """Each decides from its own noisy view; the nearer one goes, of two that are as near the one towards the east."""
    random = np.random.default_rng(0)
    for _ in range(50):
        (a, b), slow = random.uniform(-0.02, 0.02, (2, 3)), random.uniform(-0.05, 0.05, (2, 3))
        east, west = np.array([east_at, 0, 1]) + a, np.array([west_at, 0, 1]) + b
        first = bound_for(EAST, make_view(east, slow[0], [(west - b, slow[1])]))
        second = bound_for(WEST, make_view(west, slow[1], [(east - a, slow[0])]))
        assert waits(WALLED, first) != waits(WALLED, second)
        assert waits(WALLED, first) == (east_at == -1.6)


def test_nobody_waits_for_one_that_goes_ahead_is_through_stands_in_the_queue_or_elsewhere():
    for mate in (
        ((0.6, 0.05, 1), (0, 0, 0)),
        ((0.45, 0.05, 1), (0.5, 0, 0)),
        ((0.0, 0, 1), (-0.5, 0, 0)),
        ((-0.8, 0, 1), (-1, 0, 0)),
        ((-0.5, 1.5, 1), (0, 0, 0)),
        ((1.4, 0, 1), (0, 0, 0)),
    ):
        view = bound_for(WEST, make_view((0.8, 0, 1), (-0.5, 0, 0), [mate]))
        assert not waits(WALLED, view), mate


def test_who_waits_backs_out_to_the_right_of_the_mouth_and_not_for_ever():
    """The mate stands in the slit and never moves: the robot waits, and after its patience tries."""
    rules = GiveWay(WALLED)
    pos, vel, carry, way = np.array([0.1, 0.0, 1]), np.zeros(3), rules.init(np.zeros(())), []
    for _ in range(420):
        view = bound_for(WEST, make_view(pos, vel, [((-0.2, 0, 1), (0, 0, 0))]))
        carry, asked = rules(carry, view, np.array([-1.0, 0, 0, 0]) - np.append(vel, 0))
        vel = vel + 0.02 * np.clip(asked[:3], -3, 3)
        pos = pos + 0.02 * vel
        way.append(pos)
    way = np.array(way)
    assert (way[:, 1] < 0.1)[way[:, 0] < 0.2].all(), "not into the wall"
    assert way[200, 0] > 0.45
    assert way[200, 1] > 0.4, "the right of one that looks west"
    assert way[-1, 0] < 0.45


@pytest.mark.parametrize("separation_m", [0.02, 0.05, 0.07, 0.2, 0.5])
def test_who_waits_beside_the_mouth_stays_there_whatever_the_vehicle_keeps(separation_m: float):
    """Small robots wait nearer to the mouth than where large ones begin to back out: they went before it again."""
    params = dataclasses.replace(WALLED, safety=dataclasses.replace(PARAMS.safety, separation_m=separation_m))
    place = passages.Passage(np.array([0.2, 0.0]), np.array([-1.0, 0.0]), np.array(0.4), np.array(8.0), np.array(1.0))
    lookout = passages.Lookout(place, np.array(False), np.array(True))
    waiting_m = 0.2 + passages.WAIT_M + separation_m
    beside = make_view((waiting_m, 2 * separation_m + passages.ROOM_M, 1), (0, 0, 0))
    steers, accel = passages.steer(params, lookout, beside, np.array(True))
    assert steers
    np.testing.assert_allclose(accel, 0.0, atol=1e-6)
    before_it = make_view((0.21, 0.0, 1), (0, 0, 0))
    back, right = passages.steer(params, lookout, before_it, np.array(True))[1]
    assert back > 0.1
    assert right == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("params", [PARAMS, WALLED], ids=["open", "walled"])
def test_one_robot_and_many_and_jax_follow_the_same_rules(params: SafetyParams):
    random = np.random.default_rng(1)
    views, rules = random_views(random, 40, mates=6), GiveWay(params)
    views = views._replace(goal=views.goal._replace(pos_m=random.uniform(-2, 2, (40, 3))))
    asked = random.uniform(-2, 2, (40, 4))
    many, one = rules.init(np.zeros(40)), [rules.init(np.zeros(())) for _ in range(40)]
    jitted, traced = jax.jit(rules), rules.init(jnp.zeros(40))
    for _ in range(3):
        many, command = rules(many, views, asked)
        traced, compiled = jitted(traced, jax.tree.map(jnp.asarray, views), jnp.asarray(asked))
        np.testing.assert_allclose(compiled, command, rtol=1e-3, atol=2e-3)
        for i in range(40):
            one[i], alone = rules(one[i], pick(views, i), asked[i])
            np.testing.assert_allclose(alone, command[i], atol=1e-12)
            for (name, a), (_, b) in zip(leaves(one[i]), leaves(many), strict=True):
                np.testing.assert_allclose(a, b[i], atol=1e-12, err_msg=name)
    assert 0 < (many.roundabout.known_s > 0).sum() < 40
    assert [leaf.dtype for leaf in jax.tree.leaves(traced)] == [
        leaf.dtype for leaf in jax.tree.leaves(rules.init(jnp.zeros(40)))
    ]


def test_nothing_is_known_of_who_is_not_heard():
    view = random_views(np.random.default_rng(0), 5, mask_share=0.0)
    assert not meet(view, 1.5).near.any()


def test_rules_are_for_robots_with_goals_of_their_own():
    ruled = {name: domain.onboard.rules(PARAMS) for name, domain in domains().items()}
    assert isinstance(ruled["flight"], GiveWay)
    assert ruled["payload"] is ruled["soccer"] is None


def test_the_pilot_says_what_the_policy_asked_and_that_it_was_changed():
    scenario = load_scenario("swap_2")
    pilot = make_pilot(GotoPolicy(scenario), scenario, "full")  # type: ignore[arg-type]
    view = bound_for(EAST, make_view((0, 0, 1), (1, 0, 0), [((2.5, 0.1, 1), (-1, 0, 0))]))
    carry, result = pilot.guard(pilot.init(view), view, ASKED)
    assert isinstance(carry.way, WayCarry)
    np.testing.assert_array_equal(result.nominal, ASKED)
    assert result.active
    assert result.command[1] < -0.5
    _, guided = pilot.guard(pilot.init(view), view, ASKED, ruled=False)
    assert guided.command[1] > result.command[1] + 0.5
    assert make_pilot(GotoPolicy(scenario), scenario, "off").rules is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "seconds"), [("passage_2", 25.0), pytest.param("queue_3", 40.0, marks=pytest.mark.slow)]
)
def test_as_flown_everybody_arrives(name: str, seconds: float):
    scenario = dataclasses.replace(load_scenario(name), time_limit_s=seconds)
    policy, config = GotoPolicy(scenario), EvalConfig("mujoco", 8, progress=False)
    found = evaluate(policy, scenario, config).figures  # type: ignore[arg-type]
    assert found["success_rate"] == 1.0
    assert found["collisions"] == 0


def test_a_crowd_goes_around_its_middle_at_speed():
    """The short version of `bench liveness`."""
    (name, *_), found = liveness.CASES, {row.metric: row.value for row in liveness.rows(liveness.CASES[:1], 8, 8.0)}
    assert name == "swap_8"
    assert found["robots that arrive"] == 1.0
    assert found["least distance"] > 2 * PARAMS.safety.separation_m
    assert found["median over unfiltered"] < 1.9
    assert found["99 %"] < 5.5
    assert found["robots that arrive, certified"] == 1.0
    assert found["median over unfiltered, certified"] < 2.0


def tunnel() -> FlightScenario:
    """The slit of passage_2 as long as one robot cannot push the other out of, too low to pass above each other."""
    scenario = load_scenario("passage_2")
    (*low, _), (*high, _), walls = scenario.arena.low_m, scenario.arena.high_m, []
    for wall in scenario.arena.obstacles:
        assert wall.to_m is not None
        walls.append(dataclasses.replace(wall, from_m=(-0.5, *wall.from_m[1:]), to_m=(0.5, *wall.to_m[1:])))
    arena = dataclasses.replace(scenario.arena, low_m=(*low, 0.9), high_m=(*high, 1.5), obstacles=tuple(walls))
    return dataclasses.replace(scenario, arena=arena, time_limit_s=25.0)


@pytest.mark.slow
def test_without_the_rules_two_robots_may_stop_each_other_in_a_slit():
    """And with them, in the same weather, they do not."""
    scenario = tunnel()
    assert len(safety_params(scenario).obstacles) == 2
    policy = GotoPolicy(scenario)
    ruled = make_pilot(policy, scenario, "full")  # type: ignore[arg-type]
    arrived = {}
    for name, pilot in (("ruled", ruled), ("bare", Pilot(policy, ruled.safety))):
        runner = EpisodeRunner(pilot, make_team(scenario, "mujoco", 8, 0), FlightScore(scenario))
        done = runner.run(8, name, progress=False)
        arrived[name] = successes(done).mean()
    assert arrived["ruled"] == 1.0
    assert arrived["bare"] < 1.0
