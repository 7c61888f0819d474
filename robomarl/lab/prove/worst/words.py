"""Declared bounds of a vehicle file, as numbers to which a plant can be driven."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from robomarl.core.filter.filter import Arena
from robomarl.core.hardware.vehicle import AnyVehicle, DifferentialDrive, Quadrotor

REST_ROOM_M = 0.4
"""Robots at rest start this much farther apart than they keep."""


@dataclass(frozen=True)
class Words:
    """Bounds of one type of vehicle, and the limits that define failure."""

    vehicle: AnyVehicle
    period_s: float
    """T, between two decisions."""
    position_error_m: float
    velocity_error_m_s: float
    gust_m_s2: float
    """Bound of |w(t)|, the part of the acceleration that may change at any time."""
    bias_m_s2: tuple[float, float, float]
    """Bound of the constant part, each axis."""
    early_s: float
    """A command is in force this long after its stamp at the earliest."""
    late_s: float
    """It may be in force until a period after this."""
    arena: Arena | None = None

    @property
    def planar(self) -> bool:
        """It drives."""
        return not isinstance(self.vehicle, Quadrotor)

    @property
    def ahead_m(self) -> float:
        """Return the distance [m] from a differential drive's centre to the commanded point; 0 for all other
        vehicles.
        """
        return self.vehicle.drive.look_ahead_m if isinstance(self.vehicle, DifferentialDrive) else 0.0

    @property
    def contact_m(self) -> float:
        """Centres that are nearer touch."""
        return 2 * self.vehicle.body.radius_m

    @property
    def squash(self) -> np.ndarray:
        """[3] factors that turn the separation ellipsoid into a sphere."""
        return np.array([1.0, 1.0, 1.0 if self.planar else 1 / self.vehicle.safety.downwash_ratio])

    @property
    def apart_m(self) -> float:
        """Return the least distance [m] at the start between commanded points, in the metric of the separation."""
        return self.vehicle.safety.separation_m + 2 * self.ahead_m + REST_ROOM_M

    @property
    def box(self) -> np.ndarray:
        """[2, 3] least and largest commanded acceleration."""
        return np.array([self.vehicle.limits.accel_min_m_s2, self.vehicle.limits.accel_max_m_s2])


def declared(vehicle: AnyVehicle, period_s: float, arena: Arena | None = None) -> Words:
    """The bounds as the file says them."""
    safety, flies = vehicle.safety, isinstance(vehicle, Quadrotor)
    level, lift = safety.accel_bias_m_s2, getattr(safety, "lift_bias_m_s2", None)
    return Words(
        vehicle=vehicle,
        period_s=period_s,
        position_error_m=safety.position_error_m,
        velocity_error_m_s=safety.velocity_error_m_s,
        gust_m_s2=safety.accel_error_m_s2,
        bias_m_s2=(level, level, (level if lift is None else lift) if flies else 0.0),
        early_s=safety.shortest_share * safety.delay_s,
        late_s=safety.delay_s,
        arena=arena,
    )


def scaled(words: Words, scale: float) -> Words:
    """All bounds times a scale; the shortest delay stays, and the longest does not fall below it."""
    x, y, z = (b * scale for b in words.bias_m_s2)
    return dataclasses.replace(
        words,
        position_error_m=words.position_error_m * scale,
        velocity_error_m_s=words.velocity_error_m_s * scale,
        gust_m_s2=words.gust_m_s2 * scale,
        bias_m_s2=(x, y, z),
        late_s=max(words.late_s * scale, words.early_s),
    )
