"""Fail closed: what a robot does when it does not know enough."""

from dataclasses import replace

import numpy as np
import pytest

from robomarl.core.filter.filter import Reason
from robomarl.core.filter.give_way import GiveWay
from robomarl.core.view import Goal
from robomarl.ros.recording.tick_record import tick_names, tick_values
from robomarl.ros.robot.blind_brake import Fallback
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.inbox import Count
from robomarl.ros.robot.state_machine import MOVING, Order, Patience, State, TeamFallback
from tests.ros.autorig import PARAMS, PERIOD_S, TIMING, UP, Robot


@pytest.fixture
def robot() -> Robot:
    made = Robot().hear("odometry", "mate", "goal")
    assert made.start() == ""
    return made


@pytest.mark.parametrize("missing", ["odometry", "mate", "goal"])
def test_it_does_not_start_without_an_input(missing: str):
    robot = Robot().hear(*{"odometry", "mate", "goal"} - {missing})
    refused = robot.start()
    assert refused.startswith(f"is in STANDBY, not in READY; {missing}: ")
    assert [p.source for p in robot.autopilot.problems(robot.now)] == [missing]
    assert robot.tick("odometry", "mate").command is None


def test_it_never_moves_before_it_is_activated():
    robot = Robot().hear("odometry", "mate", "goal")
    for _ in range(5):
        decision = robot.tick("odometry", "mate")
        assert (decision.command, decision.reason) == (None, Held.INACTIVE)
    assert not robot.policy.carries


def test_it_flies_with_everything_and_says_its_plan(robot: Robot):
    decision = robot.tick("odometry", "mate")
    assert decision.command is not None
    np.testing.assert_allclose(decision.command, robot.policy.wish, atol=1e-6)
    assert decision.reason == Reason.OK
    assert not decision.filtered
    assert decision.plan.vel_m_s[0] > 0  # it has just begun to accelerate
    assert robot.tick("odometry", "mate").reading.view.time_s == pytest.approx(2 * PERIOD_S, abs=2e-3)


def test_a_lost_estimate_brakes_within_one_tick_of_its_limit(robot: Robot):
    robot.velocity[:] = (0.8, 0, 0)
    for _ in range(5):
        robot.tick("odometry", "mate")
    reasons = []
    while not reasons or reasons[-1] != Held.BLIND:
        decision = robot.tick("mate")
        reasons.append(decision.reason)
        assert len(reasons) < 10
    late_s = decision.reading.view.own.age_s - Fallback(PARAMS).max_own_age_s
    assert 0 < late_s <= PERIOD_S
    assert decision.command is not None
    s = PARAMS.safety  # the brake that is there whatever error and bias do
    assert decision.command[0] == pytest.approx(-(s.brake_m_s2 + s.accel_error_m_s2 + PARAMS.bias_m_s2[0]), rel=1e-3)
    assert [p.source for p in decision.reading.problems] == ["odometry"]


def test_blind_braking_stops_and_does_not_reverse(robot: Robot):
    robot.velocity[:] = (0.6, -0.4, 0.2)
    robot.policy.wish = np.zeros(4)
    robot.tick("odometry", "mate")
    speed = robot.velocity.copy()
    for _ in range(60):
        command = robot.tick("mate").command
        speed = speed if command is None else speed + command[:3] * PERIOD_S
        assert np.dot(speed, robot.velocity) > -0.01
    assert np.linalg.norm(speed) < 0.02


def test_blind_for_too_long_it_falls_silent_and_only_an_operator_wakes_it(robot: Robot):
    for _ in range(5):
        robot.tick("odometry", "mate")
    decisions = [robot.tick("mate") for _ in range(70)]
    silent = [d for d in decisions if d.reason == Held.SILENT]
    assert len([d for d in decisions if d.reason == Held.BLIND]) == pytest.approx(50, abs=2)
    assert all(d.command is None for d in silent)
    assert robot.autopilot.state is State.STOP
    assert robot.tick("odometry", "mate").command is None
    assert robot.start() == ""
    assert robot.tick("odometry", "mate").reason == Reason.OK


