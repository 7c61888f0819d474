"""Vehicles that drive: from an acceleration in the plane to a twist of the body, and from that to wheel speeds.

A twist is [3]: velocity forward and left [m/s] and yaw rate [rad/s], in the body frame (FLU).
"""

import math

import numpy as np

from robomarl.core.filter.model.look_ahead import heading, wheel_accel
from robomarl.core.geometry import components
from robomarl.core.hardware.ground import DriveConfig, OmniWheelConfig
from robomarl.vehicles.conversion.reference import check_finite


class DifferentialBase:
    """Two wheels on one axle: left, right."""

    def __init__(self, config: DriveConfig) -> None:
        """Take the configuration of a vehicle file."""
        self._config = config

    def wheels(self, twist: np.ndarray) -> np.ndarray:
        """[2] left and right rim speed [m/s]; the part to the left is not driven."""
        across = twist[2] * self._config.track_m / 2
        return np.array([twist[0] - across, twist[0] + across])

    def twist(self, wheels_m_s: np.ndarray) -> np.ndarray:
        """[3] of [2] rim speeds."""
        left, right = wheels_m_s
        return np.array([(left + right) / 2, 0.0, (right - left) / self._config.track_m])

    def within(self, twist: np.ndarray) -> np.ndarray:
        """Slower by one factor, so that the path keeps its curve."""
        return twist * scale(self.wheels(twist), self._config.wheel_speed_m_s)


class OmniBase:
    """Three or more wheels that each drive across the direction in which they are."""

    def __init__(self, config: OmniWheelConfig) -> None:
        """Take the configuration of a vehicle file."""
        angles = np.asarray(config.angles_rad)
        self._rows = np.stack([-np.sin(angles), np.cos(angles), np.full(len(angles), config.lever_m)], -1)
        self._inverse = np.linalg.pinv(self._rows)
        self._most_m_s = config.speed_rad_s * config.radius_m

    def wheels(self, twist: np.ndarray) -> np.ndarray:
        """[W] rim speeds [m/s]; over the wheel's radius they are its rate."""
        return self._rows @ twist

    def twist(self, wheels_m_s: np.ndarray) -> np.ndarray:
        """[3] that fits [W] rim speeds best."""
        return self._inverse @ wheels_m_s

    def within(self, twist: np.ndarray) -> np.ndarray:
        """Slower by one factor, so that the direction stays."""
        return twist * scale(self.wheels(twist), self._most_m_s)


def scale(wheels_m_s: np.ndarray, most_m_s: float) -> float:
    """The factor, 1 at most, with which the fastest wheel is no faster than it can."""
    return min(1.0, most_m_s / max(float(np.abs(wheels_m_s).max()), 1e-12))


def differential_twist(
    before: np.ndarray, accel_m_s2: np.ndarray, quat: np.ndarray, ahead_m: float, dt_s: float
) -> np.ndarray:
    """The twist [3] of a differential drive after its look-ahead point was accelerated for `dt_s`.

    Args:
        before: [3] twist now; its second element is not used.
        accel_m_s2: [3], of the look-ahead point, world.
        quat: [4] wxyz attitude.
        ahead_m: from the axle forward to the point.
        dt_s: how long.

    Raises:
        ValueError: a number is not finite.
    """
    check_finite("command", accel_m_s2, before)
    speed, turn = float(before[0]), float(before[2])
    toward = heading(components(quat), math)
    made = wheel_accel(components(accel_m_s2), toward, speed, turn, ahead_m)
    return np.array([speed + dt_s * made.forward_m_s2, 0.0, turn + dt_s * made.turn_rad_s2])


def omni_twist(vel_m_s: np.ndarray, command: np.ndarray, yaw_rad: float, dt_s: float) -> np.ndarray:
    """The twist [3] of an omnidirectional base after `dt_s`.

    Args:
        vel_m_s: [2] or [3] velocity to start from, world.
        command: [4] acceleration x, y, z [m/s^2, world; z is not used] and yaw rate [rad/s].
        yaw_rad: heading.
        dt_s: how long.

    Raises:
        ValueError: a number is not finite.
    """
    check_finite("command", command, vel_m_s)
    forward, left = to_body_plane(vel_m_s[:2] + command[:2] * dt_s, yaw_rad)
    return np.array([forward, left, float(command[3])])


def to_body_plane(vector: np.ndarray, yaw_rad: float) -> tuple[float, float]:
    """Forward and left part of the first two elements of a world vector."""
    c, s = math.cos(yaw_rad), math.sin(yaw_rad)
    return float(c * vector[0] + s * vector[1]), float(c * vector[1] - s * vector[0])
