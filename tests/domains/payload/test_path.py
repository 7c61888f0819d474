"""Goals that move along a figure-eight, and what an evaluation says of who follows."""

import numpy as np
import pytest

from robomarl.domains.flight.batch import make_team
from robomarl.domains.flight.evaluation.score import FlightScore, path_figures
from robomarl.domains.payload.follow import move_goal
from robomarl.domains.payload.onboard.scenario import PathConfig
from robomarl.evaluate.score import start_episodes
from robomarl.sim.scenario import load_scenario


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
