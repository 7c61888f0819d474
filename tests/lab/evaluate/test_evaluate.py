"""`evaluate` and `robomarl eval`: what is counted, on which engine, and what mistakes say."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.types import FilterResult
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.evaluation.score import FlightScore
from robomarl.domains.flight.lab.goto import GotoPolicy
from robomarl.domains.flight.lab.randomize import RandomizeConfig
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.episodes import Step, join
from robomarl.lab.evaluate.evaluate import evaluate
from robomarl.lab.evaluate.evaluation import EvalConfig, Evaluation
from robomarl.lab.evaluate.intervals import bootstrap, paired_difference, wilson
from robomarl.lab.evaluate.resolve import resolve_policy
from robomarl.lab.evaluate.score import start_episodes, successes
from robomarl.lab.evaluate.sensitivity import sensitivity
from robomarl.lab.evaluate.variations import perturbed, spelled_out
from robomarl.lab.sim.scenario import load_scenario

FIELDS = {"scenario", "sim", "episodes", "seed", "success_rate", "success_ci95", "return_mean", "collisions",
          "collision_episodes", "min_distance_m", "position_error_m", "attitude_error_rad"}  # fmt: skip


def short(name: str, seconds: float = 4.0) -> FlightScenario:
    return dataclasses.replace(load_scenario(name), time_limit_s=seconds)


def fly(scenario: FlightScenario, **options: Any) -> Evaluation:
    return evaluate(GotoPolicy(scenario), scenario, EvalConfig(progress=False, **options))


@pytest.fixture(scope="module")
def alone() -> Evaluation:
    """One robot has nobody to run into."""
    return fly(short("goto_1"), episodes=6, filter="off")


@pytest.fixture(scope="module")
def blind() -> Evaluation:
    """Two robots that swap places and see nobody meet in the middle."""
    return fly(short("swap_2"), episodes=10, filter="off", record=7)


def test_alone_it_arrives(alone: Evaluation):
    found = alone.figures
    assert set(found) >= FIELDS
    assert (found["scenario"], found["sim"], found["episodes"]) == ("goto_1", "mujoco", 6)
    assert found["success_rate"] == 1.0
    assert found["collisions"] == found["collision_episodes"] == 0
    assert found["min_distance_m"] is None
    assert found["attitude_error_rad"] is None
    assert 0.0 < found["position_error_m"] < 0.15
    assert 1.0 < found["arrival_time_s"] < 4.0
    assert found["agent_steps"] == 6 * 200
    assert found["realtime_factor"] > 0
    assert found["active_share"] == 0.0
    assert json.loads(json.dumps(found)) == found


def test_blind_robots_collide(blind: Evaluation):
    found = blind.figures
    assert found["collision_episodes"] > 5
    assert found["collisions"] == found["collision_episodes"]  # there is one pair only
    assert found["engine_contact_episodes"] == found["collision_episodes"]
    assert found["min_distance_m"] < 2 * 0.07
    assert found["separation_violation_episodes"] >= found["collision_episodes"]
    assert blind.success.sum() == round(found["success_rate"] * 10)


def test_the_filter_keeps_them_apart():
    found = fly(short("swap_2"), episodes=10).figures
    assert found["collisions"] == found["engine_contact_episodes"] == 0
    assert found["min_distance_m"] > 2 * 0.07
    assert found["active_share"] > 0.01


def test_engines_agree_on_the_same_episodes(alone: Evaluation):
    """The same seed, the same weather, the same policy: the same flight."""
    scenario = short("goto_1")
    found = fly(scenario, episodes=6, filter="off", sim="fast").figures
    assert found["success_rate"] == alone.figures["success_rate"]
    assert found["arrival_time_s"] == pytest.approx(alone.figures["arrival_time_s"], abs=0.02)
    assert found["position_error_m"] == pytest.approx(alone.figures["position_error_m"], abs=1e-3)
    assert found["return_mean"] == pytest.approx(alone.figures["return_mean"], rel=1e-3)


def test_the_recorded_flight_is_that_episode(blind: Evaluation):
    log = blind.log
    assert log is not None
    assert log.pos_m.shape == (len(log.time_s), 2, 3)
    assert log.nominal.shape == log.command.shape == (len(log.time_s), 2, 4)
    assert np.diff(log.time_s) == pytest.approx(0.02)
    assert np.array_equal(log.nominal, log.command)
    assert not log.active.any()
    team = make_team(short("swap_2"), "mujoco", 10, 0)
    assert np.array_equal(log.goal_m[0], team.reset().goal_m[7])


def test_another_seed_is_another_episode(blind: Evaluation):
    other = fly(short("swap_2", 0.1), episodes=10, seed=1, filter="off", record=7)
    assert blind.log is not None
    assert other.log is not None
    assert not np.array_equal(blind.log.goal_m[0], other.log.goal_m[0])


def finished(**columns: Any) -> Any:
    episodes = start_episodes(4)
    return episodes._replace(**{k: np.asarray(v) for k, v in columns.items()})


def test_success_needs_arrival_and_no_failure():
    done = finished(arrived_step=[10, -1, 10, -1], failed=[False, False, True, True])
    assert successes(done).tolist() == [True, False, False, False]


def test_figures_by_hand():
    done = finished(
        steps=[100, 50, 100, 100], arrived_step=[50, -1, 100, -1], failed=[False, True, False, False],
        touching=[0, 3, 0, 0], closest_m=[0.5, 0.1, 0.3, 0.4], error_m=[5.0, 99.0, 10.0, 15.0],
        error_count=[50, 1, 50, 50], reward=[1.0, -1.0, 3.0, 1.0],
    )  # fmt: skip
    found = FlightScore(load_scenario("swap_4")).figures(done)
    assert found["success_rate"] == 0.5
    assert found["collisions"] == 2  # three robots touched: two pairs at least
    assert found["collision_episodes"] == 1
    assert found["min_distance_m"] == pytest.approx(0.1)
    assert found["position_error_m"] == pytest.approx((0.1 + 0.2 + 0.3) / 3)  # not of the episode that failed
    assert found["arrival_time_s"] == pytest.approx((1.0 + 2.0) / 2)
    assert found["return_mean"] == 1.0
    assert found["agent_steps"] == 350 * 4


def test_what_follows_a_failure_is_not_counted():
    scenario = load_scenario("swap_2")
    team = make_team(scenario, "mujoco", 1, 0)
    before = team.reset()
    after = team.step(np.zeros((1, 2, 4)))
    touching = after._replace(closest_m=np.full((1, 2), 0.1, np.float32))
    none = np.zeros((1, 2), bool)
    zeros = np.zeros((1, 2, 4))
    result = FilterResult(zeros, zeros, none, none * 0.0, ~none, none * 0, none * 0.0)
    score = FlightScore(scenario)
    first, *others = [Step(before, world, result, np.zeros(1, bool)) for world in (after, touching, after)]
    once = score.count(score.start(1), first)
    done = once
    for step in others:
        done = score.count(done, step)
    assert (done.steps[0], done.failed[0], done.touching[0], done.running[0]) == (2, True, 2, False)
    assert done.reward[0] == pytest.approx(once.reward[0] + score.reward(others[0]).mean())
    assert done.closest_m[0] == pytest.approx(0.1)


def test_batches_are_joined_and_cut():
    parts = [finished(reward=[1, 2, 3, 4]), finished(reward=[5, 6, 7, 8])]
    assert join(parts, 6).reward.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("count", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_interval(count: int, trials: int, low: float, high: float):
    """The last row is the example of Newcombe (1998), method 3."""
    assert wilson(count, trials) == pytest.approx([low, high], abs=1e-4)


def test_paired_difference():
    first = np.array([True] * 80 + [False] * 20)
    second = np.array([True] * 60 + [False] * 40)
    found = paired_difference(first, second)
    assert found["success_difference"] == pytest.approx(0.2)
    low, high = found["difference_ci95"]
    assert 0.11 < low < 0.14
    assert 0.26 < high < 0.29
    assert (found["only_first"], found["only_second"]) == (20, 0)


def test_bootstrap_interval():
    """Beside the normal approximation of a mean of 400 values; None where the task has no such figure."""
    values = np.random.default_rng(3).exponential(2.0, 400)
    low, high = bootstrap(values) or (0.0, 0.0)
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.15 * half)
    assert high == pytest.approx(values.mean() + half, abs=0.25 * half)
    assert bootstrap(np.ones(5)) == [1.0, 1.0]
    assert bootstrap(np.empty(0)) is None
    assert bootstrap(np.array([1.0, np.nan])) is None


def test_figures_have_intervals_around_their_means(alone: Evaluation):
    found = alone.figures
    for mean, interval in (("return_mean", "return_ci95"), ("position_error_m", "position_error_ci95"),
                           ("arrival_time_s", "arrival_time_ci95")):  # fmt: skip
        assert found[interval][0] <= found[mean] <= found[interval][1]
    assert found["attitude_error_ci95"] is None


def test_sensitivity_pins_one_parameter_at_a_time_within_and_beyond_training():
    """The motors of a robot that falls out of the sky at twice the mass and half the thrust: success says so."""
    randomize = RandomizeConfig(thrust_scale=(0.4, 1.0), packet_loss=(0.0, 0.8))
    scenario = dataclasses.replace(short("goto_1"), randomize=randomize)
    config = EvalConfig(episodes=2, filter="off", progress=False)
    points = sensitivity(GotoPolicy(scenario), scenario, config)
    assert list(points) == ["thrust_scale", "packet_loss"]
    assert [p["value"] for p in points["thrust_scale"]] == pytest.approx([0.1, 0.4, 0.7, 1.0, 1.3, 1.6])
    assert [p["value"] for p in points["packet_loss"]] == pytest.approx([0.0, 0.4, 0.8])  # no negative, none over 1
    assert [p["in_training"] for p in points["thrust_scale"]] == [False, True, True, True, False, False]
    assert points["thrust_scale"][0]["success_rate"] == 0.0
    assert points["thrust_scale"][3]["success_rate"] == 1.0
    with pytest.raises(UserError, match="randomizes nothing"):
        sensitivity(GotoPolicy(scenario), dataclasses.replace(scenario, randomize=RandomizeConfig()), config)


def test_perturb_takes_the_name_of_a_held_out_variation():
    scenario = load_scenario("swap_4")
    assert perturbed(scenario, ["windy"]) == perturbed(scenario, ["wind_m_s=1.0"])
    assert spelled_out(scenario, ["late", "mass_scale=1.1"]) == ["delay_s=0.06", "mass_scale=1.1"]


def test_perturb_pins_a_parameter():
    scenario = perturbed(load_scenario("swap_4"), ["mass_scale=1.1", "packet_loss=0.5"])
    assert scenario.randomize.mass_scale == (1.1, 1.1)
    assert scenario.randomize.packet_loss == (0.5, 0.5)
    assert scenario.randomize.delay_s == load_scenario("swap_4").randomize.delay_s


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("colour=1", "'colour' is not a randomized parameter; allowed: mass_scale"),
        ("mass_scale", "write NAME=VALUE"),
        ("mass_scale=heavy", "write NAME=VALUE"),
        ("mass_scale=-1", "must be \\[low, high\\] with 0 <= low"),
        ("packet_loss=2", "must end at 1 or below"),
    ],
)
def test_bad_perturbations_are_named(change: str, message: str):
    with pytest.raises(UserError, match=message):
        perturbed(load_scenario("swap_4"), [change])


def test_a_heavier_robot_sinks(alone: Evaluation):
    """The controller believes the vehicle file, so that weight shows as an error of place."""
    heavy = fly(perturbed(short("goto_1"), ["mass_scale=1.1"]), episodes=6, filter="off")
    assert heavy.figures["position_error_m"] > 2 * alone.figures["position_error_m"]


def test_a_policy_flies_in_teams_of_other_sizes():
    policy, _ = resolve_policy("baseline", "goto_1")
    found = evaluate(policy, short("goto_3", 0.2), EvalConfig(episodes=2, progress=False)).figures
    assert found["robots"] == 3


@pytest.mark.parametrize(
    ("name", "scenario", "message"),
    [
        ("nobody", None, "Unknown policy 'nobody': no run folder or bundle there; name a run's or bundle's folder"),
        ("baseline", None, "'baseline' belongs to no scenario; add --scenario NAME"),
        ("baseline", "nosuch", "Unknown scenario 'nosuch'"),
    ],
)
def test_unknown_policies_are_named(name: str, scenario: str | None, message: str):
    with pytest.raises(UserError, match=message):
        resolve_policy(name, scenario)


@pytest.mark.parametrize(
    ("name", "scenario"), [("passage_4", None), ("swap_4", "passage_4"), ("baseline", "passage_4")]
)
def test_a_scenario_of_another_kind_of_team_is_refused(name: str, scenario: str | None):
    with pytest.raises(UserError, match=r"passage_4.toml: task = 'passage' is another kind of team's"):
        resolve_policy(name, scenario, kind=FlightScenario)


@pytest.mark.parametrize(
    ("options", "message"), [({"episodes": 0}, "--episodes 0 must be"), ({"filter": "magic"}, "magic is not a mode")]
)
def test_bad_options_are_named(options: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        EvalConfig(**options)
