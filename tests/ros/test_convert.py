"""Every message there and back, and what must be refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.core.geometry import rotate
from robomarl.core.view import Goal, Plan
from robomarl.ros import convert
from robomarl.ros.convert import MessageError
from robomarl.ros.recording.tick_record import HEAD
from robomarl.ros.robot.inbox import Broadcast, Estimate
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement
from robomarl.ros.status_messages import announcement_from, announcement_to, ticks_to
from robomarl.ros.topics import COMMANDED
from tests.ros.truth import truth_to

patient = settings(deadline=None, max_examples=50)
numbers = st.floats(-1e3, 1e3)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
stamps = st.integers(0, 2 * 10**18).map(lambda ns: ns * 1e-9)
plans = st.builds(Plan, vectors, vectors, vectors)


@st.composite
def quats(draw) -> np.ndarray:
    wxyz = np.array(draw(st.tuples(*[st.floats(-1, 1)] * 4)))
    assume(np.linalg.norm(wxyz) > 0.1)
    return wxyz / np.linalg.norm(wxyz)


estimates = st.builds(Estimate, vectors, quats(), vectors, vectors)


def over_the_wire(message):
    return deserialize_message(serialize_message(message), type(message))


@patient
@given(estimates, stamps)
def test_odometry_there_and_back(estimate: Estimate, stamp_s: float):
    back, stamp = convert.odometry_to(over_the_wire(convert.odometry_from(estimate, stamp_s, "cf1")))
    for ours, theirs in zip(back, estimate, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert stamp == pytest.approx(stamp_s, abs=1e-6)


def test_odometry_has_its_twist_in_the_body_and_its_quaternion_xyzw():
    turn = np.array([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)])  # 90 degrees to the left
    message = convert.odometry_from(Estimate(np.arange(3.0), turn, np.array([0, 2.0, 0]), np.ones(3)), 1.5, "cf1")
    orientation, linear = message.pose.pose.orientation, message.twist.twist.linear
    assert (message.header.frame_id, message.child_frame_id) == ("map", "cf1/base_link")
    assert (orientation.w, orientation.z) == (turn[0], turn[3])
    np.testing.assert_allclose([linear.x, linear.y, linear.z], [2, 0, 0], atol=1e-12)  # north is ahead


@patient
@given(quats(), vectors)
def test_twist_in_the_body_is_the_velocity_in_the_world(quat: np.ndarray, velocity: np.ndarray):
    message = Odometry()
    message.header.frame_id = "map"
    q, v = message.pose.pose.orientation, message.twist.twist.linear
    q.w, q.x, q.y, q.z = (float(c) for c in quat)
    v.x, v.y, v.z = (float(c) for c in velocity)
    np.testing.assert_allclose(convert.odometry_to(message)[0].vel_m_s, rotate(quat, velocity), atol=1e-9)


@patient
@given(vectors, vectors, st.sampled_from([(5,), (3, 4), (3, 5, 4), ()]), stamps)
def test_command_there_and_back(accel: np.ndarray, rates: np.ndarray, turned: tuple[int, ...], stamp_s: float):
    """Of all kinds of vehicle; what is not commanded is 0."""
    elements = [COMMANDED[i] for i in (0, 1, 2, *turned)]
    command = np.array([*accel, *rates])[: len(elements)]
    back, stamp = convert.command_to(over_the_wire(convert.command_from(command, stamp_s, "cf1", elements)))
    np.testing.assert_array_equal(back[[0, 1, 2, *turned]], command)
    assert np.count_nonzero(back) == np.count_nonzero(command)
    assert stamp == pytest.approx(stamp_s, abs=1e-6)


def test_command_is_laid_out_as_rep_147_says():
    message = convert.command_from(np.array([1.0, 2.0, 3.0, 0.5]), 2.0, "cf1")
    point = convert.points_of(message)[0]
    assert list(message.joint_names) == ["cf1"]
    assert message.header.frame_id == "map"
    assert (point.accelerations[0].linear.y, point.velocities[0].angular.z) == (2.0, 0.5)
    elements = ("acceleration.x", "acceleration.y", "acceleration.z", "rate.x", "rate.y")
    carrier = convert.points_of(convert.command_from(np.array([1.0, 2.0, 3.0, 0.4, 0.5]), 2.0, "cf1", elements))[0]
    rates = carrier.velocities[0].angular
    assert (rates.x, rates.y, rates.z) == (0.4, 0.5, 0.0)


@patient
@given(st.builds(Broadcast, vectors, vectors, plans, st.none(), st.none()), stamps)
def test_state_and_plan_there_and_back(said: Broadcast, stamp_s: float):
    back, stamp = convert.broadcast_to(over_the_wire(convert.broadcast_from(said, stamp_s, "cf1", (0.1, 0.75))))
    for ours, theirs in zip((*back[:2], *back.plan), (*said[:2], *said.plan), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert stamp == pytest.approx(stamp_s, abs=1e-6)


def test_state_and_plan_says_when():
    zero = np.zeros(3)
    message = convert.broadcast_from(Broadcast(zero, zero, Plan(zero, zero, zero)), 1.0, "cf1", (0.1, 0.75))
    after = [p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in convert.points_of(message)]
    assert after == pytest.approx([0.0, 0.1, 0.75])


@patient
@given(st.builds(Goal, vectors, quats()))
def test_goal_there_and_back(goal: Goal):
    back = convert.goal_to(over_the_wire(convert.goal_from(goal, 1.0)))
    np.testing.assert_array_equal(back.pos_m, goal.pos_m)
    np.testing.assert_allclose(back.quat_wxyz, goal.quat_wxyz, atol=1e-12)


@patient
@given(st.lists(estimates, min_size=1, max_size=5), stamps)
def test_truth_there_and_back(team: list[Estimate], stamp_s: float):
    stacked = Estimate(*(np.array(part) for part in zip(*team, strict=True)))
    names = [f"cf{i}" for i in range(len(team))]
    back, _ = truth_to(over_the_wire(convert.truth_from(names, stacked, stamp_s)))
    for ours, theirs in zip(back, stacked, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@patient
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=9))
def test_numbers_there_and_back(values: list[float]):
    names = [f"n{i}" for i in range(len(values))]
    message = over_the_wire(convert.numbers_from(",".join(names), np.array(values)))
    assert convert.numbers_to(message) == dict(zip(names, values, strict=True))


@pytest.mark.parametrize("frame", ["odom", "", "cf1/base_link"])
def test_other_frames_are_refused(frame: str):
    for message, to in (
        (Odometry(), convert.odometry_to),
        (PoseStamped(), convert.goal_to),
        (MultiDOFJointTrajectory(), convert.command_to),
        (MultiDOFJointTrajectory(), convert.broadcast_to),
    ):
        message.header.frame_id = frame
        with pytest.raises(MessageError, match="not 'map'"):
            to(message)  # type: ignore[operator]


def test_what_is_no_rotation_is_refused():
    message = convert.goal_from(Goal(np.zeros(3), np.array([0.7, 0, 0, 0])), 0.0)
    with pytest.raises(MessageError, match=r"length 0.7, not 1"):
        convert.goal_to(message)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad: float):
    with pytest.raises(MessageError, match="finite"):
        convert.command_to(convert.command_from(np.array([0.0, bad, 0.0, 0.0]), 0.0, "cf1"))
    with pytest.raises(MessageError, match="finite"):
        convert.goal_to(convert.goal_from(Goal(np.array([0.0, bad, 0.0]), np.array([1.0, 0, 0, 0])), 0.0))


@pytest.mark.parametrize("far_m", [2e6, 1e39, 1e155, 1e300])
def test_a_goal_that_nobody_can_mean_is_refused(far_m: float):
    """A goal stays until another one comes: with one of 1e155 m every decision failed, and the vehicle gave up."""
    with pytest.raises(MessageError, match="within 1e\\+06 m"):
        convert.goal_to(convert.goal_from(Goal(np.array([0.0, 0.0, -far_m]), np.array([1.0, 0, 0, 0])), 0.0))


def test_other_layouts_are_refused():
    empty = MultiDOFJointTrajectory()
    empty.header.frame_id = "map"
    with pytest.raises(MessageError, match="one point"):
        convert.command_to(empty)
    with pytest.raises(MessageError, match="three points"):
        convert.broadcast_to(convert.command_from(np.zeros(4), 0.0, "cf1"))


@given(st.floats(0.0, 100.0), st.sampled_from(State), st.booleans(), st.integers(0, 9))
def test_an_announcement_says_all_of_a_robot(handover_m: float, state: State, ordered: bool, index: int):
    who = Announcement("left", "f" * 64, "swap_4, schema 2", "crazyflie_21", index, state, "land was ordered", ordered)
    who = who._replace(robomarl="0.1.0", handover_m=handover_m)
    assert announcement_to(over_the_wire(announcement_from(who))) == who


def test_rows_of_something_else_are_no_ticks():
    """A stranger's, which the operator's commands would look up a robot's state in."""
    good = convert.rows_from(",".join(HEAD), np.zeros((2, len(HEAD))))
    assert [set(row) for row in ticks_to(good)] == [set(HEAD)] * 2
    for label in ("", "a", ",".join(HEAD[1:])):
        with pytest.raises(MessageError, match="no ticks: 'stamp_s' is missing"):
            ticks_to(convert.rows_from(label, np.zeros((2, label.count(",") + 1))))
