"""A team's messages as the operator sees them: state, cause, ages, and the events that matter."""

import math

from robomarl.ros.desk.event_log import EventLog
from robomarl.ros.desk.fleet_watch import MONITOR, RECORDER, FleetWatch
from robomarl.ros.recording.watch import Told
from robomarl.ros.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement


def said(robot: str, state: State, why: str = "", ordered: bool = False, bundle: str = "b1") -> Announcement:
    return Announcement(robot, bundle, "contract", "crazyflie_21", 0, state, why, ordered)


def a_watch() -> FleetWatch:
    return FleetWatch(("left", "right"), EventLog())


def test_state_ages_margin_battery_link_and_bundle_of_a_robot():
    watch = a_watch()
    watch.announced(said("left", State.ACTIVE), 0.0, 100.0)
    watch.announced(said("right", State.ACTIVE, bundle="b2"), 0.0, 100.0)
    tick = {"odometry.source_age_s": 0.02, "right.source_age_s": 0.11, "margin_m": 0.4, "filtered": 1.0, "active": 1.0}
    watch.robots["left"].tick({**tick, "right.received": 8.0, "right.lost": 2.0})
    values = {"volts": "3.71", "link_age_s": "0.04"}
    watch.diagnosed(DiagnosticEntry("left/crazyflie", WARN, "the battery is low", values), 0.0, 100.0)
    left, right = watch.report(0.3, 100.3).robots
    assert (left.word, left.level, left.cause) == ("ACTIVE", WARN, "crazyflie: the battery is low")
    assert (left.age_s, left.input_age_s, left.teammates_age_s, left.margin_m) == (0.3, 0.02, 0.11, 0.4)
    assert left.filtered and left.battery_v == 3.71 and left.battery_low and left.link_age_s == 0.04
    assert math.isclose(left.lost, 0.2) and left.bundle == "b1"
    assert right.bundle_differs != left.bundle_differs
    assert math.isnan(right.battery_v)


def test_standby_names_the_missing_inputs():
    watch = a_watch()
    watch.announced(said("left", State.STANDBY), 0.0, 100.0)
    text = "STANDBY: inactive; odometry: nothing was received; goal: nothing was received"
    watch.diagnosed(DiagnosticEntry("/left/policy_node", WARN, text, {}), 0.0, 100.0)
    assert watch.report(0.1, 100.1).robots[0].cause == "odometry: nothing was received; goal: nothing was received"


def test_monitor_and_recorder_are_members_and_their_silence_is_an_error():
    watch = a_watch()
    words = {member.name: (member.word, member.level) for member in watch.report(0.0, 100.0).members}
    assert words[MONITOR] == ("silent", ERROR) and words[RECORDER] == ("absent", WARN)
    watch.beat(False, 0.0, 100.0)
    watch.recorded(Told(OK, "records 2 robots", {"left": "recorded"}), 0.0, 100.0)
    words = {member.name: member.word for member in watch.report(0.5, 100.5).members}
    assert words[MONITOR] == "watching" and words[RECORDER] == "recording"
    watch.look(9.0, 109.0)
    assert {row.text: set(row.subjects) for row in watch.log.rows} == {"is silent": {MONITOR, RECORDER}}
    assert {m.name: m.word for m in watch.report(9.0, 109.0).members}[RECORDER] == "silent"


def test_landings_after_the_monitor_went_silent_stand_below_its_silence():
    watch = a_watch()
    watch.beat(False, 0.0, 100.0)
    for robot in ("left", "right"):
        watch.announced(said(robot, State.ACTIVE), 0.0, 100.0)
        watch.announced(said(robot, State.LAND, "no heartbeat of the E-stop"), 0.9, 100.9)
    watch.look(1.1, 101.1)
    (row,) = watch.log.rows
    assert row.subjects == [MONITOR] and row.effects[0].subjects == ["left", "right"]


def test_hold_of_a_teammate_stands_below_the_robot_that_was_lost():
    watch = a_watch()
    for robot in ("left", "right"):
        watch.announced(said(robot, State.ACTIVE), 0.0, 100.0)
    watch.announced(said("right", State.HOLD, "lost left"), 1.2, 101.2)
    watch.look(1.6, 101.6)
    silent = next(row for row in watch.log.rows if row.text == "is silent while in ACTIVE")
    assert silent.subjects == ["left"] or set(silent.subjects) == {"left", "right"}
    assert silent.effects[0].text == "ACTIVE → HOLD: lost left"


def test_a_problem_with_changing_numbers_is_one_event():
    watch = a_watch()
    watch.announced(said("left", State.ACTIVE), 0.0, 100.0)
    for k in range(20):
        text = f"ACTIVE: blind; odometry: {0.5 + k / 10:.2f} s old"
        watch.diagnosed(DiagnosticEntry("/left/policy_node", ERROR, text, {}), float(k), 100.0 + k)
    (row,) = watch.log.rows
    assert row.count == 1 and row.level == ERROR


def test_a_stopped_robot_has_no_problem_besides():
    watch = a_watch()
    watch.announced(said("left", State.ESTOP, "the E-stop was pressed"), 0.0, 100.0)
    text = "ESTOP (the E-stop was pressed): inactive"
    watch.diagnosed(DiagnosticEntry("/left/policy_node", ERROR, text, {}), 0.0, 100.0)
    assert watch.report(0.1, 100.1).robots[0].cause == "the E-stop was pressed" and not watch.log.rows
