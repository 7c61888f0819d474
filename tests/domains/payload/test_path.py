"""Goals that move along a figure-eight, and what an evaluation says of who follows."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.view import Goal, LoadSensed, blank_view
from robomarl.domains.flight.core.payload.scenario import PathConfig
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.evaluation.score import FlightScore, path_figures
from robomarl.domains.flight.lab.payload.controllers.decentralized import PlaceLaw
from robomarl.domains.flight.lab.payload.follow import move_goal
from robomarl.lab.evaluate.score import start_episodes
from robomarl.lab.sim.scenario import load_scenario


@pytest.fixture(scope="module")
def law() -> PlaceLaw:
    return PlaceLaw(load_scenario("lift_3_eight"))


def test_the_path_is_closed_and_has_its_speed():
    path = PathConfig(half_m=(1.5, 0.75), speed_m_s=0.5)
    time_s = np.linspace(0, path.period_s, 4001)
    places = path.offset_m(time_s)
    assert np.allclose(places[[0, -1]], 0.0, atol=1e-9)
    assert places.max(0) == pytest.approx([1.5, 0.75, 0.0], abs=1e-5)
    length = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    assert length / path.period_s == pytest.approx(0.5, rel=1e-4)


def test_the_goal_moves_along_it_and_ahead_of_it():
    scenario = load_scenario("lift_3_eight")
    assert scenario.load is not None
    path = scenario.load.path
    assert path is not None
    team = make_team(scenario, "mujoco", 2, 0)
    team.reset()
    first = team.world.goal_m.copy()
    for _ in range(30):
        team.step(np.zeros((2, 3, 5)))
    wanted = path.offset_m(np.array(0.3 + path.ahead_s)) - path.offset_m(np.array(path.ahead_s))
    assert np.allclose(team.world.goal_m - first, wanted, atol=1e-5)
    assert np.linalg.norm(wanted) > 0.1


def test_a_goal_without_a_path_stays():
    goal = np.ones((2, 3, 3), np.float32)
    assert move_goal(load_scenario("lift_3"), goal, np.array([4, 5])) is goal


def gone_from(places_m: np.ndarray, law: PlaceLaw) -> np.ndarray:
    """What one robot sees of the motion of a goal that was at places [T, 3]."""
    load = LoadSensed(np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros((3, 4)), np.ones(()))
    views = [blank_view(0, load)._replace(goal=Goal(p, np.array([1.0, 0, 0, 0]))) for p in places_m]
    memory, obs = law.observation.init(views[0]), np.zeros(0)
    for view in views:
        memory, obs = law.observation.observe(memory, view)
    return obs[48:]


def watched(places_m: np.ndarray, law: PlaceLaw) -> tuple[np.ndarray, ...]:
    """Velocity, acceleration and jerk of that goal [3], as the robot reckons them."""
    assert law._goal is not None
    return law._goal(gone_from(places_m, law))


def test_how_a_goal_moves_shows_in_where_it_was(law: PlaceLaw):
    """A goal with a constant jerk, by hand: 0.5 - 0.4 t + 0.2 t^2 m/s after three seconds, far from the origin."""
    t = np.arange(0, 3.005, 0.01)
    places = np.stack([50 + 0.5 * t - 0.2 * t**2 + 0.2 / 3 * t**3, -80 + 0 * t, 0 * t], -1)
    speed, accel, jerk = watched(places, law)
    np.testing.assert_allclose(speed, [0.5 - 1.2 + 1.8, 0, 0], atol=0.02)
    np.testing.assert_allclose(accel, [-0.4 + 1.2, 0, 0], atol=0.02)
    np.testing.assert_allclose(jerk, [0.4, 0, 0], atol=0.05)


def test_a_goal_that_comes_in_messages_seems_to_move_as_steadily(law: PlaceLaw):
    """Twenty messages a second, the latest held: at 1 m/s steps of 5 cm."""
    t = np.arange(0, 2.005, 0.01)
    seen = [
        watched(np.stack([np.floor(t[:end] * 20) / 20, 0 * t[:end], 0 * t[:end]], -1), law) for end in range(150, 160)
    ]
    assert all(np.linalg.norm(speed - [1, 0, 0]) < 0.15 and np.linalg.norm(accel) < 1.0 for speed, accel, _ in seen)


def test_a_goal_that_jumps_is_flown_to_and_not_along_with(law: PlaceLaw):
    places = np.zeros((100, 3))
    places[50:] = (2.0, 0.0, 0.0)
    for seen in (51, 60, 100):
        speed, accel, _ = watched(places[:seen], law)
        assert np.abs(speed).max() < 0.05 and np.abs(accel).max() < 0.4


def test_a_law_flies_along_with_its_goal(law: PlaceLaw):
    """Just where it should be and as fast: what is left is the acceleration of its goal, as it will be."""
    t = np.arange(0, 3.005, 0.01)
    gone = gone_from(np.stack([0.25 * t**2 - 0.5 * t, 0 * t, 0 * t], -1), law)
    moving = law._goal(gone)  # type: ignore[misc]
    obs = np.zeros(law.observation.size, np.float32)
    obs[6:15] = obs[24:33] = np.eye(3).ravel()
    obs[3:6] = moving[0] + law.gains.goal_lean_s2 * moving[2]
    obs[:3] = -law.gains.goal_lean_s2 * moving[1]
    obs[48:] = gone
    np.testing.assert_allclose(law.act(obs)[:3], [0.5 + law.gains.goal_lead_s * moving[2][0], 0, 0], atol=0.02)


def test_the_same_law_where_the_goal_stays(law: PlaceLaw):
    obs = np.random.default_rng(0).normal(size=(20, law.observation.size)).astype(np.float32)
    obs[:, 48:] = 0
    scenario = load_scenario("lift_3")
    stays = PlaceLaw(dataclasses.replace(scenario, load=dataclasses.replace(scenario.load, trim_s=0.0)))
    assert stays.observation == PlaceLaw.observation
    np.testing.assert_array_equal(law.act(obs), stays.act(obs[:, :48]))


def test_root_mean_square_of_those_who_followed():
    scenario = load_scenario("lift_3_eight")
    assert FlightScore(scenario).settled_s == 25.0
    done = start_episodes(3)._replace(
        error_count=np.array([4, 2, 4]), square_m2=np.array([0.04, 0.08, 9.0]), failed=np.array([False, False, True])
    )
    found = path_figures(scenario, done)
    assert found["path_rmse_m"] == pytest.approx((0.1 + 0.2) / 2)
    assert found["path_followed_rate"] == pytest.approx(2 / 3)
    assert path_figures(load_scenario("lift_3"), done) == {}
