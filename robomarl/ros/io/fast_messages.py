"""Functions of `convert` that run at every tick, on serialized messages: bytes to arrays and back.

Readers accept and reject the messages that `convert` accepts and rejects. The first message is read
through rclpy, and so is every one that is laid out in another way than the one before. Writers are
templates: made once through `convert`, then overwritten.
"""

import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.core.view import Plan
from robomarl.ros import convert, topics
from robomarl.ros.convert import MessageError
from robomarl.ros.intake.judge import checked
from robomarl.ros.intake.sound import sound
from robomarl.ros.io import cdr
from robomarl.ros.io.messages import Message
from robomarl.ros.robot.certified.words import NUMBERS, TeamWords, fault_in_words
from robomarl.ros.robot.command_layout import FLYING
from robomarl.ros.robot.inbox import Broadcast, Estimate
from robomarl.ros.topics import FRAME, command_columns

T = TypeVar("T")
Made = Callable[[list[float]], T]
Whole = Callable[[bytes], tuple[T, float]]
Laid = tuple[cdr.CdrLayout, Made[T]]
"""A layout, and the function that makes a value of its numbers."""
KIND = MultiDOFJointTrajectory
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_FRAME = FRAME.encode()
_POSE_BYTES = 56
_STILL = Estimate(np.zeros(3), UPRIGHT, np.zeros(3), np.zeros(3))


class Reader(Generic[T]):
    """Reads the messages of one topic, for `Mailbox`: the first the long way, those that are laid out alike at once."""

    takes_bytes = True

    def __init__(self, whole: Whole[T], lay: Callable[[bytes], Laid[T]]) -> None:
        """Start without a known layout.

        Args:
            whole: from any message to the value that is read; rejects invalid messages.
            lay: returns the layout of a message that was not rejected, and a function that makes a value of its
                numbers.
        """
        self._whole, self._lay = whole, lay
        self._laid: Laid[T] | None = None

    def __call__(self, data: bytes) -> tuple[T, float]:
        """Return the content of the message, and its stamp [s].

        Raises:
            MessageError: it is rejected.
        """
        # What is not sound goes the long way, where the field gets its name.
        if self._laid is not None and (read := self._laid[0].read(data)) and sound(read[1]):
            return self._laid[1](read[1]), read[0]
        found = self._whole(data)  # first: the layout of a message that is refused must not be remembered
        try:
            self._laid = self._lay(data)
        except (cdr.LayoutError, struct.error):
            self._laid = None
        return found


def odometry_reader(robot: str = "") -> Reader[Estimate]:
    """Reads as `convert.odometry_to`."""
    return Reader(_whole(topics.ODOMETRY, Odometry, convert.odometry_to, robot), _odometry_laid)


def broadcast_reader(robot: str = "") -> Reader[Broadcast]:
    """Reads as `convert.broadcast_to`."""
    return Reader(_whole(topics.STATE_AND_PLAN, KIND, convert.broadcast_to, robot), _broadcast_laid)


def command_reader(robot: str = "") -> Reader[np.ndarray]:
    """Reads as `convert.command_to`."""
    return Reader(_whole(topics.COMMAND, KIND, convert.command_to, robot), _command_laid)


def _whole(topic: topics.Topic, kind: type, read: Callable[[Message, str], tuple[T, float]], robot: str) -> Whole[T]:
    return lambda data: read(checked(deserialize_message(data, kind), topic), robot)


def _odometry_laid(data: bytes) -> Laid[Estimate]:
    _need(data[:4] == cdr.HEAD)
    pose, twist, frame = cdr.odometry_at(data)
    _need(frame == _FRAME)
    _, end = cdr.text_at(data, cdr.text_at(data, 12)[1])  # what fills up to the first double may be anything
    free = [(end, pose - end), (pose + 56, cdr.COVARIANCE_BYTES), (twist + 48, cdr.COVARIANCE_BYTES)]
    return cdr.CdrLayout(data, [(pose, 7), (twist, 6)], free), _estimate


def _estimate(numbers: list[float]) -> Estimate:
    px, py, pz, x, y, z, w, a, b, c, *omega = numbers
    length = (w * w + x * x + y * y + z * z) ** 0.5
    if not abs(length - 1.0) <= convert.UNIT_TOLERANCE:
        raise MessageError(f"quaternion {[w, x, y, z]} (wxyz) has length {length:.4g}, not 1")
    w, x, y, z = w / length, x / length, y / length, z / length
    found = np.array((px, py, pz, w, x, y, z, *_turned(w, x, y, z, (a, b, c)), *omega))
    return Estimate(found[:3], found[3:7], found[7:10], found[10:])


