"""The functions of `convert` that run at every tick, on serialized messages: bytes to arrays and back.

Readers take what `convert` takes and refuse what it refuses; bytes that are laid out in an unexpected way (another
byte order, say) go the long way, through rclpy. Writers are templates: made once through `convert`, then
overwritten.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.geometry import quat_conjugate, rotate
from robomarl.ros_nodes import cdr, convert
from robomarl.ros_nodes.convert import MessageError
from robomarl.ros_nodes.inbox import Broadcast, Estimate
from robomarl.ros_nodes.topics import FRAME
from robomarl.view import Plan

T = TypeVar("T")
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_FRAME = FRAME.encode()
_STILL = Estimate(np.zeros(3), UPRIGHT, np.zeros(3), np.zeros(3))


def serialized(kind: Any, slow: Callable[[Any], T]) -> Callable[[Callable[[bytes], T]], Callable[[bytes], T]]:
    """Mark a reader of bytes, for `Mailbox`; what it can't lay out is read by `slow`, from a message of `kind`."""

    def mark(fast: Callable[[bytes], T]) -> Callable[[bytes], T]:
        def read(data: bytes) -> T:
            try:
                return fast(data)
            except (cdr.LayoutError, struct.error):
                return slow(deserialize_message(data, kind))

        read.__doc__, read.takes_bytes = fast.__doc__, True  # type: ignore[attr-defined]
        return read

    return mark


@serialized(Odometry, convert.odometry_to)
def odometry_to(data: bytes) -> tuple[Estimate, float]:
    """As `convert.odometry_to`."""
    stamp_s = cdr.stamp_s(data)
    pose, twist, frame = cdr.odometry_at(data)
    _check(frame)
    px, py, pz, *xyzw = cdr.pose(data, pose)
    vx, vy, vz, *omega = cdr.twist(data, twist)
    quat = _unit(xyzw)
    return Estimate(np.array([px, py, pz]), quat, rotate(quat, np.array([vx, vy, vz])), np.array(omega)), stamp_s


@serialized(MultiDOFJointTrajectory, convert.broadcast_to)
def broadcast_to(data: bytes) -> tuple[Broadcast, float]:
    """As `convert.broadcast_to`."""
    stamp_s = cdr.stamp_s(data)
    points, frame = cdr.trajectory_at(data)
    _check(frame)
    if len(points) != 3 or any(point.counts[:2] != (1, 1) for point in points):
        raise MessageError("a state and plan has three points with one transform and one velocity each")
    pos = [np.array(cdr.vector(data, point.transform)) for point in points]
    vel = [np.array(cdr.vector(data, point.velocity)) for point in points[:2]]
    return Broadcast(pos[0], vel[0], Plan(pos[1], vel[1], pos[2])), stamp_s


@serialized(MultiDOFJointTrajectory, convert.command_to)
def command_to(data: bytes) -> tuple[np.ndarray, float]:
    """As `convert.command_to`."""
    stamp_s = cdr.stamp_s(data)
    points, frame = cdr.trajectory_at(data)
    _check(frame)
    if len(points) != 1 or points[0].counts != (0, 1, 1):
        raise cdr.LayoutError("not the layout that policy nodes send")
    yaw_rate = cdr.twist(data, points[0].velocity)[5]
    command = np.array([*cdr.vector(data, points[0].acceleration), yaw_rate])
    if not np.isfinite(command).all():
        raise MessageError(f"a command must be finite, not {command}")
    return command, stamp_s


class OdometryWriter:
    """nav_msgs/Odometry of one robot, as bytes."""

    def __init__(self, robot: str) -> None:
        """Make the template."""
        self._data = _template(convert.odometry_from(_STILL, 0.0, robot))
        self._pose, self._twist, _ = cdr.odometry_at(bytes(self._data))

    def __call__(self, estimate: Estimate, stamp_s: float) -> bytes:
        """As `convert.odometry_from`."""
        data, quat = self._data, estimate.quat_wxyz
        cdr.set_stamp(data, stamp_s)
        cdr.set_pose(data, self._pose, estimate.pos_m, quat)
        cdr.set_twist(data, self._twist, rotate(quat_conjugate(quat), estimate.vel_m_s), estimate.omega_rad_s)
        return bytes(data)


