"""Certified robots that can't land, or that are somewhere else than they say."""

import numpy as np
import pytest

from robomarl.core.view import blank_view
from robomarl.ros.robot.certified.carry import TeamSeat
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.state_machine import Order, State
from tests.ros.autorig import PARAMS, Robot
from tests.ros.robot.certified.paper_team import VEHICLE, PaperTeam

INPUTS = ("odometry", "mate", "goal")


def test_a_landing_beside_a_team_mate_that_does_not_answer_ends_by_the_vehicle():
    guard = CertifiedRobot(PARAMS, VEHICLE.body.radius_m, TeamSeat(0, [1]))
    robot = Robot(safety=guard)  # pyright: ignore[reportArgumentType]
    robot.tick(*INPUTS)
    assert robot.start() == ""
    for _ in range(20):
        robot.tick(*INPUTS)
    assert robot.autopilot.state is State.ACTIVE
    assert robot.autopilot.doubts == "has agreed on no course with mate yet"
    assert robot.autopilot.order(Order.LAND, robot.now) == ""
    for _ in range(240):
        robot.tick(*INPUTS)
    assert robot.autopilot.state is State.LAND
    for _ in range(20):
        robot.tick(*INPUTS)
    assert robot.autopilot.state is State.STOP
    assert "could not sink further" in robot.autopilot.why


def test_a_robot_that_is_carried_away_at_rest_begins_a_session_where_it_is():
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    robot, mate = team.robots
    assert robot.agreed
    view = blank_view(1)
    here = robot.carry.plan.stop_m
    for away_m, is_new in ((0.05, False), (1.0, True)):
        own = view.own._replace(pos_m=here + [0, 0, away_m], vel_m_s=np.zeros(3))
        carry = robot.guard.hear(robot.carry, [None], team.now_s + 3.0)
        carry = robot.guard.rest(robot.guard.rest(carry, view._replace(own=own)), view._replace(own=own))
        assert (carry.session_s > robot.carry.session_s) == is_new
        assert bool(carry.robot.pact.number[0]) != is_new
        if is_new:
            assert carry.robot.course.pos_m == pytest.approx(own.pos_m)


@pytest.mark.parametrize("back_s", [60.0, 0.0])
def test_a_session_that_does_not_seem_later_becomes_so(back_s: float):
    """The clock went back between two sessions of a robot, or simulated time began again."""
    team = PaperTeam(2, seed=2)
    begun_s = team.robots[1].carry.now_s
    for _ in range(60):
        team.tick()
    first, second = team.robots
    assert first.agreed
    second.restart()
    second.carry = second.carry._replace(session_s=first.carry.sessions_s[0] - back_s)
    for _ in range(60):
        team.tick()
    assert first.agreed and second.agreed and team.references_m > 0.49
    assert second.carry.session_s > begun_s


def test_what_was_declined_in_another_session_closes_no_offer():
    team = PaperTeam(2, seed=2)
    for _ in range(60):
        team.tick()
    lead = team.robots[0]
    data = team.said["r1"][-1]
    words = lead.readers["r1"](data)[0].words
    assert words is not None
    words.rows[2, 6:8] = divmod(float(lead.carry.robot.pact.offered[0]), 2**19)  # refused: what the leader offers now
    words.rows[2, [8, 11]] = divmod(lead.carry.session_s - 5.0, 2**19)  # by a robot that knows an earlier session
    from robomarl.ros.robot.certified.words import told_to

    heard = lead.guard.hear(lead.carry, [told_to(words, "r0")], team.now_s).heard
    assert (heard.number[0], heard.offered[0], heard.refused[0]) == (-1, 0, -1)