def _turned(w: float, x: float, y: float, z: float, vector: Sequence[float]) -> tuple[float, float, float]:
    """Rotate a vector as `geometry.rotate` does, in plain floats: v + 2 w (q x v) + 2 q x (q x v)."""
    a, b, c = vector
    p, q, r = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * p + y * r - z * q, b + w * q + z * p - x * r, c + w * r + x * q - y * p


def _broadcast_laid(data: bytes) -> Laid[Broadcast]:
    _need(data[:4] == cdr.HEAD)
    points, frame = cdr.trajectory_at(data)
    state, courses = points[:3], points[3:]
    _need(frame == _FRAME and len(state) == 3 and all(point.counts == (1, 1, 0) for point in state))
    places = [at for point in state for at in ((point.transform, 3), (point.velocity, 3))][:5]
    names, free = cdr.joint_names(data)[1:], [(point.duration, 8) for point in points]
    counts = [1, len(names), len(names)]
    if not courses:
        return cdr.CdrLayout(data, places, free), _broadcast
    _need([point.counts for point in courses] == [(count,) * 3 for count in counts])
    for point, count in zip(courses, counts, strict=True):
        places += [(point.transform + _POSE_BYTES * i, 3) for i in range(count)]
        places += [(point.velocity, 6 * count), (point.acceleration, 6 * count)]
    return cdr.CdrLayout(data, places, free), partial(_certified, names, counts)


def _broadcast(numbers: list[float]) -> Broadcast:
    found = np.array(numbers)
    return Broadcast(found[:3], found[3:6], Plan(found[6:9], found[9:12], found[12:15]))


def _certified(names: tuple[str, ...], counts: list[int], numbers: list[float]) -> Broadcast:
    """A broadcast with the words of the certificate; `counts` are the courses of its last points."""
    rows, begin = [], 15
    for count in counts:
        middle = begin + 3 * count
        motions = np.array(numbers[middle : middle + 12 * count]).reshape(2, count, 6)
        rows.append(np.hstack([np.array(numbers[begin:middle]).reshape(count, 3), *motions]))
        begin = middle + 12 * count
    words = TeamWords(names, np.concatenate(rows))
    if fault := fault_in_words(words):
        raise MessageError(fault)
    return _broadcast(numbers[:15])._replace(words=words)


def _command_laid(data: bytes) -> Laid[np.ndarray]:
    _need(data[:4] == cdr.HEAD)
    points, frame = cdr.trajectory_at(data)
    _need(frame == _FRAME and len(points) == 1 and points[0].counts == (0, 1, 1))
    (point,) = points
    return cdr.CdrLayout(data, [(point.velocity + 24, 3), (point.acceleration, 3)], [(point.duration, 8)]), _command


def _command(numbers: list[float]) -> np.ndarray:
    return np.array([*numbers[3:], *numbers[:3]])


class OdometryWriter:
    """nav_msgs/Odometry of one robot, as bytes."""

    def __init__(self, robot: str) -> None:
        """Make the template."""
        self._data = _template(convert.odometry_from(_STILL, 0.0, robot))
        pose, twist, _ = cdr.odometry_at(bytes(self._data))
        self._pose, self._twist = cdr.view(self._data, pose, 7), cdr.view(self._data, twist, 6)

    def __call__(self, estimate: Estimate, stamp_s: float) -> bytes:
        """Return the bytes of the message that `convert.odometry_from` makes."""
        w, x, y, z = estimate.quat_wxyz.tolist()
        cdr.set_stamp(self._data, stamp_s)
        self._pose[:] = *estimate.pos_m.tolist(), x, y, z, w
        self._twist[:] = *_turned(w, -x, -y, -z, estimate.vel_m_s.tolist()), *estimate.omega_rad_s.tolist()
        return bytes(self._data)