def test_it_goes_on_when_its_estimate_is_back_in_time_with_a_fresh_memory(robot: Robot):
    for _ in range(4):
        robot.tick("odometry", "mate")
    for _ in range(8):
        decision = robot.tick("mate")
    assert decision.reason == Held.BLIND
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Reason.OK
    assert robot.policy.carries[-1] == 0


@pytest.mark.parametrize("gap", ["blind ticks", "a machine that hangs"])
def test_a_deaf_robot_keeps_its_place_while_its_estimate_comes_and_goes(robot: Robot, gap: str):
    """Each time its memory began again it found a new place, and so it sank on for as long as it was deaf."""
    robot.velocity[:], robot.policy.wish = 0.0, np.zeros(4)
    robot.tick("odometry", "mate")
    for _ in range(40):
        decision = robot.tick("odometry")
    assert decision.reason == Reason.STALE
    assert decision.command is not None
    before = decision.command[2]
    for _ in range(20):
        robot.height_m -= 0.02
        if gap == "blind ticks":
            for _ in range(9):
                robot.tick()
        else:
            robot.now_s += 0.2
        decision = robot.tick("odometry")
    assert decision.reason == Reason.STALE
    assert decision.command is not None
    assert decision.command[2] > before + 0.5


def test_a_gap_starts_the_memory_again_but_not_the_queue_of_commands(robot: Robot):
    for _ in range(6):
        robot.tick("odometry", "mate")
    assert robot.policy.carries == [0, 1, 2, 3, 4, 5]
    robot.now_s += 0.2  # the machine hung
    decision = robot.tick("odometry", "mate")
    assert robot.policy.carries[-1] == 0
    assert decision.plan.vel_m_s[0] > 0.8 * 5 * PERIOD_S * 0.5  # what was sent is still taken as coming


@pytest.mark.parametrize("heard", [True, False])
def test_a_mate_that_falls_silent_brakes_the_robot(robot: Robot, heard: bool):
    robot.velocity[:] = (0.5, 0, 0)
    for _ in range(30):
        decision = robot.tick("odometry", *(["mate"] if heard else []))
    assert decision.command is not None
    assert (decision.reason == Reason.OK) is heard
    assert (decision.command[0] < -0.5) is not heard


def test_a_policy_that_fails_brakes_the_robot_and_says_why(robot: Robot):
    robot.velocity[:] = (0.5, 0, 0)
    robot.tick("odometry", "mate")
    robot.policy.error = RuntimeError("no such kernel")
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Held.RAISED
    assert decision.command is not None
    assert decision.command[0] < -0.5
    assert robot.autopilot.error.startswith("RuntimeError: no such kernel (")


def test_a_policy_that_wants_nothing_sane_brakes_the_robot(robot: Robot):
    robot.policy.wish = np.full(4, np.nan)
    decision = robot.tick("odometry", "mate")
    assert decision.reason == Reason.NON_FINITE
    assert decision.command is not None
    assert np.isfinite(decision.command).all()


def test_deactivated_it_sends_nothing_at_once(robot: Robot):
    robot.tick("odometry", "mate")
    robot.autopilot.order(Order.STOP, robot.now)
    assert robot.tick("odometry", "mate").command is None


def test_a_tick_as_numbers_has_a_name_for_each(robot: Robot):
    decision = robot.tick("odometry", "mate")
    names = tick_names(["ax", "ay", "az", "yaw_rate"], ("mate",))
    values = tick_values(decision, TIMING, robot.autopilot.state, [Count(7, 1), Count(9, 0)])
    tick = dict(zip(names, values, strict=True))
    assert tick["stamp_s"] == 100.0
    assert (tick["state"], tick["active"], tick["ready"], tick["reason"]) == (State.ACTIVE, 1, 0, Reason.OK)
    assert tick["command.ax"] == pytest.approx(0.5)
    assert (tick["odometry.received"], tick["odometry.lost"], tick["mate.received"]) == (7, 1, 9)
    assert tick["mate.source_age_s"] == pytest.approx(1e-3, abs=1e-6)
    held = tick_values(robot.autopilot.tick(robot.now), TIMING, State.STOP, [Count(7, 1)] * 2)
    assert len(held) == len(names)


