"""Messages of the hot path as bytes (CDR), read and written in place, byte for byte as rclpy would
make them.

rclpy builds a Python object for every vector of a message; at 100 Hz and six robots that alone
filled a core. Here a message is a template with numbers that are overwritten.
`docs/log/benchmarks_history.md` has the figures; the tests hold every function here against rclpy's
own serialization. Layout: OMG DDS-XTypes 1.3, 7.4.1 (XCDR version 1, little-endian): four bytes of
head, then every primitive aligned to its size, counted from behind the head.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.ros.timing.stamp import PARTS, SECOND_NS, Stamp, parts_of

HEAD = b"\x00\x01\x00\x00"
"""CDR, little-endian."""
_COUNT = struct.Struct("<I")
_POSE, _TWIST, _VECTOR = struct.Struct("<7d"), struct.Struct("<6d"), struct.Struct("<3d")
COVARIANCE_BYTES = 36 * 8


class LayoutError(ValueError):
    """The bytes are not laid out as expected."""


class PointAt(NamedTuple):
    """Offsets of a trajectory point's parts: the first element of each sequence, and the number of elements."""

    transform: int
    velocity: int
    acceleration: int
    duration: int
    counts: tuple[int, ...]
    """Transforms, velocities, accelerations."""


class CdrLayout:
    """Layout of one sender's messages: the offsets of their numbers, and every byte that must not change."""

    def __init__(self, data: bytes, places: Sequence[tuple[int, int]], free: Sequence[tuple[int, int]] = ()) -> None:
        """Take the layout of a message that was read through rclpy.

        Args:
            data: the message; begins with a header.
            places: (offset, count) of the doubles that are read, in order.
            free: (offset, size in bytes) of parts that may change and are not read.
        """
        form, end = "<4xiI", 12
        for at, count in places:
            form, end = f"{form}{at - end}x{count}d", at + 8 * count
        self._numbers, self._size = struct.Struct(form), len(data)
        mask = bytearray(b"\xff" * len(data))
        for at, size in ((4, 8), *((at, 8 * count) for at, count in places), *free):
            mask[at : at + size] = bytes(size)
        self._mask = int.from_bytes(mask, "little")
        self._same = int.from_bytes(data, "little") & self._mask

    def read(self, data: bytes) -> tuple[Stamp, list[float]] | None:
        """The stamp [s] and the numbers; None where the message is laid out in another way, or that is no time."""
        # One comparison of two whole numbers for all that must be the same, in place of a slice for each part.
        if len(data) != self._size or int.from_bytes(data, "little") & self._mask != self._same:
            return None
        seconds, nanoseconds, *numbers = self._numbers.unpack_from(data)
        return (Stamp.of(seconds, nanoseconds), numbers) if seconds >= 0 and nanoseconds < SECOND_NS else None


def stamp_s(data: bytes) -> Stamp:
    """The stamp of a message that begins with a header [s].

    Raises:
        LayoutError: it does not, or that is no time.
    """
    if data[:4] != HEAD or len(data) < 12:
        raise LayoutError("not little-endian CDR with a header")
    try:
        return Stamp.of(*PARTS.unpack_from(data, 4))
    except ValueError as error:
        raise LayoutError(str(error)) from None


def set_stamp(data: bytearray, time_s: float) -> None:
    """Write the stamp of the header."""
    PARTS.pack_into(data, 4, *parts_of(time_s))


def text_at(data: bytes, at: int) -> tuple[bytes, int]:
    """A string, and where the next field begins (not aligned)."""
    at = (at + 3) & ~3
    end = at + 4 + _COUNT.unpack_from(data, at)[0]
    if end > len(data):
        raise LayoutError("a string is longer than the message")
    return data[at + 4 : end - 1], end


def aligned8(at: int) -> int:
    """The next place of a double; the head's four bytes do not count."""
    return ((at - 4 + 7) & ~7) + 4


def odometry_at(data: bytes) -> tuple[int, int, bytes]:
    """Return the offsets of the pose [7 doubles] and the twist [6 doubles] of nav_msgs/Odometry, and its frame."""
    frame, at = text_at(data, 12)
    _, at = text_at(data, at)
    pose = aligned8(at)
    twist = pose + _POSE.size + COVARIANCE_BYTES
    if len(data) < twist + _TWIST.size:
        raise LayoutError("an odometry message is too short")
    return pose, twist, frame


def trajectory_at(data: bytes) -> tuple[list[PointAt], bytes]:
    """Return the offsets of the points of trajectory_msgs/MultiDOFJointTrajectory, and its frame."""
    frame, _, at = _names_at(data)
    at = (at + 3) & ~3
    (count,) = _COUNT.unpack_from(data, at)
    at += 4
    points = []
    for _ in range(count):
        found, at = _point_at(data, at)
        points.append(found)
    return points, frame


def joint_names(data: bytes) -> tuple[str, ...]:
    """Return the names of trajectory_msgs/MultiDOFJointTrajectory."""
    return tuple(name.decode() for name in _names_at(data)[1])


def _names_at(data: bytes) -> tuple[bytes, list[bytes], int]:
    """Return the frame of a trajectory, the names in it, and the end of the last one."""
    frame, at = text_at(data, 12)
    at = (at + 3) & ~3
    (count,) = _COUNT.unpack_from(data, at)
    at, names = at + 4, list[bytes]()
    for _ in range(count):
        name, at = text_at(data, at)
        names.append(name)
    return frame, names, at


def _point_at(data: bytes, at: int) -> tuple[PointAt, int]:
    places, counts = [], []
    for size in (_POSE.size, _TWIST.size, _TWIST.size):
        at = (at + 3) & ~3
        (count,) = _COUNT.unpack_from(data, at)
        at += 4
        if count:
            at = aligned8(at)
        places.append(at)
        counts.append(count)
        at += count * size
    if at + 8 > len(data):
        raise LayoutError("a trajectory is too short")
    return PointAt(places[0], places[1], places[2], at, tuple(counts)), at + 8


def set_vector(data: bytearray, at: int, value: Sequence[float]) -> None:
    """Write three doubles."""
    _VECTOR.pack_into(data, at, *value)


def set_pose(data: bytearray, at: int, pos: np.ndarray, wxyz: np.ndarray) -> None:
    """Write x, y, z and a quaternion that comes as wxyz."""
    w, x, y, z = wxyz
    _POSE.pack_into(data, at, *pos, x, y, z, w)


def set_twist(data: bytearray, at: int, linear: np.ndarray, angular: np.ndarray) -> None:
    """Write linear, then angular."""
    _TWIST.pack_into(data, at, *linear, *angular)


def view(data: bytearray, at: int, count: int) -> np.ndarray:
    """Return [count] doubles in place: assigning to them writes into the message."""
    return np.frombuffer(data, "<f8", count, at)


def set_duration(data: bytearray, at: int, time_s: float) -> None:
    """Write a duration."""
    PARTS.pack_into(data, at, *parts_of(time_s))


def numbers_at(message: bytes | bytearray, count: int) -> int:
    """Return the offset of the last `count` doubles of a std_msgs/Float64MultiArray, which ends with them."""
    return len(message) - 8 * count
