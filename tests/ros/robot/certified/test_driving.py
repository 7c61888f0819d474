"""Certified robots that drive: where policies see them, when they begin anew, and commands with a gain."""

import numpy as np
import pytest

from robomarl.core.certificate.course import state_at
from robomarl.core.filter.params import Arena, from_vehicle
from robomarl.core.geometry import quat_from_yaw
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.view import LocalView, blank_view
from robomarl.ros.robot.certified.carry import RobotCarry, TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot

VEHICLE = load_any_vehicle("turtlebot3_burger")
PARAMS = from_vehicle(VEHICLE, 0.05, Arena((-3.0, -3.0, -0.1), (3.0, 3.0, 0.5)))
AHEAD_M, YAW = PARAMS.look_ahead_m, 0.7
HEADING = np.array([np.cos(YAW), np.sin(YAW), 0.0])


def robot(is_gained: bool = False) -> CertifiedRobot:
    return CertifiedRobot(PARAMS, VEHICLE.body.radius_m, TeamSeat(0, []), is_gained)


def view_at(place: np.ndarray, vel: np.ndarray | None = None) -> LocalView:
    """Alone, its axle at a place."""
    view, still = blank_view(0), np.zeros(3)
    own = view.own._replace(pos_m=place, quat_wxyz=quat_from_yaw(np.array(YAW)), age_s=np.array(0.0))
    return view._replace(own=own._replace(vel_m_s=still if vel is None else vel, omega_rad_s=still))


def moved(guard: CertifiedRobot, nominal: np.ndarray, decisions: int = 20) -> tuple[RobotCarry, LocalView]:
    """One that makes its reference's acceleration exactly, straight ahead."""
    carry, pos, vel = guard.init(), np.zeros(3), np.zeros(3)
    for step in range(decisions):
        carry = guard.hear(carry, [], 100.0 + 0.05 * step)
        carry, result = guard(carry, view_at(pos, vel), nominal)
        accel = result.command[:3]
        pos, vel = pos + vel * 0.05 + accel * 0.05**2 / 2, vel + accel * 0.05
    return carry, view_at(pos, vel)


def test_policies_see_the_axle_behind_the_reference():
    guard = robot()
    carry, view = moved(guard, np.append(0.05 * HEADING, 0.0))
    led, fast = state_at(carry.robot.course, carry.robot.until_s, np)
    seen = guard.seen(carry, view).own
    assert np.linalg.norm(fast) > 0.02
    assert seen.pos_m == pytest.approx(led - AHEAD_M * HEADING, abs=1e-6)
    assert seen.vel_m_s == pytest.approx(fast, abs=1e-6) and seen.omega_rad_s == pytest.approx([0, 0, 0], abs=1e-5)


def test_a_reference_that_goes_aside_turns_the_robot():
    guard = robot()
    across = np.array([-HEADING[1], HEADING[0], 0.0])
    carry, view = moved(guard, np.append(0.05 * across, 0.0), 4)
    _, fast = state_at(carry.robot.course, carry.robot.until_s, np)
    seen = guard.seen(carry, view).own
    assert seen.omega_rad_s[2] == pytest.approx(np.linalg.norm(fast) / AHEAD_M, rel=1e-4)
    assert seen.vel_m_s == pytest.approx(np.zeros(3), abs=1e-6)


def test_it_begins_anew_where_it_was_carried_and_not_where_it_is():
    """Its axle is farther behind its reference than its tube is wide, all along."""
    guard = robot()
    assert guard.figures.unlearned.radius_m < AHEAD_M
    carry, view = moved(guard, np.zeros(4))
    session_s = carry.session_s
    stays = guard.rest(guard.hear(carry, [], 102.0), view)
    assert stays.session_s == session_s
    away = view_at(view.own.pos_m + [0.5, 0.0, 0.0])
    anew = guard.rest(guard.hear(carry, [], 102.0), away)
    assert anew.session_s == 102.0
    assert anew.robot.course.pos_m == pytest.approx(away.own.pos_m + AHEAD_M * HEADING, abs=1e-3)


def test_a_gain_has_no_meaning_and_is_told():
    guard, plain = robot(is_gained=True), robot()
    wish = np.append(0.05 * HEADING, 0.0)
    carry = guard.hear(guard.init(), [], 100.0)
    _, by_policy = guard(carry, view_at(np.zeros(3)), np.append(wish, 1.5))
    _, by_node = guard(carry, view_at(np.zeros(3)), wish)
    _, without = plain(carry, view_at(np.zeros(3)), wish)
    assert np.array_equal(by_policy.command, without.command) and np.array_equal(by_node.command, without.command)
    assert by_policy.nominal[4] == 1.5 and by_node.nominal[4] == PARAMS.safety.gain_per_s
    assert len(without.nominal) == len(without.command) == 4
