"""Tracks of a recording: the ticks in which policies moved the robots, cut into flights."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap")

from robomarl.field.replay.bag_replay import Moment, clock_jump_s
from robomarl.field.replay.decisions import Tick
from robomarl.field.replay.ticks import columns_of
from robomarl.field.replay.tracks import TrackRows
from robomarl.ros.io.messages import Estimate
from robomarl.ros.recording.tick_record import tick_names
from robomarl.ros.robot.state_machine import State

NAMES = tick_names(["acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate"], ("two",), ("a",))
COMMAND = np.array([1.0, 2.0, 3.0, 4.0])


def moment(at_s: float, state: State = State.ACTIVE, command: np.ndarray = COMMAND) -> Moment:
    columns, row = columns_of(NAMES), np.zeros(len(NAMES))
    assert columns is not None
    row[columns.sources["odometry"]] = 0.004
    row[columns.command] = command
    own = Estimate(np.full(3, at_s), np.array([1.0, 0, 0, 0]), np.ones(3), np.zeros(3))
    return Moment("one", 0, Tick(row, columns, at_s, state, 0), True, own, np.zeros(3))


def test_tracks_have_stamps_commands_and_what_was_heard():
    rows = TrackRows()
    for k in range(50):
        rows.note(moment(k * 0.02))
    for k in range(10):
        rows.note(moment(1.0 + k * 0.02, State.LAND))  # no policy: the vehicle may stand on the ground
    rows.note(moment(1.5, command=COMMAND * np.nan))
    for k in range(30):
        rows.note(moment(2.0 + k * 0.02))
    tally = SimpleNamespace(received={"two": 70, "three": 20}, lost={"two": 7, "three": 3})
    first, second = rows.tracks({"one": tally})  # type: ignore[dict-item]
    assert (first.flight, len(first.sent_s), second.flight, len(second.sent_s)) == (0, 50, 1, 30)
    assert first.sent_s - first.seen_s == pytest.approx(0.004)
    assert (first.command == COMMAND).all()
    assert (first.pos_m[3] == 0.06).all()
    assert (first.received, first.lost, second.received, second.lost) == (90, 10, 0, 0)


def test_what_the_sensors_told_is_kept_in_the_order_of_the_view():
    rows, sensed = TrackRows(), (np.array([1.0, 2.0, 3.0]), np.arange(4.0).reshape(2, 2), np.float64(7.0))
    for k in range(3):
        rows.note(moment(k * 0.02)._replace(sensed=sensed))
    (track,) = rows.tracks({"one": SimpleNamespace(received={}, lost={})})  # type: ignore[dict-item]
    assert track.sensed is not None
    assert track.part(slice(1, 2)).sensed.tolist() == [[1, 2, 3, 0, 1, 2, 3, 7]]  # type: ignore[union-attr]
    assert (track.command == COMMAND).all()


def test_a_clock_that_jumps_back_cuts_the_flight():
    rows = TrackRows()
    for k in range(20):
        rows.note(moment(k * 0.02 - (0.1 if k >= 12 else 0.0)))
    tally = SimpleNamespace(received={}, lost={})
    assert [len(track.sent_s) for track in rows.tracks({"one": tally})] == [12, 8]  # type: ignore[dict-item]


def test_a_jump_of_a_clock_is_told_from_ticks_that_were_left_out():
    def tick(count: int, at_s: float) -> Tick:
        found = moment(at_s).tick
        found.row[found.columns.head["count"]] = count
        return found

    before = tick(10, 5.0)
    assert clock_jump_s(before, tick(11, 5.02), 0.02) == pytest.approx(0.0)
    assert clock_jump_s(before, tick(111, 7.02), 0.02) == pytest.approx(0.0)
    assert clock_jump_s(before, tick(11, 2.02), 0.02) == pytest.approx(-3.0)
    assert clock_jump_s(before, tick(1, 90.0), 0.02) == 0.0
