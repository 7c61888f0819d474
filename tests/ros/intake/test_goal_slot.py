"""What becomes of a goal that a robot cannot rest at: in flight, on the ground, under a load."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.core.filter.filter import Arena, from_vehicle
from robomarl.core.goals.room import goal_fault, inside
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.view import Goal
from robomarl.domains.flight.front.payload.up import check_mission
from robomarl.ros.intake.goal_slot import GoalLimits, GoalSlot
from robomarl.ros.robot.inbox import Estimate, Inbox, InboxLimits, Now

UP = np.array([1.0, 0, 0, 0])
PARAMS = from_vehicle(load_vehicle("crazyflie_21"), 0.02, Arena((-3.5, -3.5, 0.1), (3.5, 3.5, 3.0)))
LIMITS = GoalLimits(partial(goal_fault, PARAMS), partial(inside, PARAMS))


def goal(x: float, z: float = 1.0) -> Goal:
    return Goal(np.array([x, 0.0, z]), UP)


def test_a_robot_in_flight_stays_where_it_is_until_a_goal_is_good():
    slot = GoalSlot(LIMITS, None)
    assert slot.put(goal(1.0), goal(0.0)) == ""
    assert "x = 40 m" in slot.put(goal(40.0), goal(0.3, 1.1))
    assert slot.value is not None
    np.testing.assert_array_equal(slot.value.pos_m, [0.3, 0, 1.1])
    assert slot.refused.startswith("refused, the robot stays where it is: (40, 0, 1) is outside the arena")
    assert slot.missing == ""
    assert slot.put(goal(2.0), goal(0.3)) == ""
    assert (slot.refused, slot.count) == ("", 3)


def test_where_it_stays_it_can_rest():
    slot = GoalSlot(LIMITS, None)
    slot.put(goal(40.0), goal(0.0, 0.12))
    assert slot.value is not None
    assert goal_fault(PARAMS, slot.value.pos_m) == ""


def test_a_robot_on_the_ground_has_no_goal_then():
    slot = GoalSlot(LIMITS, None)
    slot.put(goal(1.0), None)
    slot.put(goal(40.0), None)
    assert slot.value is None
    assert slot.missing.startswith("refused: (40, 0, 1) is outside")


def test_a_load_stays_at_its_last_goal():
    slot = GoalSlot(GoalLimits(partial(goal_fault, PARAMS)), None)
    slot.put(goal(1.0), goal(0.0))
    slot.put(goal(40.0), goal(0.3))
    assert slot.value is not None and slot.value.pos_m[0] == 1.0
    assert slot.refused.startswith("refused, the load stays at its last goal")


@pytest.fixture
def inbox() -> Inbox:
    inbox = Inbox(("a",), 0, InboxLimits(0.1, 0.5, goals=LIMITS))
    inbox.put_own(Estimate(np.array([0.2, 0, 1.0]), UP, np.zeros(3), np.zeros(3)), 100.0, 5.0)
    return inbox


def read(inbox: Inbox) -> Callable[[str], list[str]]:
    reading = inbox.read(Now(100.01, 5.01))
    return lambda source: [p.text for p in reading.problems if p.source == source]


def test_an_inbox_flies_on_and_names_the_goal(inbox: Inbox):
    inbox.jumps.in_flight = True
    inbox.put_goal(goal(1.0))
    inbox.put_goal(goal(40.0))
    (said,) = read(inbox)("goal")
    assert "the robot stays where it is" in said and "-3.5 to 3.5 m" in said
    reading = inbox.read(Now(100.01, 5.01))
    assert reading.own_ok and reading.task_ok  # nothing that would brake it blindly
    np.testing.assert_array_equal(reading.view.goal.pos_m, [0.2, 0, 1.0])
    assert reading.goals == 2


def test_an_inbox_on_the_ground_is_not_ready(inbox: Inbox):
    inbox.put_goal(goal(0.0, -5.0))
    (said,) = read(inbox)("goal")
    assert said.startswith("refused: (0, 0, -5) is outside the arena: z = -5 m, and it reaches from 0.1 to 3 m")


def test_a_mission_with_a_set_point_outside_the_arena_is_refused(tmp_path: Path):
    mission = tmp_path / "far.yaml"
    mission.write_text("version: 1\nname: far\nset_points:\n  - {at_s: 0.0, pos_m: [40.0, 0.0, 1.4]}\nland_s: 5.0\n")
    with pytest.raises(UserError, match=r"the set-point at 0 s, \(40, 0, 1.4\) is outside the arena.*-5 to 5 m"):
        check_mission(load_fleet("lift_3"), str(mission))
    check_mission(load_fleet("lift_3"), "lift_3")
