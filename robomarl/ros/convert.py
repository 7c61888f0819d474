"""Messages to arrays and back: the only place where quaternion order, frames and message layout change.

Inside: SI, world ENU, quaternions wxyz, velocity in the world, body rates in the body frame. In messages:
quaternions xyzw; `Odometry` carries its twist in the body frame, as its definition says. Accelerations and
plans are in the world frame, `header.frame_id` "map". A message that is not laid out so is refused.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from geometry_msgs.msg import Pose, PoseArray, PoseStamped, Quaternion, Transform, Twist
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from robomarl.core.geometry import quat_conjugate, rotate
from robomarl.core.view import Goal, Plan
from robomarl.ros.intake.judge import stamp_of
from robomarl.ros.intake.sound import MessageError, fault_of, sound
from robomarl.ros.io.messages import Broadcast, Detections, Estimate, Message
from robomarl.ros.robot.certified.words import TeamWords, fault_in_words
from robomarl.ros.robot.command_layout import FLYING
from robomarl.ros.timing.stamp import set_stamp, time_of
from robomarl.ros.topics import FRAME, command_columns

UNIT_TOLERANCE = 1e-3
"""Largest deviation of a quaternion's length from 1. Beyond it the message is rejected, others are normalized."""
MOST_AHEAD_S = 1.0
"""Maximum time [s] by which detections may be newer than the state estimate in the message that carries them."""
COURSE_POINTS = 3
"""Points of a certified robot's message behind state and plan: its course, its anchors, its teammates' anchors."""


def odometry_from(estimate: Estimate, stamp_s: float, robot: str) -> Odometry:
    """A state estimate as nav_msgs/Odometry."""
    message = Odometry(header=header(stamp_s), child_frame_id=f"{robot}/base_link")
    set_xyz(message.pose.pose.position, estimate.pos_m)
    set_quat(message.pose.pose.orientation, estimate.quat_wxyz)
    set_xyz(message.twist.twist.linear, rotate(quat_conjugate(estimate.quat_wxyz), estimate.vel_m_s))
    set_xyz(message.twist.twist.angular, estimate.omega_rad_s)
    return message


def odometry_to(message: Odometry, robot: str = "") -> tuple[Estimate, float]:
    """The estimate of a robot and its stamp [s]; "": of any robot.

    Raises:
        MessageError: another frame, another robot's `base_link`, not sound, or no rotation.
    """
    _check_frame(message.header)
    whose, _, link = message.child_frame_id.rpartition("/")
    if robot and whose and link == "base_link" and whose.rpartition("/")[2] != robot:
        raise MessageError(f"child_frame_id is {message.child_frame_id!r}, not '{robot}/base_link'")
    pose, twist = message.pose.pose, message.twist.twist
    quat = quat_of(pose.orientation)
    vel = rotate(quat, xyz_of(twist.linear))
    return Estimate(xyz_of(pose.position), quat, vel, xyz_of(twist.angular)), stamp_of(message.header)


def command_from(
    command: np.ndarray, stamp_s: float, robot: str, elements: Sequence[str] = FLYING
) -> MultiDOFJointTrajectory:
    """A command [A] of these elements as a trajectory of one point (REP-147): accelerations and body rates."""
    accel, rate, six = Twist(), Twist(), np.zeros(6)
    six[command_columns(elements)] = command
    set_xyz(accel.linear, six)
    set_xyz(rate.angular, six[3:])
    point = MultiDOFJointTrajectoryPoint(velocities=[rate], accelerations=[accel])
    return MultiDOFJointTrajectory(header=header(stamp_s), joint_names=[robot], points=[point])


def command_to(message: MultiDOFJointTrajectory, robot: str = "") -> tuple[np.ndarray, float]:
    """All six numbers of a robot's command, see `topics.COMMANDED`, and its stamp [s]; "": of any robot.

    Raises:
        MessageError: another frame, robot or layout, or not sound.
    """
    _check_frame(message.header)
    _check_name(message, robot)
    if len(message.points) != 1 or len(points_of(message)[0].accelerations) != 1:
        raise MessageError("a command has one point with one acceleration")
    point = points_of(message)[0]
    if len(point.velocities) > 1:
        raise MessageError(f"a command has one velocity at most, not {len(point.velocities)}")
    rates = xyz_of(point.velocities[0].angular) if point.velocities else np.zeros(3)
    return np.array([*xyz_of(point.accelerations[0].linear), *rates]), stamp_of(message.header)


