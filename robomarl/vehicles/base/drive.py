"""`BaseDrive`: turns accelerations into the twist of a base. No ROS, no clock.

The reference is a twist that is advanced by each command. A differential drive's command is the
acceleration of a point in front of its axle, and the twist follows by feedback linearization (De
Luca, Oriolo, Vendittelli, 2001: `robomarl.core.filter.model.look_ahead`). An omnidirectional base
makes its acceleration with its centre. As with references of position (`conversion.reference`), the
reference decays towards the measured twist and leads it by a bounded difference: a base that is
held does not wind up. If a wheel would exceed its speed, the whole twist is slowed down by one
factor.
"""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.geometry import yaw_of
from robomarl.core.hardware.ground import DifferentialDrive, OmniRobot
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.reference import MAX_STEP_S, check_finite
from robomarl.vehicles.conversion.wheels import (
    DifferentialBase,
    OmniBase,
    differential_twist,
    omni_twist,
    to_body_plane,
)


@dataclass(frozen=True)
class TwistLead:
    """Largest distance of the reference from the measured twist."""

    forget_s: float = 1.0
    """How fast it goes back."""
    vel_m_s: float = 0.15
    """Largest difference of the velocity."""
    yaw_rate_rad_s: float = 1.0
    """And of the yaw rate."""


class BaseDrive:
    """Memory of the twist that was sent last."""

    def __init__(self, vehicle: DifferentialDrive | OmniRobot, lead: TwistLead = TwistLead()) -> None:
        """Start at rest."""
        self._vehicle, self._lead = vehicle, lead
        self._most = np.array([lead.vel_m_s, lead.vel_m_s, lead.yaw_rate_rad_s])
        drives = isinstance(vehicle, DifferentialDrive)
        self._base = DifferentialBase(vehicle.drive) if drives else OmniBase(vehicle.wheels)
        self._twist: np.ndarray | None = None
        self._yaw_rad = 0.0

    def rest(self) -> np.ndarray:
        """Return the twist that stops; forget earlier commands."""
        self._twist = None
        return np.zeros(3)

    def follow(self, command: np.ndarray, own: Estimate, dt_s: float) -> np.ndarray:
        """Twist [3], forward, left [m/s] and yaw rate [rad/s], of the body.

        Args:
            command: [4] acceleration x, y, z [m/s^2, world; z is not used] and yaw rate [rad/s].
            own: the estimate now.
            dt_s: since the last command; at most `MAX_STEP_S` counts.

        Raises:
            ValueError: a number is not finite.
        """
        check_finite("command", command)
        check_finite("estimate", *own)
        limits, dt_s = self._vehicle.limits, min(max(dt_s, 0.0), MAX_STEP_S)
        accel = np.clip(command[:3], limits.accel_min_m_s2, limits.accel_max_m_s2)
        start = self._start(own, dt_s)
        if isinstance(self._vehicle, DifferentialDrive):
            made = differential_twist(start, accel, own.quat_wxyz, self._vehicle.drive.look_ahead_m, dt_s)
        else:
            yaw = float(yaw_of(own.quat_wxyz))
            c, s = math.cos(yaw), math.sin(yaw)
            world = np.array([c * start[0] - s * start[1], s * start[0] + c * start[1]])
            made = omni_twist(world, np.array([*accel, command[3]]), yaw, dt_s)
        rate = limits.yaw_rate_rad_s
        made[2] = min(max(made[2], -rate), rate)
        self._twist, self._yaw_rad = self._base.within(made), float(yaw_of(own.quat_wxyz))
        return self._twist

    def _start(self, own: Estimate, dt_s: float) -> np.ndarray:
        """The twist that the command accelerates."""
        yaw = float(yaw_of(own.quat_wxyz))
        forward, left = to_body_plane(own.vel_m_s, yaw)
        left = 0.0 if isinstance(self._vehicle, DifferentialDrive) else left
        measured = np.array([forward, left, own.omega_rad_s[2]])
        if self._twist is None:
            return measured
        twist = self._twist
        if isinstance(self._vehicle, OmniRobot):  # it turns under its velocity
            twist = np.array([*to_body_plane(twist, yaw - self._yaw_rad), twist[2]])
        ahead = (twist - measured) * math.exp(-dt_s / self._lead.forget_s)
        return measured + np.clip(ahead, -self._most, self._most)
