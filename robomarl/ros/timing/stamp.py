"""`Stamp`: a time of a message in seconds that has not lost its nanoseconds. No ROS here.

A double has room for a quarter of a microsecond since the epoch. A lookup of an odometry by its
stamp needs all digits, so a time that is passed on goes out with the nanoseconds that came in.
"""

import struct

from robomarl.ros.io.messages import Message

SECOND_NS = 10**9
EARLIEST_S, LATEST_S = -(2.0**31), 2.0**31 - 1
"""Range of times that a message can hold [s]."""
PARTS = struct.Struct("<iI")
"""A time or duration of a message as bytes: seconds, nanoseconds."""


class Stamp(float):
    """Time in seconds; results of calculations with one are ordinary floats."""

    __slots__ = ("nanoseconds",)
    nanoseconds: int

    @classmethod
    def of(cls, seconds: int, nanoseconds: int) -> "Stamp":
        """Return the stamp with the two parts of a message.

        Raises:
            ValueError: the nanoseconds make up a second or more.
        """
        if nanoseconds >= SECOND_NS:
            raise ValueError(f"a stamp has {nanoseconds} nanoseconds beside its {seconds} s")
        made = cls(seconds + nanoseconds * 1e-9)
        made.nanoseconds = seconds * SECOND_NS + nanoseconds
        return made


def parts_of(time_s: float) -> tuple[int, int]:
    """Seconds and nanoseconds for a message: those that a stamp came with, else the nearest that a message can say."""
    if isinstance(time_s, Stamp):
        return divmod(time_s.nanoseconds, SECOND_NS)
    return divmod(round(min(max(EARLIEST_S, time_s), LATEST_S) * 1e9), SECOND_NS)


def set_stamp(time: Message, time_s: float) -> None:
    """Write a time or duration of a message."""
    time.sec, time.nanosec = parts_of(time_s)


def time_of(time: Message) -> Stamp:
    """A time or duration of a message [s].

    Raises:
        ValueError: as `Stamp.of`.
    """
    return Stamp.of(time.sec, time.nanosec)
