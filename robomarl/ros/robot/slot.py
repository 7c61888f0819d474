"""`Slot`: the latest message of one source, and when it came. No ROS here."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from robomarl.ros.timing.steady import Silence

NEVER = -math.inf


class Now(NamedTuple):
    """One moment on both clocks."""

    stamp_s: float
    """The clock of message stamps."""
    steady_s: float
    """This machine's steady clock."""


@dataclass
class Slot:
    """The latest message of one source."""

    value: Any = None
    stamp_s: float = NEVER
    arrived_s: float = NEVER
    refusal: str = ""
    """Why the last that came was no message; "" where it was one."""
    silence: Silence = field(default_factory=Silence)
    """Silence between messages, by the steady clock."""

    def put(self, value: Any, stamp_s: float, steady_s: float, max_age_s: float) -> None:
        """A message arrived."""
        self.refusal = ""
        if self.since_s(stamp_s, steady_s, max_age_s) > 0:
            self.value, self.stamp_s, self.arrived_s = value, stamp_s, steady_s
            self.silence.hear(steady_s)

    def since_s(self, stamp_s: float, steady_s: float, max_age_s: float) -> float:
        """Return the time [s] from the previous sample to a new one; 0 for one that comes late, and is
        dropped.

        If nothing came for longer than `max_age_s`, an older stamp means that a clock was set back.
        """
        if stamp_s > self.stamp_s:
            return stamp_s - self.stamp_s
        silent_s = steady_s - self.arrived_s
        return silent_s if silent_s > max_age_s else 0.0

    def problem(self, now: Now, max_age_s: float, future_s: float) -> str:
        """Why the latest message can't be used; "" where it can.

        Args:
            now: the moment.
            max_age_s: by either clock.
            future_s: its stamp may be ahead by this much.
        """
        if self.value is None:
            return self.nothing
        source, delivery = now.stamp_s - self.stamp_s, now.steady_s - self.arrived_s
        if -source > future_s:
            return from_the_future(-source)
        if max(source, delivery) <= max_age_s:
            return ""
        since = f"; refused since: {self.refusal}" if self.refusal else ""
        return f"{source:.2f} s old, last delivered {delivery:.2f} s ago (limit {max_age_s:.2f} s){since}"

    @property
    def nothing(self) -> str:
        """That there is no message, and why."""
        return "nothing received yet" + (f"; refused: {self.refusal}" if self.refusal else "")


def from_the_future(ahead_s: float) -> str:
    """Return the description of a stamp that is this far ahead [s]."""
    return f"its stamp is {ahead_s:.2f} s in the future; synchronize the clocks"
