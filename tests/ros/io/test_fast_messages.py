"""Every reader and writer of bytes against rclpy's own serialization, both ways."""

import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.core.view import Plan
from robomarl.ros import convert
from robomarl.ros.convert import MessageError
from robomarl.ros.io import cdr, fast_messages
from robomarl.ros.robot.inbox import Broadcast, Estimate
from robomarl.ros.topics import COMMANDED
from tests.ros.test_convert import estimates, numbers, plans, stamps, vectors

patient = settings(deadline=None, max_examples=50)
names = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)  # every alignment of what follows


STILL = Estimate(np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
SAID = Broadcast(np.zeros(3), np.zeros(3), Plan(np.zeros(3), np.zeros(3), np.zeros(3)))
FIRST = (
    lambda robot: convert.odometry_from(STILL, 7.5, robot),
    lambda robot: convert.broadcast_from(SAID, 7.5, robot, (0.0, 0.0)),
    lambda robot: convert.command_from(np.zeros(4), 7.5, robot),
)
"""The first message that a reader sees of a robot, in the order odometry, state and plan, command."""


def second(reader: fast_messages.Reader, first, message):
    """What a reader that has seen one message of the robot makes of the next: not the long way any more."""
    robot = message.joint_names[0] if hasattr(message, "joint_names") else message.child_frame_id.partition("/")[0]
    reader(serialize_message(first(robot)))
    reader._whole = reader._lay = None  # type: ignore[assignment]
    return reader(serialize_message(message))


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11)


@patient
@given(estimates, stamps, names)
def test_odometry(estimate: Estimate, stamp_s: float, robot: str):
    message = convert.odometry_from(estimate, stamp_s, robot)
    written = deserialize_message(fast_messages.OdometryWriter(robot)(estimate, stamp_s), Odometry)
    same(convert.odometry_to(written)[0], convert.odometry_to(message)[0])
    written.twist.twist.linear = message.twist.twist.linear  # turned by other formulas: the last bit may differ
    assert written == message
    (ours, ours_s), (theirs, theirs_s) = (
        second(fast_messages.odometry_reader(), FIRST[0], message),
        convert.odometry_to(message),
    )
    same(ours, theirs)
    assert ours_s == theirs_s


@patient
@given(st.builds(Broadcast, vectors, vectors, plans, st.none(), st.none()), stamps, names, st.floats(0, 5))
def test_state_and_plan(said: Broadcast, stamp_s: float, robot: str, ahead_s: float):
    message = convert.broadcast_from(said, stamp_s, robot, (ahead_s, 2 * ahead_s))
    written = fast_messages.BroadcastWriter(robot)(said, stamp_s, (ahead_s, 2 * ahead_s))
    assert deserialize_message(written, MultiDOFJointTrajectory) == message
    (ours, ours_s), (theirs, theirs_s) = (
        second(fast_messages.broadcast_reader(), FIRST[1], message),
        convert.broadcast_to(message),
    )
    same(ours[:2], theirs[:2])
    same(ours.plan, theirs.plan)
    assert ours_s == theirs_s


@patient
@given(
    st.lists(numbers, min_size=6, max_size=6), st.sampled_from([("yaw_rate",), ("rate.x", "rate.y"), ()]), stamps, names
)
def test_command(numbers: list[float], rates: tuple[str, ...], stamp_s: float, robot: str):
    elements = (*COMMANDED[:3], *rates)
    command = np.array(numbers[: len(elements)])
    message = convert.command_from(command, stamp_s, robot, elements)
    written = fast_messages.CommandWriter(robot, elements)(command, stamp_s)
    assert deserialize_message(written, MultiDOFJointTrajectory) == message
    ours, theirs = second(fast_messages.command_reader(), FIRST[2], message), convert.command_to(message)
    np.testing.assert_array_equal(ours[0], theirs[0])
    assert ours[1] == theirs[1]


@given(st.lists(estimates, min_size=1, max_size=4), stamps)
@settings(deadline=None, max_examples=20)
def test_truth(states: list[Estimate], stamp_s: float):
    team = [f"robot_{i}" for i in range(len(states))]
    state = Estimate(*(np.stack(part) for part in zip(*states, strict=True)))
    written = deserialize_message(fast_messages.TruthWriter(team)(state, stamp_s), MultiDOFJointTrajectory)
    assert written == convert.truth_from(team, state, stamp_s)


