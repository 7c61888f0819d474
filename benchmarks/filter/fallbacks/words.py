"""What a vehicle file declares, times a scale."""

from typing import NamedTuple

import numpy as np

from robomarl.core.hardware.vehicle import DifferentialDrive, Quadrotor, load_any_vehicle

PERIOD_S = 0.02
"""Time between two decisions."""
MARGIN_M = 0.03
"""Clearance beyond the radius for a vehicle file without `clearance_m`."""


class Words(NamedTuple):
    """Bounds of one vehicle; lengths in metres, times in seconds."""

    name: str
    planar: bool
    ahead_m: float
    """Distance of the commanded point in front of the centre; 0 for all but differential drives."""
    radius_m: float
    kept_m: float
    """Horizontal distance that the filter keeps between commanded points."""
    clearance_m: float
    """Distance that the filter keeps between a centre and an obstacle's surface."""
    delay_s: float
    bias_m_s2: np.ndarray
    """[3] bound along each axis."""
    push_m_s2: float
    off_m: float
    off_m_s: float
    accel_m_s2: np.ndarray
    """[3] half widths of the input box."""
    speed_m_s: float
    brake_m_s2: float
    max_age_s: float
    spacing_m: float
    """Distance between robots that start at rest: 0.9 m for the Crazyflie."""
    period_s: float = PERIOD_S
    """Time between two decisions."""

    @property
    def still_m_s(self) -> float:
        """Speed of a robot that stands as well as its errors let it."""
        return 2 * self.off_m_s + self.push_m_s2 * self.delay_s


def words_of(name: str, scale: float = 1.0) -> Words:
    """Read a vehicle file; delay, bias and errors are multiplied by `scale`."""
    vehicle = load_any_vehicle(name)
    safety, limits, planar = vehicle.safety, vehicle.limits, not isinstance(vehicle, Quadrotor)
    ahead = vehicle.drive.look_ahead_m if isinstance(vehicle, DifferentialDrive) else 0.0
    level = safety.accel_bias_m_s2
    lift = 0.0 if planar else level if safety.lift_bias_m_s2 is None else safety.lift_bias_m_s2
    kept = safety.separation_m + 2 * ahead
    reach = limits.speed_m_s * (safety.max_age_s + safety.delay_s) + limits.speed_m_s**2 / (2 * safety.brake_m_s2)
    return Words(
        name=name,
        planar=planar,
        ahead_m=ahead,
        radius_m=vehicle.body.radius_m,
        kept_m=kept,
        clearance_m=vehicle.body.radius_m + MARGIN_M if safety.clearance_m is None else safety.clearance_m,
        delay_s=scale * safety.delay_s,
        bias_m_s2=scale * np.array([level, level, lift]),
        push_m_s2=scale * safety.accel_error_m_s2,
        off_m=scale * safety.position_error_m,
        off_m_s=scale * safety.velocity_error_m_s,
        accel_m_s2=np.array(limits.accel_max_m_s2),
        speed_m_s=limits.speed_m_s,
        brake_m_s2=safety.brake_m_s2,
        max_age_s=safety.max_age_s,
        spacing_m=kept + max(0.3, 0.41 * reach),
    )


def unit(vectors: np.ndarray) -> np.ndarray:
    """[..., 3] directions; of a vector of length 0, zero."""
    return vectors / np.maximum(length(vectors), 1e-9)[..., None]


def length(vectors: np.ndarray) -> np.ndarray:
    """[...] lengths of [..., 3]."""
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))