def test_it_takes_off_to_the_hand_over_altitude_waits_for_its_team_and_blends():
    robot = Robot(Patience(blend_s=0.2), handover_m=1.0)
    robot.height_m = 0.1
    robot.hear("odometry", "mate", "goal")
    assert robot.start() == ""
    assert robot.autopilot.state is State.TAKEOFF
    for _ in range(20):
        decision = robot.tick("odometry", "mate")
    assert decision.command is not None
    assert decision.command[2] > 0.1
    assert not robot.policy.carries  # the policy has not been asked
    robot.height_m = 1.0
    commands = []
    while robot.autopilot.state is not State.ACTIVE:
        decision = robot.tick("odometry", "mate")
        assert decision.command is not None
        commands.append(decision.command[0])
        assert len(commands) < 30
    blended = [c for c in commands if c > 1e-3]
    assert len(blended) == pytest.approx(0.2 / PERIOD_S, abs=2)
    assert (np.diff(blended) > -0.02).all()  # from hovering to the policy's 0.5 m/s^2, a little at each tick
    assert np.abs(np.diff(commands)).max() < 0.12


def test_without_the_heartbeat_of_the_e_stop_it_lands(robot: Robot):
    robot.tick("odometry", "mate")
    robot.link = False
    states = []
    for _ in range(60):
        decision = robot.tick("odometry", "mate")
        states.append(robot.autopilot.state)
    assert 48 <= states.index(State.LAND) <= 51  # 1 s
    assert decision.command is not None
    assert "start monitor_node" in str(robot.autopilot.problems(robot.now)[-1])


def test_the_e_stop_is_latched_until_it_is_released_and_reset(robot: Robot):
    robot.tick("odometry", "mate")
    robot.heartbeat.hear("monitor", True, robot.now.steady_s)
    robot.link = False
    assert robot.tick("odometry", "mate").command is None
    assert robot.autopilot.state is State.ESTOP
    assert robot.autopilot.order(Order.RESET, robot.now) == "the E-stop is still pressed"
    robot.link = True
    robot.tick("odometry", "mate")
    assert robot.autopilot.state is State.ESTOP
    assert "is in ESTOP" in robot.autopilot.order(Order.ACTIVATE, robot.now)
    assert robot.start() == ""


@pytest.mark.parametrize("rule", list(TeamFallback))
def test_a_mate_that_leaves_in_flight_is_handled_by_the_rule(rule: TeamFallback):
    robot = Robot(Patience(blend_s=0.0, on_robot_lost=rule)).hear("odometry", "mate", "goal")
    assert robot.start() == ""
    robot.mate = robot.mate._replace(state=State.ACTIVE)
    for _ in range(10):
        robot.tick("odometry", "mate")
    states = [robot.autopilot.state]
    for _ in range(70):
        decision = robot.tick("odometry")
        states.append(robot.autopilot.state)
    expected = {TeamFallback.CONTINUE: State.ACTIVE, TeamFallback.HOLD: State.HOLD, TeamFallback.LAND: State.LAND}[rule]
    assert states[-1] is expected
    if expected is not State.ACTIVE:
        assert 48 <= states.index(expected) <= 52  # 1 s of silence
    assert decision.reason == Reason.OK  # the mate stands where it said it would stop: the filter knows it


def flown(patience: Patience = Patience(blend_s=0.0, vehicle_alone_s=1.9)) -> Robot:  # noqa: B008
    """In flight, and so is its mate."""
    robot = Robot(patience).hear("odometry", "mate", "goal")
    robot.mate = robot.mate._replace(state=State.ACTIVE)
    assert robot.start() == ""
    for _ in range(10):
        robot.tick("odometry", "mate")
    return robot


