"""Goals that no robot can rest at are named with the limit and both numbers."""

import dataclasses

import numpy as np
import pytest

from robomarl.core.filter.filter import Arena, from_vehicle
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.goals.rest import PERIOD_S, margins, vehicle_rest
from robomarl.core.goals.room import box_fault, goal_fault, inside, spacing_faults
from robomarl.core.hardware.vehicle import load_any_vehicle

VEHICLE = load_any_vehicle("crazyflie_21")
PILLAR = Obstacle("capsule", (1, 1, 0), (1, 1, 3), 0.1, name="pillar")
PARAMS = dataclasses.replace(
    from_vehicle(VEHICLE, PERIOD_S, Arena((-3.5, -3.5, 0.1), (3.5, 3.5, 3.0))), obstacles=(PILLAR,)
)


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ((40, 0, 1), ("(40, 0, 1)", "x = 40 m", "-3.5 to 3.5 m")),
        ((0.5, 0.5, -5), ("z = -5 m", "0.1 to 3 m")),
        ((0, 3.45, 1), ("(0, 3.45, 1)", "0.05 m", "axis y", f"{margins(PARAMS).wall_m:.3f} m")),
        ((0, 0, 0.15), ("0.05 m", "axis z", f"{margins(PARAMS).floor_m:.3f} m")),
        ((0, 0, 2.95), ("0.05 m", "axis z")),
        ((1.15, 1, 1), ("0.05 m", "'pillar'", f"{margins(PARAMS).obstacle_m:.3f} m")),
        ((1, 1, 1), ("-0.1 m", "'pillar'")),
        ((float("nan"), 0, 1), ("(nan, 0, 1)", "is not finite")),
        ((float("inf"), 0, 1), ("is not finite",)),
    ],
)
def test_a_goal_that_no_robot_can_rest_at_is_named(goal: tuple, words: tuple):
    said = goal_fault(PARAMS, np.array(goal, float))
    assert all(word in said for word in words), said


@pytest.mark.parametrize("goal", [(0, 0, 1), (3.3, -3.3, 2.8), (1.4, 1, 1)])
def test_a_goal_with_room_is_none(goal: tuple):
    assert goal_fault(PARAMS, np.array(goal, float)) == ""


def test_without_an_arena_only_obstacles_and_numbers_count():
    anywhere = dataclasses.replace(PARAMS, arena=None)
    assert goal_fault(anywhere, np.array([40.0, 0, -1])) == ""
    assert "pillar" in goal_fault(anywhere, np.array([1.0, 1, 1]))


def test_what_a_team_carries_may_hang_at_the_very_limit():
    assert box_fault(PARAMS, np.array([3.5, 0, 0.1])) == ""
    assert "x = 3.51 m" in box_fault(PARAMS, np.array([3.51, 0, 0.1]))


def test_a_place_is_moved_to_where_a_robot_rests():
    moved = inside(PARAMS, np.array([40.0, 0, 0.0]))
    assert goal_fault(PARAMS, moved) == ""
    assert moved[1] == 0


def test_goals_nearer_than_robots_rest_are_named_with_both_numbers():
    rest = vehicle_rest(VEHICLE)
    goals = {name: np.array([x, 0.0, 1.0]) for name, x in (("one", 0.0), ("two", 0.34), ("three", 0.7))}
    first, second = spacing_faults(rest, goals)
    assert first.startswith("the goals of one and two are 0.34 m apart")
    assert f"{rest.beside_m:.3f} m beside" in first
    assert "two and three" in second


def test_goals_of_robots_that_drive_have_one_distance():
    rest = vehicle_rest(load_any_vehicle("ssl_omni"))
    (said,) = spacing_faults(rest, {"a": np.zeros(3), "b": np.array([0.3, 0, 0])})
    assert said.endswith(f"0.3 m apart, and robots rest no nearer to each other than {rest.beside_m:.3f} m")