def broadcast_from(
    said: Broadcast, stamp_s: float, robot: str, ahead_s: tuple[float, float]
) -> MultiDOFJointTrajectory:
    """Return a state estimate and plan as one message.

    Args:
        said: state, plan, detections, and the words of the certificate to send.
        stamp_s: stamp of the estimate [s].
        robot: name of the sender.
        ahead_s: times [s] from the stamp to the plan's state, after all queued commands, and to the
            stop.
    """
    plan, seen, words, times_s = said.plan, said.seen, said.words, (0.0, *ahead_s)
    moves = zip((said.pos_m, plan.pos_m, plan.stop_m), (said.vel_m_s, plan.vel_m_s, np.zeros(3)), times_s, strict=True)
    points = [point_of([pos], [vel], time_s) for pos, vel, time_s in moves]
    points += [point_of(seen.pos_m, seen.vel_m_s, -seen.age_s)] if seen else []
    points += _courses(words) if words else []
    things = (*(words.names if words else ()), *(seen.kinds if seen else ()))
    return MultiDOFJointTrajectory(header=header(stamp_s), joint_names=[robot, *things], points=points)


def _courses(words: TeamWords) -> list[MultiDOFJointTrajectoryPoint]:
    """The sender's course; its anchors; its teammates' anchors: a point each."""
    parts = np.split(words.rows, [1, 1 + len(words.names)])
    return [_course_point(rows) for rows in parts]


def _course_point(rows: np.ndarray) -> MultiDOFJointTrajectoryPoint:
    point = point_of(rows[:, :3], rows[:, 3:6], 0.0)
    point.accelerations = [Twist() for _ in rows]
    for row, motion, accel in zip(rows, point.velocities, point.accelerations, strict=True):  # type: ignore[arg-type]
        set_xyz(motion.angular, row[6:])
        set_xyz(accel.linear, row[9:])
        set_xyz(accel.angular, row[12:])
    return point


def point_of(pos: Iterable[np.ndarray], vel: Iterable[np.ndarray], time_s: float) -> MultiDOFJointTrajectoryPoint:
    """Places and velocities [3] of things, that long after the stamp."""
    moves = list(map(_placed, pos, vel))
    point = MultiDOFJointTrajectoryPoint(transforms=[m[0] for m in moves], velocities=[m[1] for m in moves])
    set_stamp(point.time_from_start, time_s)
    return point


def broadcast_to(message: MultiDOFJointTrajectory, robot: str = "") -> tuple[Broadcast, float]:
    """Return a teammate's broadcast and the stamp of its estimate [s]; "" accepts any teammate.

    Raises:
        MessageError: another frame, robot or layout, or values that are not sound, with all that is in it.
    """
    _check_frame(message.header)
    _check_name(message, robot)
    names, points = tuple(list(message.joint_names)[1:]), points_of(message)
    state, more = points[:3], points[3:]
    is_certified = len(more) >= COURSE_POINTS
    things, courses = (more[:-COURSE_POINTS], more[-COURSE_POINTS:]) if is_certified else (more, [])
    mates = len(courses[1].transforms) if courses else 0
    if len(things) > 1 or bool(names) != bool(things or mates) or not _has_counts(state, [1, 1, 1]):
        raise MessageError("a state and plan has three points, and one more for the things that are named if any are")
    pos = np.array([xyz_of(point.transforms[0].translation) for point in state])
    vel = np.array([xyz_of(point.velocities[0].linear) for point in state])
    words = _words_in(names[:mates] if things else names, courses) if courses else None
    seen = _detections_in(names[mates:], things[0]) if things else None
    return Broadcast(pos[0], vel[0], Plan(pos[1], vel[1], pos[2]), seen, words), stamp_of(message.header)


def _has_counts(points: Sequence[Message], counts: Sequence[int]) -> bool:
    found = [(len(point.transforms), len(point.velocities)) for point in points]
    return found == [(count, count) for count in counts]


