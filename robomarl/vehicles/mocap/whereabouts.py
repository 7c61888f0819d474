"""`Whereabouts`: where a body can be now, from its last trusted state and its commands. No ROS, no clock."""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply, rotate
from robomarl.ros.robot.jumps import Reach
from robomarl.vehicles.mocap.commanded import Commanded, Course
from robomarl.vehicles.mocap.doubt import LASTS_S, heading
from robomarl.vehicles.mocap.motion_filter import MotionFilter, turned

CARRIED_S = 0.3
"""Longest time [s] for which an attitude is extrapolated by its rates: rates from poses are noisy."""
TOUCH = 0.6
"""Fraction of the separation below which bodies touch."""


@dataclass(frozen=True)
class Whereabouts:
    """Possible positions of one body."""

    track: MotionFilter
    """Its motion when it was trusted last."""
    at_s: float
    """The stamp of that."""
    reach: Reach
    commanded: Commanded
    yaw_rate_rad_s: float = 0.0
    """Recent mean of the yaw rate: rates of single poses are noisy."""
    turn: np.ndarray | None = None
    """[4] by which the track's attitude is off, in the body; None: it is not."""

    def may_be(self, pos_m: np.ndarray, stamp_s: float, obeys: bool) -> bool:
        """Return True if it can be at a place [3], by any motion within the vehicle file.

        Args:
            pos_m: the place.
            stamp_s: time [s].
            obeys: True if vehicles are known to follow their commands.
        """
        off_m = np.abs(pos_m - self._steady(stamp_s))
        inside = off_m <= self.reach.around(max(stamp_s - self.at_s, 0.0), self._velocity_error)
        return bool(inside.all()) and not (obeys and self.obeyed(pos_m, stamp_s) is False)

    def obeyed(self, pos_m: np.ndarray, stamp_s: float) -> bool | None:
        """Return True if commands lead it to a place [3]; None if they are not known all the time."""
        if (course := self._course(stamp_s)) is None:
            return None
        room_m = 2 * self.reach.position_error_m + self._velocity_error * course.long_s + course.spread_m
        return bool((np.abs(pos_m - self._steady(stamp_s) - course.moved_m) <= room_m).all())

    def has_room(self, off_m: float, stamp_s: float) -> bool:
        """Return True if another body has room where this one can be, if it was seen this far [m] from its expected
        position.
        """
        return off_m + self.room_m(stamp_s) >= TOUCH * self.reach.separation_m

    def room_m(self, stamp_s: float) -> float:
        """How far [m] it can be from where it is expected."""
        ahead_s = max(stamp_s - self.at_s, 0.0)
        still_m = 2 * self.reach.position_error_m
        return still_m + float(np.linalg.norm(self.reach.around(ahead_s, self._velocity_error) - still_m))

    def jump(self, pos_m: np.ndarray, stamp_s: float) -> tuple[float, str]:
        """How far [m] a place is from where the body is expected, and why it can't be there; "" where it can.

        It is expected where it comes to at its velocity, at its acceleration, or by its commands; and, however long ago
        it was seen, within the separation of two bodies from there.
        """
        ahead_s, course = stamp_s - self.at_s, self._course(stamp_s)
        most_m = min(self.room_m(stamp_s), self.reach.separation_m)
        steady_m = self._steady(stamp_s)
        expected = [steady_m, self.track.ahead(ahead_s)[0], *([] if course is None else [steady_m + course.moved_m])]
        off_m = min(math.dist(pos_m, there) for there in expected)
        far = f"jumped by {off_m:.2f} m in {ahead_s:.2f} s, {most_m:.2f} m are possible"
        return off_m, far if off_m > most_m else ""

    def attitude(self, stamp_s: float) -> np.ndarray:
        """[4] wxyz that is expected."""
        quat, rates, turned_rad = self._turning(stamp_s)
        carried_s = min(stamp_s - self.at_s, CARRIED_S)
        return turned(quat, np.array([rates[0] * carried_s, rates[1] * carried_s, turned_rad]))

    def yaw_off(self, quat: np.ndarray, stamp_s: float) -> float:
        """Return the angle [rad] from the expected yaw to that of an attitude [4]; tilt counts in neither."""
        own, _, turned_rad = self._turning(stamp_s)
        return math.remainder(heading(quat) - heading(own) - turned_rad, 2 * math.pi)

    def _turning(self, stamp_s: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Its attitude when it was trusted last, its rates then, and how far it has turned about its z axis since."""
        own, course = self.track.estimate, self._course(stamp_s)
        quat, rates = own.quat_wxyz, own.omega_rad_s
        if self.turn is not None:
            quat, rates = quat_multiply(quat, quat_conjugate(self.turn)), rotate(self.turn, rates)
        # The mean lags where a vehicle turns otherwise all the time; over a short while noise does no harm.
        rate = float(rates[2]) if self.reach.planar or stamp_s - self.at_s <= LASTS_S else self.yaw_rate_rad_s
        carried = rate * min(stamp_s - self.at_s, CARRIED_S)
        return quat, rates, carried if course is None else course.turned_rad

    @property
    def _velocity_error(self) -> float:
        """A track that has just begun does not know its velocity."""
        declared = self.reach.velocity_error_m_s
        return max(declared, min(3 * self.track.speed_error_m_s, self.reach.speed_m_s))

    def _steady(self, stamp_s: float) -> np.ndarray:
        """Return its position at constant velocity."""
        own = self.track.estimate
        return own.pos_m + own.vel_m_s * max(stamp_s - self.at_s, 0.0)

    def _course(self, stamp_s: float) -> Course | None:
        """Return the motion by its commands, if the time is longer than `LASTS_S`; None if it is short or unknown."""
        return self.commanded.course(self.at_s, stamp_s) if stamp_s - self.at_s > LASTS_S else None
