"""Conversion of acceleration and heading to attitude and thrust, and of thrust to an autopilot's
throttle.

The body's z axis lies along the specific force a + g; its x axis stays in the vertical plane of the
heading, so that the yaw of `frames.roll_pitch_yaw` is the heading (the construction of PX4's
`bodyzToAttitude`).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from robomarl.core.geometry import rotation_matrix, yaw_of
from robomarl.core.types import GRAVITY_M_S2

_LEAST = 1e-9


def attitude_and_thrust(
    accel_m_s2: np.ndarray, yaw_rad: np.ndarray, mass_kg: float, min_lift_m_s2: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """[..., 4] wxyz and [...] collective thrust [N] that accelerate a multirotor so.

    Args:
        accel_m_s2: [..., 3] world (ENU), without gravity.
        yaw_rad: [...] heading.
        mass_kg: of the vehicle.
        min_lift_m_s2: least vertical specific force: the vehicle never turns over to fall faster.
    """
    up = np.maximum(accel_m_s2[..., 2] + GRAVITY_M_S2, min_lift_m_s2)
    force = np.stack([accel_m_s2[..., 0], accel_m_s2[..., 1], up], -1)
    size = np.linalg.norm(force, axis=-1)
    z = force / size[..., None]
    yaw = np.asarray(yaw_rad)
    left = np.stack([-np.sin(yaw), np.cos(yaw), np.zeros_like(yaw)], -1)
    x = np.cross(left, z)
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), _LEAST)
    return quat_of_matrix(np.stack([x, np.cross(z, x), z], -1)), mass_kg * size


def acceleration_and_yaw(quat: np.ndarray, thrust_n: np.ndarray, mass_kg: float) -> tuple[np.ndarray, np.ndarray]:
    """The inverse: [..., 3] acceleration [m/s^2, world, without gravity] and [...] heading [rad]."""
    push = rotation_matrix(quat)[..., 2] * (np.asarray(thrust_n) / mass_kg)[..., None]
    return push - np.array([0.0, 0.0, GRAVITY_M_S2]), yaw_of(quat)


def quat_of_matrix(matrix: np.ndarray) -> np.ndarray:
    """[..., 3, 3] body to world as [..., 4] wxyz, w >= 0 (Bar-Itzhack, 2000: the largest of four forms)."""
    m = np.moveaxis(np.asarray(matrix), (-2, -1), (0, 1))
    (a, b, c), (d, e, f), (g, h, i) = m
    forms = np.stack(
        [
            np.stack([1 + a + e + i, h - f, c - g, d - b], -1),
            np.stack([h - f, 1 + a - e - i, b + d, c + g], -1),
            np.stack([c - g, b + d, 1 - a + e - i, f + h], -1),
            np.stack([d - b, c + g, f + h, 1 - a - e + i], -1),
        ],
        -2,
    )
    best = np.argmax(np.diagonal(forms, axis1=-2, axis2=-1), -1)
    quat = np.take_along_axis(forms, best[..., None, None], -2)[..., 0, :]
    quat = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
    return quat * np.where(quat[..., :1] < 0, -1.0, 1.0)


@dataclass(frozen=True)
class ThrustMap:
    """Collective thrust over the throttle of an autopilot, and over the battery's voltage.

    thrust = full_thrust_n * (curve u^2 + (1 - curve) u), u = throttle * voltage / full_v: PX4's THR_MDL_FAC is the
    same curve. The voltage at the motors is the throttle's share of the battery's.
    """

    full_thrust_n: float
    """All rotors together, at full throttle and `full_v`."""
    curve: float = 0.0
    """0: thrust is proportional to throttle; 1: to its square."""
    full_v: float | None = None
    """Voltage that the map holds for; None: the autopilot compensates its battery itself."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        if not self.full_thrust_n > 0 or not 0 <= self.curve <= 1 or self.full_v is not None and not self.full_v > 0:
            raise ValueError(f"{self}: full_thrust_n and full_v must be above 0, curve from 0 to 1")

    def throttle(self, thrust_n: float, volts: float | None = None) -> float:
        """Return the throttle, from 0 to 1, for a thrust that is limited to the maximum of the battery now.

        Raises:
            ValueError: the map needs a voltage, and there is none.
        """
        share = min(max(thrust_n / self.full_thrust_n, 0.0), 1.0)
        linear = 1 - self.curve
        # The solution of curve u^2 + linear u = share that also holds for curve = 0.
        u = 2 * share / (linear + math.sqrt(linear * linear + 4 * self.curve * share)) if share else 0.0
        return min(u / self._ratio(volts), 1.0)

    def thrust_n(self, throttle: float, volts: float | None = None) -> float:
        """The inverse."""
        u = min(max(throttle, 0.0), 1.0) * self._ratio(volts)
        return self.full_thrust_n * (self.curve * u * u + (1 - self.curve) * u)

    def most_n(self, volts: float | None = None) -> float:
        """Thrust at full throttle now."""
        return self.thrust_n(1.0, volts)

    def scaled_to_hover(self, throttle: float, mass_kg: float, volts: float | None = None) -> "ThrustMap":
        """Return the map with this throttle in a hover: the value measured in flight replaces that of the file."""
        made = replace(self, full_thrust_n=1.0).thrust_n(throttle, volts)
        return replace(self, full_thrust_n=mass_kg * GRAVITY_M_S2 / max(made, _LEAST))

    def _ratio(self, volts: float | None) -> float:
        if self.full_v is None:
            return 1.0
        if volts is None or not volts > 0:
            raise ValueError("the thrust map needs the battery's voltage, and there is none")
        return volts / self.full_v
