"""`steady_now_s`, the clock of every limit, and rules for time in which a process did not run. No ROS
here.

A process may be stopped (SIGSTOP, a debugger, swapped memory), and its machine may be suspended.
Messages wait meanwhile. When the process goes on it has not seen the silence, and finds messages
that look fresh. Two rules hold:

- A silence is judged when the process looks, before it takes waiting messages (`Silence`).
- A message that waited is as old as its sender's clock says, but no older than the absence
  (`Absence`).
"""

import math
import time

from robomarl.ros.io.messages import MessageInfo

AWAY_S = 0.1
"""Longer than this between two looks [s]: the process was away."""
SETTLES_S = 1.0
"""Time [s] after an absence in which the middleware may still hand over messages that waited."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
# CLOCK_MONOTONIC stands still while Linux is suspended; the vehicles, the other machines and their limits do not.


def steady_now_s() -> float:
    """Seconds that no one sets and that go on while the machine is suspended."""
    return time.clock_gettime(_CLOCK)


class Absence:
    """Memory of one reader of messages: when it looked, and since when it had not."""

    def __init__(self) -> None:
        """The reader has not looked."""
        self._looked_s = self._since_s = math.nan
        self._woke_s = -math.inf

    def look(self, now_s: float) -> None:
        """Note that the reader looks now [s, `steady_now_s`]."""
        if now_s - self._looked_s > AWAY_S:
            self._since_s, self._woke_s = self._looked_s, now_s
        self._looked_s = now_s

    def waited_s(self, info: MessageInfo) -> float:
        """How long a message that the reader finds now has waited [s]; 0 unless the reader was away of late.

        Args:
            info: of the middleware; `source_timestamp` [ns] is by the sender's clock, which may be wrong.
        """
        if not self._looked_s - self._woke_s <= SETTLES_S:
            return 0.0
        age_s = time.time() - info["source_timestamp"] * 1e-9
        return min(max(age_s, 0.0), self._looked_s - self._since_s)


class Silence:
    """Memory of how long one source has been silent, its last silence included."""

    def __init__(self, remembered_s: float = 0.0) -> None:
        """Start without a message of the source.

        Args:
            remembered_s: minimum time [s] for which an ended silence counts; after that it counts until the
                next message.
        """
        self._remembered_s = remembered_s
        self.heard_s = self._looked_s = self._ended_at_s = -math.inf
        self._ended_s = 0.0

    def hear(self, look_s: float, waited_s: float = 0.0) -> None:
        """Note a message.

        Args:
            look_s: time at which the reader looked [s, `steady_now_s`], one value for all messages that it
                found.
            waited_s: time that the message had waited then [s].
        """
        silent_s = look_s - self.heard_s
        if look_s > self._looked_s > -math.inf:
            if silent_s > self._ended_s or look_s - self._ended_at_s > self._remembered_s:
                self._ended_s, self._ended_at_s = silent_s, look_s
        self._looked_s = look_s
        self.heard_s = max(self.heard_s, look_s - waited_s)

    def of(self, now_s: float) -> float:
        """How long the source has been silent [s]; +inf before its first message."""
        return max(now_s - self.heard_s, self._ended_s)
