"""`Px4Vehicle`: current target of one PX4 vehicle: its mode's set-point, take-off, land detector. NED, no sockets."""

from typing import NamedTuple

import numpy as np

from robomarl.ros.io.messages import Estimate
from robomarl_peers.px4.commander import Commander, FlightMode

NONE = np.full(3, np.nan)
STILL_M_S = 0.25
"""Slower than this a vehicle that holds keeps its place; before, it brakes."""
LOW_THROTTLE, SINKS_M_S, LANDED_S = 0.6, 0.12, 0.6
"""Land detector: largest fraction of the hover throttle and largest vertical speed [m/s] while the set-point leads
down, and the time [s] for which both must last.
"""


class Wish(NamedTuple):
    """A set-point of one vehicle, NED; NaN: not given."""

    pos_m: np.ndarray
    vel_m_s: np.ndarray
    accel_m_s2: np.ndarray
    yaw_rad: float = np.nan
    yaw_rate_rad_s: float = np.nan

    @property
    def is_down(self) -> bool:
        """It leads to the ground."""
        return bool(self.vel_m_s[2] > 0.05)


class Px4Vehicle:
    """Memory of one vehicle."""

    def __init__(self, hover: float) -> None:
        """It has just been started; `hover` is the throttle of a hover."""
        self.commander = Commander()
        self._hover = hover
        self.offboard = Wish(NONE, NONE, NONE)
        self._place_m: np.ndarray | None = None
        self._mode, self._low_s, self._landed = FlightMode.MANUAL, 0.0, True

    def step(self, now_s: float, own: Estimate, throttle: float) -> Wish | None:
        """Return the set-point that the controllers track now; None: motors idle or off.

        Args:
            now_s: by its clock.
            own: [3] parts, NED.
            throttle: collective, of the last step.
        """
        commander = self.commander
        commander.step(now_s, self._landed)
        if commander.mode is not self._mode:
            self._mode, self._place_m = commander.mode, None
        if not commander.armed:
            self._landed, self._low_s = self._landed or self._rests(own), now_s
            return None
        wish = self._wish(own)
        if self._landed:
            rises = self._rises(wish, own) and now_s >= commander.spooled_s
            self._landed, self._low_s = not rises, now_s
            return wish if rises else None
        sinks = self._is_low(wish, own) and throttle < LOW_THROTTLE * self._hover and self._rests(own)
        self._low_s = self._low_s if sinks else now_s
        self._landed = now_s - self._low_s > LANDED_S
        return wish

    @staticmethod
    def _rests(own: Estimate) -> bool:
        return bool(abs(own.vel_m_s[2]) < SINKS_M_S and np.linalg.norm(own.vel_m_s[:2]) < 0.3)

    @staticmethod
    def _is_low(wish: Wish, own: Estimate) -> bool:
        return wish.is_down or bool(wish.pos_m[2] > own.pos_m[2] + 0.05)

    def _rises(self, wish: Wish, own: Estimate) -> bool:
        """PX4 takes off for a set-point above the vehicle, or one that climbs."""
        if self.commander.mode is not FlightMode.OFFBOARD:
            return False
        return bool(wish.pos_m[2] < own.pos_m[2] or wish.vel_m_s[2] < 0 or wish.accel_m_s2[2] < 0)

    def _wish(self, own: Estimate) -> Wish:
        if self.commander.mode is FlightMode.OFFBOARD:
            return self.offboard
        if self._place_m is None and np.linalg.norm(own.vel_m_s) < STILL_M_S:
            self._place_m = own.pos_m.copy()
        place = NONE if self._place_m is None else self._place_m
        if self.commander.mode is FlightMode.LAND:
            speed = float(self.commander.parameters["MPC_LAND_SPEED"])
            return Wish(np.array([place[0], place[1], np.nan]), np.array([0.0, 0.0, speed]), NONE)
        return Wish(place, np.zeros(3), NONE)
