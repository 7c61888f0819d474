"""`Commanded`: motion of a body that follows its robot's commands. No ROS, no clock."""

from collections import deque
from typing import NamedTuple

import numpy as np

KEEPS_S = 3.0
"""Time for which past commands are kept [s]."""
GAP_S = 0.1
"""Longest time [s] between two commands; without commands for longer, a robot's vehicle does something unknown here."""


class Course(NamedTuple):
    """Motion of a body by its commands over a time."""

    moved_m: np.ndarray
    """[3] beside the motion at constant velocity."""
    spread_m: np.ndarray
    """Half-widths [3] of its uncertainty: the delay is not known but bounded."""
    turned_rad: float
    """About the body's z axis."""
    long_s: float


class Commanded:
    """Memory of one robot's commands."""

    def __init__(self, delay_s: float, error_m_s2: np.ndarray) -> None:
        """Nothing was commanded.

        Args:
            delay_s: at most from a command to the acceleration.
            error_m_s2: [3] by which an acceleration may differ from the command.
        """
        self._delay_s, self._error_m_s2 = delay_s, error_m_s2
        self._rows: deque[tuple[float, np.ndarray, float]] = deque()

    def note(self, accel_m_s2: np.ndarray, yaw_rate_rad_s: float, stamp_s: float) -> None:
        """A command [3], world, in the order of stamps."""
        if self._rows and stamp_s <= self._rows[-1][0]:
            self._rows.clear()  # its clock was set, or another sends
        self._rows.append((stamp_s, accel_m_s2, yaw_rate_rad_s))
        while stamp_s - self._rows[0][0] > KEEPS_S:
            self._rows.popleft()

    def course(self, begin_s: float, end_s: float) -> Course | None:
        """Return the motion between two stamps; None if commands are not known all the time."""
        times = np.array([row[0] for row in self._rows])
        inside = times[(times > begin_s - self._delay_s - GAP_S) & (times <= end_s)]
        edges = np.concatenate([[begin_s - self._delay_s], inside, [end_s]])
        if not len(inside) or inside[0] > edges[0] or np.diff(edges).max() > GAP_S:
            return None
        accels, rates = np.stack([row[1] for row in self._rows]), np.array([row[2] for row in self._rows])
        moved = np.stack([self._moved(times, accels, late, end_s - begin_s, begin_s) for late in (0.0, 0.5, 1.0)])
        middle, span = moved.mean(0), np.abs(moved - moved.mean(0)).max(0)
        turned = float(rates[np.searchsorted(times, _middles(begin_s, end_s), "right") - 1].mean()) * (end_s - begin_s)
        return Course(middle, 1.5 * span + self._error_m_s2 * (end_s - begin_s) ** 2 / 2, turned, end_s - begin_s)

    def _moved(self, times: np.ndarray, accels: np.ndarray, late: float, long_s: float, begin_s: float) -> np.ndarray:
        at = _middles(begin_s, begin_s + long_s)
        held = accels[np.searchsorted(times, at - late * self._delay_s, "right") - 1]
        return ((begin_s + long_s - at)[:, None] * held).mean(0) * long_s


def _middles(begin_s: float, end_s: float) -> np.ndarray:
    return begin_s + (np.arange(50) + 0.5) / 50 * (end_s - begin_s)