@pytest.mark.parametrize(
    ("away_s", "state", "why"),
    [
        (0.3, State.ACTIVE, ""),
        (1.2, State.LAND, "no heartbeat of the E-stop"),
        (5.0, State.STOP, "the process stood still, and the vehicle lands by itself"),
        (9.0, State.STOP, "the process stood still, and the vehicle lands by itself"),
    ],
)
def test_a_process_that_stood_still_does_what_its_silence_asks_for(away_s: float, state: State, why: str):
    """Everything is there again when it wakes, and its queue is full of it."""
    robot = flown()
    robot.now_s += away_s
    commands = [robot.tick("odometry", "mate").command for _ in range(30)]
    assert (robot.autopilot.state, robot.autopilot.why) == (state, why)
    assert (commands[0] is None) is (state is State.STOP)  # the vehicle flies alone, or the node at once


def test_an_order_to_fly_that_waited_for_a_process_that_stood_still_is_refused():
    robot = flown()
    assert robot.autopilot.order(Order.HOLD, robot.now) == ""
    robot.now_s += 1.2
    robot.hear("odometry", "mate")
    assert "heartbeat is missing" in robot.autopilot.order(Order.ACTIVATE, robot.now)


@pytest.mark.parametrize("named", ["me", "other"])
def test_a_loss_that_a_mate_tells_counts_here_and_is_told_on(named: str):
    """Otherwise a silence as long as the limit leaves one robot in HOLD and the others in ACTIVE."""
    robot = flown()
    robot.mate = robot.mate._replace(state=State.HOLD, gave_up=(named,), why=f"lost {named}")
    robot.tick("odometry", "mate")
    assert (robot.autopilot.state, robot.autopilot.why) == (State.HOLD, f"mate lost {named}")
    assert robot.autopilot.gave_up == (named,)
    assert robot.autopilot.order(Order.ACTIVATE, robot.now) == ""
    for _ in range(5):
        robot.tick("odometry", "mate")  # the mate still says so
    assert robot.autopilot.state is State.ACTIVE
    assert robot.autopilot.gave_up == ()


def test_a_mate_that_does_not_fly_yet_is_not_missed(robot: Robot):
    for _ in range(10):
        robot.tick("odometry", "mate")  # it announces READY
    assert robot.autopilot.state is State.ACTIVE


def test_land_descends_to_the_ground_tells_the_motors_to_stop_and_is_silent_then(robot: Robot):
    robot.tick("odometry", "mate")
    assert robot.autopilot.order(Order.LAND, robot.now) == ""
    robot.velocity[2] = -0.3
    for robot.height_m in np.arange(1.0, 0.07, -0.3 * PERIOD_S):
        decision = robot.tick("odometry", "mate")
        assert robot.autopilot.state is State.LAND  # also low above the ground: it still sinks
    assert decision.command is not None
    assert decision.command[2] > -3
    reasons = rests(robot)
    assert reasons[-1] == Held.SILENT
    assert [reasons.count(reason) for reason in (Reason.OK, Held.LANDED)] == pytest.approx([20, 15], abs=8)
    assert robot.autopilot.state not in MOVING


def rests(robot: Robot) -> list[int]:
    """Reasons of the decisions of a robot that the ground holds, until it stops; free fall says that motors stop."""
    robot.velocity[2], reasons = 0.0, []
    while robot.autopilot.state is not State.STOP:
        decision = robot.tick("odometry", "mate")
        reasons.append(decision.reason)
        falls = decision.command is not None and decision.command[2] == pytest.approx(-9.81, abs=0.01)
        assert falls == (decision.reason == Held.LANDED)
        assert len(reasons) < 100
    return reasons


def test_what_holds_a_landing_robot_up_high_is_not_the_ground(robot: Robot):
    """A mate below it, say: the motors go on."""
    robot.tick("odometry", "mate")
    assert robot.autopilot.order(Order.LAND, robot.now) == ""
    for _ in range(200):
        decision = robot.tick("odometry", "mate")
    assert robot.autopilot.state is State.LAND
    assert decision.reason == Reason.OK