class BroadcastWriter:
    """State and plan of one robot, as bytes."""

    def __init__(self, robot: str) -> None:
        """Make the template."""
        nothing = np.zeros(3)
        said = Broadcast(nothing, nothing, Plan(nothing, nothing, nothing))
        self._data = _template(convert.broadcast_from(said, 0.0, robot, (0.0, 0.0)))
        self._points, _ = cdr.trajectory_at(bytes(self._data))

    def __call__(self, said: Broadcast, stamp_s: float, ahead_s: tuple[float, float]) -> bytes:
        """As `convert.broadcast_from`."""
        data, (state, queued, stop), plan = self._data, self._points, said.plan
        cdr.set_stamp(data, stamp_s)
        cdr.set_vector(data, state.transform, said.pos_m)
        cdr.set_vector(data, state.velocity, said.vel_m_s)
        cdr.set_vector(data, queued.transform, plan.pos_m)
        cdr.set_vector(data, queued.velocity, plan.vel_m_s)
        cdr.set_vector(data, stop.transform, plan.stop_m)
        cdr.set_duration(data, queued.duration, ahead_s[0])
        cdr.set_duration(data, stop.duration, ahead_s[1])
        return bytes(data)


class CommandWriter:
    """Commands of one robot, as bytes."""

    def __init__(self, robot: str) -> None:
        """Make the template."""
        self._data = _template(convert.command_from(np.zeros(4), 0.0, robot))
        ((self._point,), _) = cdr.trajectory_at(bytes(self._data))

    def __call__(self, command: np.ndarray, stamp_s: float) -> bytes:
        """As `convert.command_from`."""
        x, y, z, yaw_rate = command.tolist()
        cdr.set_stamp(self._data, stamp_s)
        cdr.set_vector(self._data, self._point.acceleration, (x, y, z))  # type: ignore[arg-type]
        cdr.set_twist(self._data, self._point.velocity, (0.0, 0.0, 0.0), (0.0, 0.0, yaw_rate))  # type: ignore[arg-type]
        return bytes(self._data)


class TruthWriter:
    """True states of a team, as bytes."""

    def __init__(self, team: Sequence[str]) -> None:
        """Make the template."""
        still = Estimate(*(np.stack([part] * len(team)) for part in _STILL))
        self._data = _template(convert.truth_from(team, still, 0.0))
        ((self._point,), _) = cdr.trajectory_at(bytes(self._data))

    def __call__(self, state: Estimate, stamp_s: float) -> bytes:
        """As `convert.truth_from`."""
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
        """As `convert.rows_from`."""
        template = self._templates.get(len(rows))
        if template is None:
            blank = np.zeros((len(rows), self._columns))
            template = self._templates[len(rows)] = _template(convert.rows_from(self._label, blank))
        values = np.concatenate(rows)
        template[cdr.numbers_at(template, len(values)) :] = values.tobytes()
        return bytes(template)


def _template(message: Any) -> bytearray:
    return bytearray(serialize_message(message))


def _check(frame: bytes) -> None:
    if frame != _FRAME:
        raise MessageError(f"header.frame_id is {frame.decode(errors='replace')!r}, not {FRAME!r}")


def _unit(xyzw: Sequence[float]) -> np.ndarray:
    x, y, z, w = xyzw
    length = (w * w + x * x + y * y + z * z) ** 0.5
    if not abs(length - 1.0) <= convert.UNIT_TOLERANCE:
        raise MessageError(f"quaternion {[w, x, y, z]} (wxyz) has length {length:.4g}, not 1")
    return np.array([w / length, x / length, y / length, z / length])
