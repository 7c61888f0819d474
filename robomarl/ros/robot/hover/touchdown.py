"""`Touchdown`: detects when a landing is over, and the motors may stop. No ROS here.

A robot does not know how high the ground is: the floor of the filter is a line in the air. A robot
has landed when it is low, is sent down, and sinks no more. It then commands free fall for a moment,
which takes the lift of any vehicle away, before it falls silent.
"""

import math

import numpy as np

from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.robot.inbox import Estimate

FREE_FALL_M_S2 = (0.0, 0.0, -GRAVITY_M_S2)
"""The command that makes motors stop: no force but the weight."""
LOW_M = 0.25
"""Higher above the floor nothing is taken for the ground: a mate below may keep a robot up as well."""
PRESSED_M = 0.1
"""Minimum distance [m] of the commanded position below the robot; with less, it may have only just begun to sink."""
SHARE = 0.5
"""Fraction of the commanded descent speed below which a robot counts as at rest."""
RESTS_S = 0.3
"""Time at rest after which a robot is on the ground [s]."""
TOLD_S = 0.3
"""Time for which the vehicle is commanded to stop its motors [s]."""
GROUND_M = 1.0
"""The ground is no lower below the floor of the filter than this."""


class Touchdown:
    """Memory: since when the robot has been at rest."""

    def __init__(self, floor_m: float, descend_m_s: float) -> None:
        """Not landed.

        Args:
            floor_m: lowest altitude of the flight.
            descend_m_s: how fast it is sent down; 0 for a vehicle that drives, which is down when it is low.
        """
        self._floor_m, self._descend_m_s = floor_m, descend_m_s
        self._rests_s = math.nan

    def forget(self) -> None:
        """A landing begins."""
        self._rests_s = math.nan

    def note(self, own: Estimate, place_m: np.ndarray, steady_s: float) -> None:
        """One decision of a landing: where the robot is, and [3] where it is sent to."""
        if not self._is_held_up(own, place_m):
            self._rests_s = math.nan
        elif math.isnan(self._rests_s):
            self._rests_s = steady_s

    def on_ground(self, steady_s: float) -> bool:
        """It rests: the motors may stop."""
        return steady_s - self._rests_s >= RESTS_S

    def over(self, own: Estimate, steady_s: float) -> bool:
        """The motors have been told to stop."""
        return steady_s - self._rests_s >= RESTS_S + TOLD_S or not self._descend_m_s and self._is_low(own)

    def _is_low(self, own: Estimate) -> bool:
        return bool(own.pos_m[2] < self._floor_m + LOW_M)

    def _is_held_up(self, own: Estimate, place_m: np.ndarray) -> bool:
        sinks = own.vel_m_s[2] < -SHARE * self._descend_m_s
        return self._is_low(own) and not sinks and bool(place_m[2] < own.pos_m[2] - PRESSED_M)
