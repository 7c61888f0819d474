"""`FrameJudge`: check that poses and an inertial unit on the vehicle report one motion. No ROS.

A mirrored or turned frame shows by itself only against a sensor that does not depend on the
cameras. Gyroscope and accelerometer are such sensors: the laws are those of `conversion.plausible`.
They need motion, so a person turns and tilts the vehicle by hand before it flies.
"""

from collections import deque

import numpy as np

from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.plausible import GRAVITY, RATES, StateTrack, judged

WINDOW_S = 3.0
"""Length of the tracks that are judged."""
EVERY_S = 0.5
"""They are judged so often."""
LEAST = 30
"""Estimates that a track has at least."""


class FrameJudge:
    """Memory of one body; ends once all three axes were judged and found right."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._rows: deque[tuple[float, Estimate, np.ndarray, np.ndarray]] = deque()
        self._judged_s = -np.inf
        self.problem = ""
        """One sentence; "" where nothing was found."""
        self.unjudged: tuple[str, ...] = (RATES, GRAVITY)
        """Laws that no motion has shown yet."""

    @property
    def over(self) -> bool:
        """True if nothing more has to be judged."""
        return not self.unjudged and not self.problem

    def take(self, estimate: Estimate, stamp_s: float, rates: np.ndarray, force: np.ndarray) -> None:
        """Take an estimate, and data of the inertial unit: [3] rates [rad/s] and [3] specific force [m/s^2], body."""
        if self.over:
            return
        self._rows.append((stamp_s, estimate, rates, force))
        while stamp_s - self._rows[0][0] > WINDOW_S:
            self._rows.popleft()
        long_enough = stamp_s - self._rows[0][0] > 0.8 * WINDOW_S and len(self._rows) >= LEAST
        if long_enough and stamp_s - self._judged_s >= EVERY_S:
            self._judged_s = stamp_s
            self._judge()

    def _judge(self) -> None:
        times, estimates, rates, forces = zip(*self._rows, strict=True)
        columns = [np.stack(column) for column in zip(*estimates, strict=True)]
        pos, quat, vel = columns[:3]
        found = judged(StateTrack(np.array(times), pos, vel, quat, np.stack(rates), np.stack(forces)))
        self.problem = found.problem
        # Axes may be turned one after the other: what one track has shown need not be shown again.
        if not found.problem:
            self.unjudged = _left(self.unjudged, found.unjudged)


def _left(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    """Laws and axes that neither showed."""
    return tuple(sorted(_parts(before) & _parts(now)))


def _parts(laws: tuple[str, ...]) -> set[str]:
    """Return each law with one axis; a law without axes is about all axes."""
    found = set()
    for law in laws:
        name, _, axes = law.partition(" along ")
        if name == RATES:
            found |= {f"{name} along {axis}" for axis in axes.split(", ") if axis} or {
                f"{name} along {a}" for a in "xyz"
            }
        elif name == GRAVITY:
            found.add(name)
    return found
