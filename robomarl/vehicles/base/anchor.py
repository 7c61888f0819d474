"""`MapAnchor`: where the frame of a base's wheels lies in the map. No ROS.

Wheels tell of motion many times a second, in a frame that drifts; localization tells of the place in the map, seldom
and late. The pose of the wheels' frame in the map follows from both at one stamp. It is corrected slowly, so that the
estimate does not jump under a robot that drives; a correction that is too large for that stops the robot. It may be
another robot's place, or a flip: it is refused for as long as the robot is commanded, and taken over at rest then.
"""

import math
from collections import deque
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import quat_from_yaw, quat_multiply, rotate, yaw_of
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import wrapped

HISTORY_S = 3.0
"""Localization may be so late."""
APART_S = 0.2
"""A place of the wheels that is further from a stamp is none of that stamp."""
SLEW_M_S, SLEW_RAD_S = 0.1, 0.3
"""How fast the wheels' frame is corrected."""
JUMP_M, JUMP_RAD = 0.2, 0.35
"""Corrections above these [m, rad] are taken over at rest only: two robots are not nearer, and a flip is larger."""
RESTS_M_S, RESTS_RAD_S = 0.02, 0.1
"""Speeds [m/s, rad/s] below which the base counts as at rest."""


class PlanarPose(NamedTuple):
    """Pose of one frame in another, in the plane."""

    x_m: float
    y_m: float
    yaw_rad: float

    def then(self, inner: "PlanarPose") -> "PlanarPose":
        """Return the pose of a frame that has the pose `inner` in this one."""
        c, s = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        x, y = self.x_m + c * inner.x_m - s * inner.y_m, self.y_m + s * inner.x_m + c * inner.y_m
        return PlanarPose(x, y, float(wrapped(self.yaw_rad + inner.yaw_rad)))

    def inverse(self) -> "PlanarPose":
        """Return the pose of the outer frame in the inner one."""
        c, s = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        return PlanarPose(-c * self.x_m - s * self.y_m, s * self.x_m - c * self.y_m, -self.yaw_rad)


def planar(pos_m: np.ndarray, quat: np.ndarray) -> PlanarPose:
    """Return the part of a pose in space that lies in the plane."""
    return PlanarPose(float(pos_m[0]), float(pos_m[1]), float(yaw_of(quat)))


class MapAnchor:
    """Memory of one base."""

    def __init__(self, anchor: PlanarPose | None) -> None:
        """Nothing driven yet.

        Args:
            anchor: of the wheels' frame in the map, where it is known from the start.
        """
        self._now, self._wanted = anchor, anchor
        self.free = True
        """True if the robot is not commanded, or an operator has looked: localization counts at any distance."""
        self._history: deque[tuple[float, PlanarPose]] = deque()
        self._stamp_s = -math.inf

    @property
    def problem(self) -> str:
        """Why the place in the map is not known; "" where it is."""
        if self._now is None or self._wanted is None:
            return "localization has not said where it is in the map"
        off_m, off_rad = _apart(self._now, self._wanted)
        if off_m > JUMP_M or abs(off_rad) > JUMP_RAD:
            return (
                f"localization moved it by {off_m:.2f} m and {math.degrees(off_rad):.0f} degrees: "
                "it has to be at rest, and reset or no longer commanded"
            )
        return ""

    def drive(self, wheels: Estimate, stamp_s: float) -> Estimate | None:
        """The wheels' odometry has come; returns the estimate in the map."""
        dt_s = min(max(stamp_s - self._stamp_s, 0.0), 1.0)
        self._stamp_s = stamp_s
        self._history.append((stamp_s, planar(wheels.pos_m, wheels.quat_wxyz)))
        while stamp_s - self._history[0][0] > HISTORY_S:
            self._history.popleft()
        speed, rate = float(np.linalg.norm(wheels.vel_m_s)), abs(float(wheels.omega_rad_s[2]))
        self._slew(dt_s, speed < RESTS_M_S and rate < RESTS_RAD_S)
        return None if self._now is None or self.problem else placed(wheels, self._now)

    def locate(self, in_map: PlanarPose, stamp_s: float) -> None:
        """Localization says where the base was at a stamp."""
        near = min(self._history, key=lambda row: abs(row[0] - stamp_s), default=None)
        if near is not None and abs(near[0] - stamp_s) <= APART_S:
            self.anchor_at(in_map.then(near[1].inverse()))

    def anchor_at(self, anchor: PlanarPose) -> None:
        """Localization says where the wheels' frame is."""
        self._wanted = anchor
        self._now = self._now or anchor

    def _slew(self, dt_s: float, rests: bool) -> None:
        if self._now is None or self._wanted is None:
            return
        off_m, off_rad = _apart(self._now, self._wanted)
        small = off_m <= JUMP_M and abs(off_rad) <= JUMP_RAD
        if rests and (small or self.free):
            self._now = self._wanted
        elif small:
            share = min(1.0, SLEW_M_S * dt_s / max(off_m, 1e-9), SLEW_RAD_S * dt_s / max(abs(off_rad), 1e-9))
            a, b = self._now, self._wanted
            turn = float(wrapped(a.yaw_rad + share * off_rad))
            self._now = PlanarPose(a.x_m + share * (b.x_m - a.x_m), a.y_m + share * (b.y_m - a.y_m), turn)


def placed(wheels: Estimate, anchor: PlanarPose) -> Estimate:
    """An estimate in the wheels' frame as one in the map."""
    turn = quat_from_yaw(np.float64(anchor.yaw_rad))
    pos = rotate(turn, wheels.pos_m) + np.array([anchor.x_m, anchor.y_m, 0.0])
    return Estimate(pos, quat_multiply(turn, wheels.quat_wxyz), rotate(turn, wheels.vel_m_s), wheels.omega_rad_s)


def _apart(a: PlanarPose, b: PlanarPose) -> tuple[float, float]:
    return math.hypot(b.x_m - a.x_m, b.y_m - a.y_m), float(wrapped(b.yaw_rad - a.yaw_rad))
