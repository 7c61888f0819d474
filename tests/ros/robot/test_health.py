"""What a node says of itself, and when."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from robomarl.core.filter.filter import Reason
from robomarl.core.filter.model.bias import Bias
from robomarl.ros.intake.refusals import Refusals
from robomarl.ros.recording.tick_record import Timing
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.health import ERROR, OK, WARN, Assumptions, Health
from robomarl.ros.robot.inbox import Count, Problem
from robomarl.ros.robot.state_machine import State


def decision(reason: int = 0, problems: tuple = (), filtered: bool = False) -> Any:
    return SimpleNamespace(reason=reason, filtered=filtered, reading=SimpleNamespace(problems=problems, jumps=2))


def pilot(state: State = State.ACTIVE, error: str = "") -> Any:
    return SimpleNamespace(active=True, state=state, error=error, bias=bias(0), why="", ordered=False, doubts="")


def bias(misfits: int) -> Bias:
    none = np.zeros(3)
    return Bias(none, np.array([0.05, 0.2, 1.0]), none, none, none, np.float64(0.0), np.int32(misfits))


def timing(latency_us: float = 500.0) -> Timing:
    return Timing(100.0, 20.0, latency_us, 200.0, 1500.0, 3)


def made() -> Health:
    return Health("/cf1/policy_node", "swap_4", "f" * 64, 50.0, Assumptions("firmware", "attitude"))


def test_the_log_has_a_line_for_each_change_and_none_in_between():
    health, lines = made(), []
    assert list(health.note(decision(), pilot(), timing())) == [(False, "STANDBY -> ACTIVE.")]
    lost = (Problem("odometry", "0.12 s old"),)
    ticks = [(Reason.OK, ())] * 5 + [(Held.BLIND, lost)] * 5 + [(Reason.OK, ())] * 5
    for reason, problems in ticks:
        lines += health.note(decision(reason, problems), pilot(), timing())
    assert lines == [(True, "input lost: odometry: 0.12 s old."), (True, "now: blind."), (False, "now: ok.")]


def test_what_a_failed_policy_raised_is_logged():
    health = made()
    list(health.note(decision(), pilot(), timing()))
    for reason in (Held.RAISED, Held.FAILED):
        (line,) = health.note(decision(reason), pilot(error="RuntimeError: no such kernel"), timing())
        assert line == (True, f"now: {reason.name.lower()}: RuntimeError: no such kernel.")


def test_fallbacks_and_refused_messages_are_counted():
    health, refused, log = made(), Refusals(), []
    ticks = (
        [Reason.OK] * 5 + [Reason.NON_FINITE] * 3 + [Reason.OK] + [Reason.STALE] * 2 + [Reason.NON_FINITE, Reason.OK]
    )
    for reason in ticks:
        list(health.note(decision(reason), pilot(), timing()))
    for _ in range(4):
        refused.add("/right/state_and_plan", "/right/policy_node", "x is not finite: nan", log.append)
    entry = health.summary([Count(9, 0)], refused=refused)
    assert entry.values["fallbacks"] == "stale 2, non_finite 4"
    assert entry.values["messages_refused"] == "4"
    assert entry.values["refused /right/state_and_plan"] == "4 of /right/policy_node; last: x is not finite: nan"
    assert entry.level == WARN
    assert "refused 4 messages" in entry.message
    list(health.note(decision(), pilot(), timing()))
    entry = health.summary([Count(9, 0)], refused=refused)
    assert (entry.level, entry.values["messages_refused"]) == (OK, "4")
    assert "refused" not in entry.message


def test_a_second_is_summed_up():
    health = made()
    for i in range(50):
        assert not health.is_due()
        list(health.note(decision(filtered=i < 5), pilot(), timing(100.0 + i)))
    assert health.is_due()
    status = health.summary([Count(50, 1), Count(49, 2)])
    assert (status.name, status.level, status.message) == ("/cf1/policy_node", OK, "ACTIVE: ok")
    assert status.values["filtered_share"] == "0.100"
    assert (status.values["messages_lost"], status.values["messages_received"]) == ("3", "99")
    assert status.values["estimates_jumped"] == "2"
    assert float(status.values["latency_p50_us"]) == np.median(100 + np.arange(50)).round()
    assert status.values["bundle_id"] == "f" * 64
    assert not health.is_due()


def test_a_fall_back_and_a_stop_are_errors_in_the_log():
    health = made()
    for state, bad in ((State.ACTIVE, False), (State.HOLD, True), (State.ACTIVE, False), (State.STOP, True)):
        assert [line[0] for line in health.note(decision(), pilot(state), timing())] == [bad]


def test_what_an_operator_ordered_is_no_error_and_what_nobody_did_says_why():
    for ordered, level in ((True, OK), (False, ERROR)):
        health, why = made(), "land was ordered" if ordered else "no heartbeat of the E-stop"
        lines = []
        for state in (State.ACTIVE, State.LAND, State.STOP):
            robot = pilot(state)
            robot.why, robot.ordered = ("", False) if state is State.ACTIVE else (why, ordered)
            reason = Held.SILENT if state is State.STOP else Reason.OK
            lines += list(health.note(decision(reason), robot, timing()))
        assert (not ordered, f"ACTIVE -> LAND: {why}.") in lines
        assert (not ordered, f"LAND -> STOP: {why}.") in lines
        status = health.summary([])
        assert (status.level, status.message) == (level, f"STOP ({why}): silent")


def test_what_stands_against_activation_is_said():
    health = made()
    list(health.note(decision(Held.INACTIVE), pilot(State.STANDBY), timing()))
    status = health.summary([], [Problem("b", "flies bundle 0, this robot f")])
    assert (status.level, status.message) == (WARN, "STANDBY: inactive; b: flies bundle 0, this robot f")


def test_levels_say_how_bad_it_is():
    for reason, latency_us, problems, level in (
        (Reason.OK, 500.0, (), OK),
        (Reason.OK, 25000.0, (), WARN),  # longer than the period
        (Held.INACTIVE, 500.0, (Problem("goal", "none"),), WARN),
        (Held.SILENT, 500.0, (), ERROR),
        (Reason.STALE, 500.0, (), WARN),
    ):
        health = made()
        state = State.STOP if reason == Held.SILENT else State.ACTIVE
        list(health.note(decision(reason, problems), pilot(state), timing(latency_us)))
        assert health.summary([]).level == level


BROKEN = "; moves otherwise than the vehicle file's safety section and its bounds of the estimator firmware allow"


def test_a_bound_that_does_not_hold_is_a_warning_for_the_second_in_which_it_was_seen():
    health, robot = made(), pilot()
    for misfits, said in ((0, ""), (2, BROKEN), (2, "")):
        robot.bias = bias(misfits)
        list(health.note(decision(), robot, timing()))
        status = health.summary([])
        assert (status.level, status.message) == (WARN if said else OK, f"ACTIVE: ok{said}")
        assert status.values["bias_doubt_m_s2"] == "0.05 0.20 1.00"
        assert status.values["bias_misfits"] == str(misfits)
        assert status.values["estimator"] == "firmware"


def test_a_certified_robot_says_whom_it_waits_for():
    health, waiting = made(), pilot()
    waiting.doubts = "has agreed on no course with robot_2 yet"
    lines = [line for _ in range(3) for line in health.note(decision(), waiting, timing())]
    assert lines.count((False, "takes no new course: has agreed on no course with robot_2 yet.")) == 1
    entry = health.summary([])
    assert entry.level == WARN and "robot_2" in entry.message and "robot_2" in entry.values["takes_no_new_course"]
