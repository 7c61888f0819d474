"""`Landings`: robots that left the flight through its floor to land, and so have not left the arena.
No ROS here.

The arena's floor is a plane in the air; the ground is below it. A robot lands if it goes through
the floor slowly, never falls, and is on the ground a while later. A robot that falls, hovers
below the floor, or comes up again without having been on the ground was outside the arena.
"""

import numpy as np

FALLS_M_S = 1.0
"""Descent speed [m/s] above which a robot falls instead of landing: three times the value in vehicle files."""
WITHIN_S = 10.0
"""Time [s] within which a robot that went through the floor must be on the ground."""
STANDS_M = 0.05
"""No higher above the ground: it stands."""


class Landings:
    """Memory of the robots [N] of one team."""

    def __init__(self, count: int, floor_m: float, radius_m: float) -> None:
        """Create the memory; no robot has landed.

        Args:
            count: N.
            floor_m: height of the arena's floor.
            radius_m: height of a vehicle's centre when it stands on the ground.
        """
        self._floor_m, self._stands_m = floor_m, radius_m + STANDS_M
        self._since_s = np.full(count, np.nan)
        self._stood = np.zeros(count, bool)

    def note(self, pos_m: np.ndarray, vel_m_s: np.ndarray, now_s: float) -> np.ndarray:
        """Take one moment in; returns [N] bool: it lands or has landed, so that being below the floor is no fault.

        Args:
            pos_m: [N, 3] world frame.
            vel_m_s: [N, 3] likewise.
            now_s: of the flight.
        """
        below, fell = pos_m[:, 2] < self._floor_m, vel_m_s[:, 2] < -FALLS_M_S
        self._since_s = np.where(below & np.isnan(self._since_s), now_s, self._since_s)
        self._stood |= below & (pos_m[:, 2] <= self._stands_m)
        in_time = self._stood | (now_s - self._since_s <= WITHIN_S)
        return below & ~fell & in_time

    def came_up(self, pos_m: np.ndarray) -> bool:
        """Return True if a robot is above the floor again without having stood on the ground. A robot that stood
        there may take off again.
        """
        up = (pos_m[:, 2] >= self._floor_m) & ~np.isnan(self._since_s)
        dived = bool((up & ~self._stood).any())
        self._since_s[up], self._stood[up] = np.nan, False
        return dived
