"""Data that adapters keep of a vehicle's reports."""

import math
from collections import deque
from dataclasses import dataclass

from robomarl.ros.io.messages import Estimate

MATCH_S = 2.0
"""Time over which clocks are matched [s]."""
RESTART_S = 1.0
"""A clock that jumps by more has begun anew."""
OLDEST_S = 0.5
"""Nothing counts as older than this."""


@dataclass(frozen=True)
class StateSample:
    """One state estimate of a vehicle."""

    estimate: Estimate
    heard_s: float
    """Arrival time by the clock of the link [s]."""
    vehicle_ms: int
    """Time by the clock of the vehicle [ms], the lowest 24 bits."""
    resets: int = 0
    """Its estimator's reset counter; it changes where the estimate was moved, and not the vehicle."""
    age_s: float = 0.0
    """How old it was when it was heard, where the two clocks are known to each other."""


class ClockMatch:
    """Age of a vehicle's messages at their arrival, by its own stamps: packets that come in a burst are as
    far apart as the vehicle says.

    No message arrives before it was made: of the last seconds, the fastest message took half of the
    shortest round trip. A vehicle with a clock that begins again, or stands still, is matched again.
    """

    def __init__(self) -> None:
        """Nothing heard."""
        self.trip_s = math.inf
        """Shortest round trip that was measured."""
        self._ahead: deque[tuple[float, float]] = deque()

    @property
    def ahead_s(self) -> float:
        """Its clock less ours; NaN where nothing was heard."""
        return max((ahead for _, ahead in self._ahead), default=math.nan) + self._shortest_s

    def trip(self, seconds: float) -> None:
        """A round trip was measured."""
        self.trip_s = min(seconds, self.trip_s)

    def age_s(self, made_s: float, heard_s: float) -> float:
        """Return the age [s] of a message that was made at a time of its clock, and received at one of ours."""
        rows, ahead = self._ahead, made_s - heard_s
        if rows and not rows[-1][1] - RESTART_S < ahead < rows[-1][1] + RESTART_S:
            rows.clear()
        rows.append((heard_s, ahead))
        while heard_s - rows[0][0] > MATCH_S:
            rows.popleft()
        return min(max(self.ahead_s - ahead, 0.0), OLDEST_S)

    @property
    def _shortest_s(self) -> float:
        return 0.0 if math.isinf(self.trip_s) else min(self.trip_s / 2, OLDEST_S / 2)