class BroadcastWriter:
    """State and plan of one robot, as bytes; the words of a certified one to its teammates, in their order, with it."""

    def __init__(self, robot: str, mates: tuple[str, ...] = ()) -> None:
        """Make the template.

        Args:
            robot: name of the robot.
            mates: teammates of a certified robot; of another one nobody.
        """
        self._robot, nothing = robot, np.zeros(3)
        words = TeamWords(mates, np.zeros((1 + 2 * len(mates), NUMBERS))) if mates else None
        said = Broadcast(nothing, nothing, Plan(nothing, nothing, nothing), words=words)
        self._data = _template(convert.broadcast_from(said, 0.0, robot, (0.0, 0.0)))
        points, _ = cdr.trajectory_at(bytes(self._data))
        self._places = [at for point in points[:3] for at in (point.transform, point.velocity)][:5]
        self._durations = [point.duration for point in points[1:3]]
        self._courses = [_CourseViews(self._data, point) for point in points[3:]]

    def __call__(self, said: Broadcast, stamp_s: float, ahead_s: tuple[float, float]) -> bytes:
        """Return the bytes of the message that `convert.broadcast_from` makes."""
        if said.seen is not None or bool(said.words) != bool(self._courses):
            return serialize_message(convert.broadcast_from(said, stamp_s, self._robot, ahead_s))
        cdr.set_stamp(self._data, stamp_s)
        for at, value in zip(self._places, (said.pos_m, said.vel_m_s, *said.plan), strict=True):
            cdr.set_vector(self._data, at, value.tolist())
        for at, time_s in zip(self._durations, ahead_s, strict=True):
            cdr.set_duration(self._data, at, time_s)
        begin = 0
        for views in self._courses:
            begin += views.write(said.words.rows[begin:]) if said.words else 0
        return bytes(self._data)


class _CourseViews:
    """Numbers of the courses [n] in one point of a message, in place."""

    def __init__(self, data: bytearray, point: cdr.PointAt) -> None:
        self._count = point.counts[0]
        self._pos = cdr.view(data, point.transform, 7 * self._count).reshape(-1, 7)[:, :3]
        self._velocity = cdr.view(data, point.velocity, 6 * self._count).reshape(-1, 6)
        self._acceleration = cdr.view(data, point.acceleration, 6 * self._count).reshape(-1, 6)

    def write(self, rows: np.ndarray) -> int:
        """Write the first n of rows [..., 15] and return n."""
        mine = rows[: self._count]
        self._pos[:], self._velocity[:], self._acceleration[:] = mine[:, :3], mine[:, 3:9], mine[:, 9:]
        return self._count


class CommandWriter:
    """Commands of one robot, as bytes."""

    def __init__(self, robot: str, elements: Sequence[str] = FLYING) -> None:
        """Make the template for commands of these elements, accelerations x, y, z first."""
        self._columns = [column - 3 for column in command_columns(elements)[3:]]
        self._data = _template(convert.command_from(np.zeros(4), 0.0, robot))
        ((point,), _) = cdr.trajectory_at(bytes(self._data))
        self._acceleration, self._rates = point.acceleration, point.velocity + 24

    def __call__(self, command: np.ndarray, stamp_s: float) -> bytes:
        """Return the bytes of the message that `convert.command_from` makes."""
        cdr.set_stamp(self._data, stamp_s)
        numbers, rates = command.tolist(), [0.0, 0.0, 0.0]
        for place, rate in zip(self._columns, numbers[3:], strict=True):
            rates[place] = rate
        cdr.set_vector(self._data, self._acceleration, numbers[:3])
        cdr.set_vector(self._data, self._rates, rates)
        return bytes(self._data)


class TruthWriter:
    """True states of a team, as bytes."""

    def __init__(self, team: Sequence[str]) -> None:
        """Make the template."""
        still = Estimate(*(np.stack([part] * len(team)) for part in _STILL))
        self._data = _template(convert.truth_from(team, still, 0.0))
        ((self._point,), _) = cdr.trajectory_at(bytes(self._data))

    def __call__(self, state: Estimate, stamp_s: float) -> bytes:
        """Return the bytes of the message that `convert.truth_from` makes."""
        cdr.set_stamp(self._data, stamp_s)
        for i, (pos, quat, vel, omega) in enumerate(zip(*(part.tolist() for part in state), strict=True)):
            cdr.set_pose(self._data, self._point.transform + 56 * i, pos, quat)
            cdr.set_twist(self._data, self._point.velocity + 48 * i, vel, omega)
        return bytes(self._data)


class RowsWriter:
    """Rows of named numbers, as bytes: one message for many ticks."""

    def __init__(self, label: str, columns: int) -> None:
        """Names of the columns, joined by commas."""
        self._label, self._columns = label, columns
        self._templates: dict[int, bytearray] = {}

    def __call__(self, rows: Sequence[np.ndarray]) -> bytes:
        """Return the bytes of the message that `convert.rows_from` makes."""
        template = self._templates.get(len(rows))
        if template is None:
            blank = np.zeros((len(rows), self._columns))
            template = self._templates[len(rows)] = _template(convert.rows_from(self._label, blank))
        values = np.concatenate(rows)
        template[cdr.numbers_at(template, len(values)) :] = values.tobytes()
        return bytes(template)


def _template(message: Message) -> bytearray:
    return bytearray(serialize_message(message))


def _need(is_so: bool) -> None:
    if not is_so:
        raise cdr.LayoutError("not the layout that these nodes send")
