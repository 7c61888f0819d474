"""`BallTrack`: place and velocity of the ball from recent pictures of cameras: a line through its
last places. No ROS.

A kick or an impact bends the line: a place off the line begins a new one, with the last place
before it. Among several things that look like balls the one nearest to the expected place counts.
"""

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

PLACES = 5
"""That a line goes through, at most: 0.1 s of a camera's pictures."""
OFF_M = 0.03
"""A ball that is further from the line has been hit."""
REACH_M_S = 8.0
"""No ball is faster: the rules end at 6.5 m/s."""
FORGET_S = 0.25
"""Time [s] without a sighting after which the ball may be anywhere."""


class BallTrack:
    """Memory of the ball."""

    def __init__(self) -> None:
        """Nowhere."""
        self._rows: deque[tuple[float, np.ndarray]] = deque(maxlen=PLACES)
        self.stamp_s = -math.inf
        """Stamp [s] of the last place."""

    def take(self, balls_m: Sequence[np.ndarray], stamp_s: float) -> bool:
        """Take in one picture; return True if the ball is in it.

        Args:
            balls_m: [2] each, the likeliest first.
            stamp_s: of the picture.
        """
        if stamp_s - self.stamp_s > FORGET_S:
            self._rows.clear()
        near = self._nearest(balls_m, stamp_s)
        if near is None or stamp_s <= self.stamp_s:
            return False
        if self._rows and math.dist(self.at(stamp_s)[0], near) > OFF_M:
            last = self._rows[-1]
            self._rows.clear()
            self._rows.append(last)
        self._rows.append((stamp_s, near))
        self.stamp_s = stamp_s
        return True

    def at(self, stamp_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Place [2] and velocity [2] at a time near the last one."""
        times = np.array([row[0] for row in self._rows]) - self.stamp_s
        places = np.stack([row[1] for row in self._rows])
        if len(times) < 2:
            return places[-1], np.zeros(2)
        middle = times.mean()
        off = times - middle
        vel = off @ (places - places.mean(0)) / (off @ off)
        return places.mean(0) + vel * (stamp_s - self.stamp_s - middle), vel

    def _nearest(self, balls_m: Sequence[np.ndarray], stamp_s: float) -> np.ndarray | None:
        if not self._rows or not balls_m:
            return balls_m[0] if balls_m else None
        expected = self.at(stamp_s)[0]
        near = min(balls_m, key=lambda ball: math.dist(ball, expected))
        reach_m = OFF_M + REACH_M_S * (stamp_s - self.stamp_s)
        return near if math.dist(near, self._rows[-1][1]) <= reach_m else None