def _detections_in(kinds: tuple[str, ...], point: Message) -> Detections:
    """Return the things that a player sees; raises as `broadcast_to`."""
    if not _has_counts([point], [len(kinds)]):
        raise MessageError("the fourth point has a place and a velocity of each thing that is named")
    if (ahead_s := time_of(point.time_from_start)) > MOST_AHEAD_S:
        raise MessageError(f"what it sees, it sees {ahead_s:g} s after its stamp")
    pos = np.array([xyz_of(place.translation) for place in point.transforms])
    vel = np.array([xyz_of(motion.linear) for motion in point.velocities])
    return Detections(kinds, pos, vel, -ahead_s)


def _words_in(names: tuple[str, ...], points: Sequence[Message]) -> TeamWords:
    """Return the words of a certified robot to its teammates; raises as `broadcast_to`."""
    counts = [1, len(names), len(names)]
    if not _has_counts(points, counts) or [len(point.accelerations) for point in points] != counts:
        raise MessageError("a certified robot tells its course, and of each teammate that is named two anchors")
    moves = [m for p in points for m in zip(p.transforms, p.velocities, p.accelerations, strict=True)]
    parts = [[t.translation, v.linear, v.angular, a.linear, a.angular] for t, v, a in moves]
    words = TeamWords(names, np.array([np.concatenate([xyz_of(part) for part in row]) for row in parts]))
    if fault := fault_in_words(words):
        raise MessageError(fault)
    return words


def goal_from(goal: Goal, stamp_s: float) -> PoseStamped:
    """A goal as PoseStamped."""
    return PoseStamped(header=header(stamp_s), pose=_pose(goal.pos_m, goal.quat_wxyz))


def goal_to(message: PoseStamped) -> Goal:
    """The goal.

    Raises:
        MessageError: another frame, no rotation, or not sound.
    """
    _check_frame(message.header)
    return Goal(xyz_of(message.pose.position), quat_of(message.pose.orientation))


def truth_from(team: Sequence[str], state: Estimate, stamp_s: float) -> MultiDOFJointTrajectory:
    """True states of all robots, [N, ...] each, in one message; velocities in the world frame."""
    point = MultiDOFJointTrajectoryPoint()
    for pos, quat, vel, omega in zip(*state, strict=True):
        place, motion = Transform(), Twist()
        set_xyz(place.translation, pos)
        set_quat(place.rotation, quat)
        set_xyz(motion.linear, vel)
        set_xyz(motion.angular, omega)
        point.transforms.append(place)  # type: ignore[union-attr]
        point.velocities.append(motion)  # type: ignore[union-attr]
    return MultiDOFJointTrajectory(header=header(stamp_s), joint_names=list(team), points=[point])


def pose_to(message: PoseStamped) -> tuple[Goal, float]:
    """A pose that was sensed, and its stamp [s].

    Raises:
        MessageError: as `goal_to`.
    """
    return goal_to(message), stamp_of(message.header)


def goals_from(goals: Sequence[Goal], stamp_s: float) -> PoseArray:
    """Goals of the team, in its order."""
    return PoseArray(header=header(stamp_s), poses=[_pose(*goal) for goal in goals])


def goals_to(message: PoseArray) -> list[Goal]:
    """Goals in the order of the team.

    Raises:
        MessageError: as `goal_to`.
    """
    _check_frame(message.header)
    return [Goal(xyz_of(pose.position), quat_of(pose.orientation)) for pose in message.poses]


def places_from(places: np.ndarray, stamp_s: float) -> PoseArray:
    """Return the message of rows [R, 3] of three numbers, each as the `position` of a pose."""
    poses = [Pose() for _ in places]
    for pose, place in zip(poses, places, strict=True):
        set_xyz(pose.position, place)
    return PoseArray(header=header(stamp_s), poses=poses)


def places_to(message: PoseArray) -> tuple[np.ndarray, float]:
    """[R, 3] rows of a message, and its stamp [s].

    Raises:
        MessageError: a number is not sound.
    """
    return np.array([xyz_of(pose.position) for pose in message.poses]).reshape(-1, 3), stamp_of(message.header)


def places_reader(expected: int, sender: str) -> Callable[[PoseArray], tuple[np.ndarray, float]]:
    """Return a reader like `places_to` that accepts messages of `expected` rows alone.

    Args:
        expected: number of rows.
        sender: name of the publisher, for the `MessageError` that the reader raises at another number of rows.
    """

    def read(message: PoseArray) -> tuple[np.ndarray, float]:
        if (count := len(message.poses)) != expected:
            raise MessageError(f"has {count} poses, and {sender} sends {expected}")
        return places_to(message)

    return read


