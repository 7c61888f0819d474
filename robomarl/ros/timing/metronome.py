"""`Metronome`: due times of ticks. Absolute deadlines follow the sensor; missed ticks are left out. No
ROS.

A tick that runs at its own time finds its sensor message up to a period old. So each tick has a
window, half a period to both sides of its deadline, and runs at the first sensor message in it. The
deadlines keep their period and shift slowly, so that messages come in the middle of the window. If
the sensor is slower than the ticks, or silent, ticks run at their deadlines.
"""

import math
from dataclasses import dataclass

from robomarl.ros.timing.rate_timer import Beat

PULL = 0.05
"""Share of the phase error that one tick takes away."""
LEAST_GAP = 0.25
"""Minimum fraction of a period from the start of a late tick to the next deadline; a tick that is closer is left
out.
"""


@dataclass
class Metronome:
    """Windows of the ticks, one after another."""

    period_s: float
    deadline_s: float
    """Deadline of the next tick, by the steady clock [s]."""
    skipped: int = 0
    _in_a_row: int = 0
    """Ticks of late that a sensor message began."""

    @property
    def opens_s(self) -> float:
        """Time before which a message does not begin the tick [s]."""
        return self.deadline_s - self.period_s / 2

    @property
    def closes_s(self) -> float:
        """Time at which the tick begins without a message [s]."""
        return self.deadline_s + (self.period_s / 2 if self._in_a_row > 1 else 0.0)

    def beat(self, now_s: float, by_message: bool) -> Beat:
        """The tick begins.

        Args:
            now_s: steady clock.
            by_message: a sensor message has come.
        """
        late_s = max(now_s - self.closes_s, 0.0)
        error_s = min(max(now_s - self.deadline_s, -self.period_s / 2), self.period_s / 2)
        self._in_a_row = self._in_a_row + 1 if by_message else 0
        self.deadline_s += self.period_s + (PULL * error_s if by_message else 0.0)
        missed = max(math.ceil((now_s - self.deadline_s) / self.period_s + LEAST_GAP), 0)
        self.deadline_s += missed * self.period_s
        self.skipped += missed
        return Beat(late_s, self.skipped)
