"""Who is lost is found by what the load does, and the carrier across it leans its cable out."""

import dataclasses
import math

import numpy as np
import pytest

from robomarl.core.features import FEATURES, NeighbourRule
from robomarl.core.view import Goal, LoadSensed, LocalView
from robomarl.domains.flight.core.payload.features import AROUND_M, HIGH_M
from robomarl.domains.flight.lab.engines.teams import make_team
from robomarl.domains.flight.lab.payload.controllers.decentralized import Gains, PlaceLaw
from robomarl.domains.flight.lab.payload.controllers.lost_mate import leaning, outwards, rotated
from robomarl.domains.flight.lab.payload.follow import pose_errors
from robomarl.lab.sim.scenario import load_scenario

ACROSS = 2
"""Places at `lift_4` are in the order of its corners: this many on is the corner across."""


def test_a_vector_turns_about_an_axis_by_the_right_hand():
    quarter = math.pi / 2
    assert rotated(np.array([0.0, 0, 2]), np.array([0, quarter, 0])) == pytest.approx([2, 0, 0], abs=1e-6)
    assert rotated(np.array([1.0, 2, 3]), np.zeros(3)) == pytest.approx([1, 2, 3])


def test_a_cable_that_leans_by_a_right_angle_points_level_and_away_from_the_load():
    """The place was 1 m above a point that is 0.5 m ahead of the load's middle; a tenth more where that is too high."""
    gains = Gains(lean_rad=math.pi / 2, lean_reach=0.1, lean_high_m=0.1)
    above, point, share = np.array([0, 0, 1.0]), np.array([0.5, 0, 0.3]), np.ones(1)
    assert outwards(gains, share, (above, point), np.zeros(1)) == pytest.approx([1, 0, -1], abs=1e-5)
    assert outwards(gains, share, (above, point), np.full(1, 0.5)) == pytest.approx([1.1, 0, -1], abs=1e-5)
    assert outwards(gains, 0 * share, (above, point), np.ones(1)) == pytest.approx([0, 0, 0], abs=1e-6)


def test_nothing_leans_soon_or_far_from_the_goal():
    gains = Gains(lean_from=0.6, lean_within_m=0.3)
    way = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.45, 0, 0], [0, 0.6, 0]])
    lasting = np.array([0.6, 0.8, 1.0, 1.0, 1.0])[:, None]
    assert leaning(gains, way, lasting)[:, 0] == pytest.approx([0, 0.5, 1, 0.5, 0], abs=1e-6)


def view_of(tilt_rad: float, away_m: float) -> LocalView:
    """The first robot of `lift_4` under a level load whose goal is pitched nose down by so much."""
    team = make_team(load_scenario("lift_4"), "fast", 1, 0)
    team.reset()
    view = team.views()
    assert isinstance(view.sensed, LoadSensed)
    sensed = view.sensed._replace(load_quat_wxyz=view.sensed.load_quat_wxyz * 0 + np.array([1.0, 0, 0, 0]))
    quat = np.array([math.cos(tilt_rad / 2), 0, math.sin(tilt_rad / 2), 0])
    goal = Goal(sensed.load_pos_m + np.array([away_m, 0, 0]), view.goal.quat_wxyz * 0 + quat)
    return view._replace(sensed=sensed, goal=goal)


def test_a_point_is_too_high_where_its_goal_is_lower():
    """The corners ahead, 0.27 m from the middle, should be lower by 0.27 sin(tilt), those behind higher."""
    read, rule = FEATURES["point_high"], NeighbourRule()

    def high(view: LocalView) -> np.ndarray:
        from robomarl.domains.flight.core.payload.features import carried

        return np.asarray(read.read(carried(view), rule)[0])[0]  # type: ignore[arg-type]

    small = math.asin(0.5 * HIGH_M / 0.27)
    assert high(view_of(small, 0.0)) == pytest.approx([0.5, 0.5, -0.5, -0.5], abs=1e-3)
    assert high(view_of(0.5, 0.0)) == pytest.approx([1, 1, -1, -1], abs=1e-3)
    assert high(view_of(0.5, AROUND_M)) == pytest.approx([0.5, 0.5, -0.5, -0.5], abs=1e-3)


@pytest.mark.slow
def test_a_load_with_a_dead_vehicle_comes_nearly_level_and_only_the_carrier_across_moved():
    scenario = load_scenario("lift_4_lost")
    scenario = dataclasses.replace(scenario, randomize=dataclasses.replace(scenario.randomize, motors_off_s=(5.0, 5.0)))
    tilt = {}
    for lean_rad in (0.0, Gains().lean_rad):
        law = PlaceLaw(scenario, Gains(lean_rad=lean_rad))
        team = make_team(scenario, "mujoco", 6, 0)
        team.reset()
        memory = law.observation.init(team.views())
        for _ in range(scenario.max_steps):
            memory, obs = law.observation.observe(memory, team.views())
            team.step(law.act(obs))
        tilt[lean_rad] = np.degrees(np.median(pose_errors(team.world)[1]))
        across = (np.argmin(team.world.load.cargo.off_s, -1) + ACROSS) % 4  # type: ignore[union-attr]
        if lean_rad == 0.0:
            assert (obs[..., -1].argmax(-1) == across).all()
    assert tilt[Gains().lean_rad] < 25 < 35 < tilt[0.0]