def test_the_policy_keeps_to_the_right_of_a_mate_on_its_way_and_a_robot_that_holds_does_not():
    """The same rules as in eval; the goal is not where a robot goes that nobody flies."""
    aside = {}
    for rules in (GiveWay(PARAMS), None):
        robot = Robot(rules=rules).hear("odometry", "mate", "goal")
        robot.inbox.put_goal(Goal(np.array([3.0, 0, 1]), UP))
        robot.velocity = np.array([1.0, 0, 0])
        assert robot.start() == ""
        robot.tick("odometry", "mate")
        decision = robot.tick("odometry", "mate")
        assert robot.autopilot.state is State.ACTIVE
        np.testing.assert_allclose(decision.nominal, robot.policy.wish)
        robot.autopilot.order(Order.HOLD, robot.now)
        held = robot.tick("odometry", "mate")
        assert robot.autopilot.state is State.HOLD
        assert decision.command is not None
        assert held.command is not None
        aside[rules is None] = decision.command[1], held.command[1], decision.filtered
    assert aside[False][0] < -1.0
    assert aside[False][2]
    assert abs(aside[True][0]) < 0.1
    assert aside[False][1] == pytest.approx(aside[True][1], abs=0.05)


def in_flight() -> Robot:
    made = Robot().hear("odometry", "mate", "goal")
    assert made.start() == ""
    made.mate = made.mate._replace(state=State.ACTIVE)
    for _ in range(5):
        made.tick("odometry", "mate")
    return made


def test_every_fallback_names_its_cause_and_an_order_is_one():
    """Also to the end of the landing that it began."""
    robot = in_flight()
    robot.link = False
    for _ in range(60):
        robot.tick("odometry", "mate")
    assert robot.autopilot.state is State.LAND
    assert (robot.autopilot.why, robot.autopilot.ordered) == ("no heartbeat of the E-stop", False)
    robot.height_m = 0.05
    rests(robot)
    assert robot.autopilot.why == "no heartbeat of the E-stop"
    told = in_flight()
    told.autopilot.order(Order.LAND, told.now)
    assert (told.autopilot.why, told.autopilot.ordered) == ("land was ordered", True)
    told.height_m = 0.05
    rests(told)
    assert (told.autopilot.state, told.autopilot.ordered) == (State.STOP, True)
    told.autopilot.order(Order.RESET, told.now)
    assert told.autopilot.why == ""


def test_a_lost_mate_is_named_as_the_cause():
    robot = in_flight()
    for _ in range(80):
        robot.tick("odometry")
    assert (robot.autopilot.state, robot.autopilot.why) == (State.HOLD, "lost mate")


def test_a_robot_whose_team_does_not_take_off_lands():
    robot = Robot(Patience(takeoff_s=5.0), handover_m=1.0)
    robot.height_m = 0.5
    assert robot.hear("odometry", "mate", "goal").start() == ""
    for _ in range(round(6.0 / PERIOD_S)):
        robot.tick("odometry", "mate")
    assert (robot.autopilot.state, robot.autopilot.why) == (State.LAND, "the team has not taken off in time")


def test_the_policys_memory_begins_anew_when_the_task_stops_waiting_and_the_filters_goes_on(robot: Robot):
    hold: list[bool] = []
    robot.inbox.task = replace(robot.inbox.task, waits=lambda _: np.zeros(4) if hold else None)
    before = len(robot.policy.carries)
    for waits in (False, False, True, True, False, False):
        hold[:] = [True] * waits
        assert robot.tick("odometry", "mate").reason == Reason.OK
    told = robot.policy.carries[before:]
    assert len(told) == 4 and told[2:] == [0, 1] and told[1] == told[0] + 1
    assert robot.autopilot.bias is not None and robot.autopilot.bias.since_s > 0