def numbers_from(label: str, values: np.ndarray) -> Float64MultiArray:
    """Named numbers; `label` is their names, joined by commas."""
    message = Float64MultiArray(data=values.tolist())
    message.layout.dim = [MultiArrayDimension(label=label, size=len(values), stride=len(values))]
    return message


def numbers_to(message: Float64MultiArray) -> dict[str, float]:
    """Named numbers.

    Raises:
        MessageError: there is not a name for each.
    """
    dims: Message = message.layout.dim
    names = dims[0].label.split(",") if dims else []
    if len(names) != len(message.data):
        raise MessageError(f"{len(message.data)} numbers have {len(names)} names")
    return dict(zip(names, message.data, strict=True))


def rows_from(label: str, rows: np.ndarray) -> Float64MultiArray:
    """Rows [R, C] of named numbers; `label` is the names of the columns, joined by commas."""
    message = Float64MultiArray(data=rows.ravel().tolist())
    message.layout.dim = [
        MultiArrayDimension(label="rows", size=len(rows), stride=rows.size),
        MultiArrayDimension(label=label, size=rows.shape[1], stride=rows.shape[1]),
    ]
    return message


def rows_to(message: Float64MultiArray) -> list[dict[str, float]]:
    """Rows of named numbers, oldest first.

    Raises:
        MessageError: there is not a name for each column.
    """
    dims: Message = message.layout.dim
    names = dims[1].label.split(",") if len(dims) == 2 else []
    if not names or len(message.data) % len(names):
        raise MessageError(f"{len(message.data)} numbers have {len(names)} names")
    starts = range(0, len(message.data), len(names))
    return [dict(zip(names, message.data[at : at + len(names)], strict=True)) for at in starts]


def header(stamp_s: float) -> Header:
    """A header in the world frame."""
    made = Header(frame_id=FRAME)
    set_stamp(made.stamp, stamp_s)
    return made


def _placed(pos: np.ndarray, vel: np.ndarray) -> tuple[Transform, Twist]:
    place, motion = Transform(), Twist()
    set_xyz(place.translation, pos)
    set_xyz(motion.linear, vel)
    return place, motion


def points_of(message: MultiDOFJointTrajectory) -> Message:
    """The points; their declared type is wider than the list that they are."""
    return message.points


def xyz_of(vector: object) -> np.ndarray:
    """Point or Vector3 as [3].

    Raises:
        MessageError: a number is not sound.
    """
    numbers = (vector.x, vector.y, vector.z)  # type: ignore[attr-defined]
    if not sound(numbers):
        raise MessageError(fault_of(numbers, f"a number of {numbers}"))
    return np.array(numbers)


def quat_of(quat: Quaternion) -> np.ndarray:
    """Message (xyzw) to array (wxyz), normalized.

    Raises:
        MessageError: not a rotation.
    """
    wxyz = np.array([quat.w, quat.x, quat.y, quat.z])
    length = float(np.sqrt(wxyz @ wxyz))
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        raise MessageError(f"quaternion {wxyz} (wxyz) has length {length:.4g}, not 1")
    return wxyz / length


def set_quat(message: Quaternion, wxyz: np.ndarray) -> None:
    """[4] wxyz into a quaternion of a message."""
    message.w, message.x, message.y, message.z = (float(c) for c in wxyz)


def set_xyz(message: object, vector: np.ndarray) -> None:
    """[3] into a Point or Vector3."""
    message.x, message.y, message.z = (float(c) for c in vector[:3])  # type: ignore[attr-defined]


def _pose(pos: np.ndarray, wxyz: np.ndarray) -> Pose:
    pose = Pose()
    set_xyz(pose.position, pos)
    set_quat(pose.orientation, wxyz)
    return pose


def _check_name(of: MultiDOFJointTrajectory, robot: str) -> None:
    names = list(of.joint_names)
    if robot and names[:1] != [robot]:
        raise MessageError(f"joint_names are {names}, and {robot!r} is to be the first")


def _check_frame(of: Header) -> None:
    if of.frame_id != FRAME:
        raise MessageError(f"header.frame_id is {of.frame_id!r}, not {FRAME!r}")
