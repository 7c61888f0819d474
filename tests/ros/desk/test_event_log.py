"""The event log: repeats are one row, consequences stand below their cause, in whatever order they are received."""

from robomarl.ros.desk.event_log import FOLLOWS_S, MOST, EventLog, FieldEvent
from robomarl.ros.robot.health import ERROR, OK

ESTOP = frozenset({"E-stop"})


def press(at_s: float) -> FieldEvent:
    return FieldEvent(at_s, "E-STOP pressed by Ann", "", ERROR, ESTOP)


def stops(at_s: float, robot: str) -> FieldEvent:
    return FieldEvent(at_s, "ACTIVE → ESTOP", robot, ERROR, because=ESTOP)


def test_forty_consequences_are_one_line_below_their_cause():
    log = EventLog()
    log.add(press(10.0))
    for k in range(40):
        log.add(stops(10.1 + 0.01 * k, f"robot_{k}"))
    (row,) = log.rows
    assert row.text == "E-STOP pressed by Ann" and row.count == 1
    (effect,) = row.effects
    assert effect.count == 40 and effect.subjects[:2] == ["robot_0", "robot_1"] and len(effect.subjects) == 40


def test_consequence_received_before_its_cause_is_moved_below_it():
    log = EventLog()
    log.add(stops(9.8, "left"))
    log.add(FieldEvent(9.9, "battery is low", "right"))
    log.add(press(10.0))
    assert [row.text for row in log.rows] == ["battery is low", "E-STOP pressed by Ann"]
    assert [effect.text for effect in log.rows[1].effects] == ["ACTIVE → ESTOP"]


def test_event_without_a_recent_cause_has_its_own_row():
    log = EventLog()
    log.add(press(10.0))
    log.add(stops(10.0 + FOLLOWS_S + 1, "left"))
    log.add(FieldEvent(10.5, "is silent", "right", ERROR))
    assert [len(row.effects) for row in log.rows] == [0, 0, 0]


def test_repeat_is_counted_and_keeps_its_first_time():
    log = EventLog()
    for at_s in (1.0, 2.0, 5.0):
        log.add(FieldEvent(at_s, "odometry is late", "left"))
    log.add(FieldEvent(500.0, "odometry is late", "left"))
    assert [(row.first_s, row.last_s, row.count) for row in log.rows] == [(1.0, 5.0, 3), (500.0, 500.0, 1)]


def test_a_row_is_as_bad_as_its_worst_consequence():
    log = EventLog()
    log.add(FieldEvent(1.0, "land ordered by Ann", level=OK, tags=frozenset({"order: land"})))
    log.add(FieldEvent(1.1, "land refused: does not answer", "left", ERROR, because=frozenset({"order: land"})))
    assert log.rows[0].level == OK and log.rows[0].worst == ERROR


def test_the_log_is_bounded():
    log = EventLog()
    for k in range(3 * MOST):
        log.add(FieldEvent(float(k), f"event {k}"))
    assert len(log.rows) == MOST and log.changes == 3 * MOST


def test_consequences_of_a_consequence_are_below_the_first_cause():
    log = EventLog()
    log.add(FieldEvent(9.9, "the E-stop is pressed", level=ERROR, tags=ESTOP, because=frozenset({"order: estop"})))
    log.add(stops(9.95, "left"))
    log.add(FieldEvent(10.0, "E-STOP pressed by Ann", "", ERROR, ESTOP | {"order: estop"}))
    (row,) = log.rows
    assert row.text == "E-STOP pressed by Ann"
    assert [effect.text for effect in row.effects] == ["the E-stop is pressed", "ACTIVE → ESTOP"]
