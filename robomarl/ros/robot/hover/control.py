"""How a robot moves when its policy does not: it climbs, hovers, descends. The filter comes after it.

A feedback law on the estimate, in the command's own terms (acceleration in the world). No ROS here.
"""

from dataclasses import dataclass

import numpy as np

from robomarl.ros.robot.hover.touchdown import Touchdown
from robomarl.ros.robot.inbox import Estimate
from robomarl.ros.robot.state_machine import State

POSITION_PER_S2 = 2.5
"""Acceleration over position error; with the two below the poles stay slow beside the command's delay."""
VELOCITY_PER_S = 2.5
"""Acceleration over velocity error."""
INTEGRAL_PER_S3 = 0.8
"""Integral gain, against the error that a wrong mass or steady wind leaves."""
MAX_TRIM_M_S2 = 1.5
"""Most that the integral may add."""
LEVEL_M = 0.1
"""Distance [m] below the hand-over altitude within which a robot counts as there."""
NEAR_M = 0.1
"""Closer than this to its station a robot slows down."""
MAX_STEP_S = 0.1
"""Longer gaps between two decisions count as this."""


@dataclass(frozen=True)
class HoverConfig:
    """Altitudes and speeds, from the fleet file and the vehicle file."""

    handover_m: float = 0.0
    """Altitude at which the policy takes over; 0: wherever the robot is (it flies already)."""
    climb_m_s: float = 0.3
    descend_m_s: float = 0.3
    floor_m: float = 0.0
    """Lowest altitude that the filter allows."""


class HoverController:
    """Memory: the place to hold, a slow trim, and whether a landing is over."""

    def __init__(self, config: HoverConfig) -> None:
        """Nothing to hold yet."""
        self.config = config
        self._place: np.ndarray | None = None
        self._trim, self._then_s = np.zeros(3), 0.0
        self._touchdown = Touchdown(config.floor_m, config.descend_m_s)

    def begin(self) -> None:
        """Hold from where the robot is at the next decision; the trim stays."""
        self._place = None
        self._touchdown.forget()

    def __call__(
        self, state: State, own: Estimate, when: tuple[float, float], station_m: np.ndarray | None = None
    ) -> np.ndarray:
        """[3] acceleration [m/s^2, world] that this state wants.

        Args:
            state: TAKEOFF and PICKUP climb, LAND descends, all others hover.
            own: the estimate; of a certified robot the reference.
            when: now [s], and the deceleration [m/s^2] that says where a robot that moves comes to rest: it is held
                there.
            station_m: [2] world x and y to go to in PICKUP and LAND; None: stay above where it is.
        """
        steady_s, brake_m_s2 = when
        dt_s = min(max(steady_s - self._then_s, 0.0), MAX_STEP_S)
        self._then_s = steady_s
        if self._place is None:
            speed = float(np.linalg.norm(own.vel_m_s))
            self._place = own.pos_m + own.vel_m_s * (speed / (2 * brake_m_s2))
        wanted = np.array([*self._to_station(state, station_m), self._climb(state, own)])
        self._place += wanted * dt_s
        if state is State.LAND:
            self._place[2] = min(self._place[2], own.pos_m[2])  # one that was pushed down does not climb back
        error = np.clip(self._place - own.pos_m, -0.5, 0.5)
        self._trim = np.clip(self._trim + INTEGRAL_PER_S3 * dt_s * error, -MAX_TRIM_M_S2, MAX_TRIM_M_S2)
        accel = POSITION_PER_S2 * error + VELOCITY_PER_S * (wanted - own.vel_m_s) + self._trim
        return accel

    def note(self, state: State, own: Estimate, steady_s: float) -> None:
        """Note where the robot itself is after a decision: a landing ends where something holds it up."""
        if state is State.LAND and self._place is not None:
            self._touchdown.note(own, self._place, steady_s)

    def aloft(self, height_m: float) -> bool:
        """Return True if a robot at this height can be handed over."""
        return height_m > self.config.handover_m - LEVEL_M

    def on_ground(self, steady_s: float) -> bool:
        """Return True if a landing has reached the ground: the motors are to stop."""
        return self._touchdown.on_ground(steady_s)

    def down(self, own: Estimate, steady_s: float) -> bool:
        """Return True if a landing is over, and the vehicle has been commanded to stop its motors."""
        return self._touchdown.over(own, steady_s)

    def _to_station(self, state: State, station_m: np.ndarray | None) -> np.ndarray:
        """[2] horizontal velocity [m/s]: to the station, slower close to it."""
        assert self._place is not None
        if station_m is None or state not in (State.PICKUP, State.LAND):
            return np.zeros(2)
        way = station_m - self._place[:2]
        return way * (self.config.climb_m_s / max(float(np.linalg.norm(way)), NEAR_M))

    def _climb(self, state: State, own: Estimate) -> float:
        """Vertical speed [m/s]."""
        assert self._place is not None
        if state is State.LAND:
            return -self.config.descend_m_s
        if state is State.PICKUP or state is State.TAKEOFF and self._place[2] < self.config.handover_m:
            # The place must not run away from a robot that is still held by the ground or by its load.
            return self.config.climb_m_s if self._place[2] - own.pos_m[2] < 0.4 else 0.0
        return 0.0