@pytest.mark.parametrize("label", ["a,b,c", "a,bc,def", "ab,cd,efg,h", "x"])
def test_rows(label: str):
    columns = label.count(",") + 1
    write = fast_messages.RowsWriter(label, columns)
    for count in (1, 3, 1):
        rows = np.random.default_rng(count).normal(size=(count, columns))
        message = deserialize_message(write(list(rows)), Float64MultiArray)
        assert message == convert.rows_from(label, rows)
        back = convert.rows_to(message)
        assert [list(row.values()) for row in back] == rows.tolist()
        assert [list(row) for row in back] == [label.split(",")] * count


def test_what_is_laid_out_otherwise_goes_the_long_way():
    """A command without a yaw rate is one that `convert` takes; the fast reader does not know it."""
    message = convert.command_from(np.array([1.0, 2, 3, 4]), 5.0, "cf1")
    message.points[0].velocities = []  # type: ignore[index]
    np.testing.assert_array_equal(fast_messages.command_reader()(serialize_message(message))[0], [1, 2, 3, 0, 0, 0])
    with pytest.raises(MessageError, match="one point"):
        fast_messages.command_reader()(serialize_message(MultiDOFJointTrajectory(header=message.header)))


def test_what_convert_refuses_is_refused():
    good = convert.odometry_from(Estimate(np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)), 1.0, "cf1")
    good.header.frame_id = "odom"
    with pytest.raises(MessageError, match="'odom', not 'map'"):
        fast_messages.odometry_reader()(serialize_message(good))
    good.header.frame_id, good.pose.pose.orientation.w = "map", 2.0
    with pytest.raises(MessageError, match="length 2"):
        fast_messages.odometry_reader()(serialize_message(good))
    command = convert.command_from(np.array([np.nan, 2, 3, 4]), 5.0, "cf1")
    with pytest.raises(MessageError, match="finite"):
        fast_messages.command_reader()(serialize_message(command))


@given(st.binary(max_size=400))
@settings(deadline=None, max_examples=200)
def test_cut_messages_do_not_crash_the_reader(tail: bytes):
    """The middleware delivers whole messages; bytes from elsewhere must not raise anything unexpected here."""
    for at in (cdr.odometry_at, cdr.trajectory_at):
        with suppress(cdr.LayoutError, struct.error):
            at(cdr.HEAD + tail)


def test_a_message_that_was_refused_is_refused_again():
    """Whatever its layout is: names of things without a point for them, and the other byte order."""
    message = convert.broadcast_from(SAID, 7.5, "left", (0.0, 0.0))
    message.joint_names = ["left", "opponent_0"]
    reader, data = fast_messages.broadcast_reader(), serialize_message(message)
    for _ in range(3):
        with pytest.raises(MessageError, match="three points"):
            reader(data)


@pytest.mark.parametrize("head", [b"\x00\x00", b"\x00\x03", b"\x77\x01"])
def test_another_encapsulation_is_never_read_in_place(head: bytes):
    reader = fast_messages.odometry_reader()
    data = head + serialize_message(convert.odometry_from(STILL, 7.5, "left"))[2:]
    for _ in range(3):
        with suppress(Exception):
            reader(data)
        assert reader._laid is None


@pytest.mark.parametrize("nanoseconds", [0, 1, 123_456_789, 999_999_999])
def test_a_stamp_keeps_its_nanoseconds_from_message_to_message(nanoseconds: int):
    """From the odometry, the long way and in place, to what is told the team."""
    message = convert.odometry_from(STILL, 0.0, "left")
    message.header.stamp.sec, message.header.stamp.nanosec = 1_763_000_000, nanoseconds
    reader, data = fast_messages.odometry_reader(), serialize_message(message)
    for _ in range(2):
        _, stamp_s = reader(data)
        assert stamp_s == pytest.approx(1_763_000_000 + nanoseconds * 1e-9, abs=1e-6)
        told = deserialize_message(
            fast_messages.BroadcastWriter("left")(SAID, stamp_s, (0.1, 0.2)), MultiDOFJointTrajectory
        )
        assert told.header.stamp == message.header.stamp
        assert convert.header(stamp_s).stamp == message.header.stamp


def test_a_stamp_that_is_no_time_is_refused_and_any_time_can_be_written():
    message = convert.odometry_from(STILL, 0.0, "left")
    reader = fast_messages.odometry_reader()
    reader(serialize_message(message))
    message.header.stamp.nanosec = 10**9
    with pytest.raises(MessageError, match="1000000000 nanoseconds"):
        reader(serialize_message(message))
    for far_s in (1e300, -np.inf, np.nan, 2.0**31):
        fast_messages.OdometryWriter("left")(STILL, far_s)
