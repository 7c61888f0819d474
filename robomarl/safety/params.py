"""`SafetyParams`: what the filter is told about one vehicle.

The numbers come from the vehicle file (owned by the robot), from the rate of the policy and, where there is
one, from the scenario's arena. The object is plain data: `config.to_dict` and `config.build` carry it into
a bundle and back.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from robomarl.config import Positive
from robomarl.hardware_configs.vehicle import LimitConfig, SafetyConfig, Vector3, Vehicle

SMALLER_IS_STRICTER = ("brake_m_s2", "max_age_s", "gain_per_s")
"""Keys of `SafetyConfig` of which the smaller value is the careful one; of all others it is the larger."""


@dataclass(frozen=True)
class Arena:
    """Box that the vehicle's centre stays in, world frame; the altitude limits are its z faces."""

    low_m: Vector3
    high_m: Vector3

    def __post_init__(self) -> None:
        """Check that there is room inside."""
        if any(low >= high for low, high in zip(self.low_m, self.high_m, strict=True)):
            raise ValueError(f"arena: low_m = {self.low_m} must be below high_m = {self.high_m} on every axis.")


@dataclass(frozen=True)
class SafetyParams:
    """Parameters of the safety filter of one vehicle."""

    safety: SafetyConfig
    limits: LimitConfig
    period_s: Positive
    """Time between two decisions."""
    arena: Arena | None = None
    min_mates: int = 0
    """Fewer team-mates heard than this: brake (`Reason.MISSING`)."""

    def __post_init__(self) -> None:
        """Check that the fallback is possible and that the gains fit the period."""
        need = self.safety.brake_m_s2 + self.safety.accel_error_m_s2
        room = brake_room(self.limits)
        if need > room + 1e-9:
            raise ValueError(
                f"limits: the acceleration box reaches {room:g} m/s^2 on its worst axis; "
                f"braking needs safety.brake_m_s2 + safety.accel_error_m_s2 = {need:g}."
            )
        if 2 * self.safety.gain_per_s * self.period_s > 1:
            raise ValueError(
                f"safety.gain_per_s = {self.safety.gain_per_s:g} is too large for a period of {self.period_s:g} s; "
                f"it must be at most {0.5 / self.period_s:g}."
            )

    @property
    def queue_length(self) -> int:
        """Q, how many commands are still on their way when a decision is made."""
        return math.ceil(self.safety.delay_s / self.period_s - 1e-6)

    def tighten(self, other: "SafetyParams") -> "SafetyParams":
        """The stricter of both in every number: what a robot does with the parameters of a bundle.

        Raises:
            ValueError: the periods differ, the arenas have no common inside, or nothing is left to brake with.
        """
        if abs(self.period_s - other.period_s) > 1e-9:
            raise ValueError(f"period_s differs: {self.period_s:g} here, {other.period_s:g} there.")
        limits = LimitConfig(
            accel_min_m_s2=_each(max, self.limits.accel_min_m_s2, other.limits.accel_min_m_s2),
            accel_max_m_s2=_each(min, self.limits.accel_max_m_s2, other.limits.accel_max_m_s2),
            speed_m_s=min(self.limits.speed_m_s, other.limits.speed_m_s),
            yaw_rate_rad_s=min(self.limits.yaw_rate_rad_s, other.limits.yaw_rate_rad_s),
        )
        safety = _stricter(self.safety, other.safety, brake_room(limits))
        arena, mates = _intersect(self.arena, other.arena), max(self.min_mates, other.min_mates)
        return SafetyParams(safety, limits, self.period_s, arena, mates)


def from_vehicle(vehicle: Vehicle, period_s: float, arena: Arena | None = None, min_mates: int = 0) -> SafetyParams:
    """Parameters of a vehicle at a decision period [s], inside an optional arena."""
    return SafetyParams(vehicle.safety, vehicle.limits, period_s, arena, min_mates)


def brake_room(limits: LimitConfig) -> float:
    """Largest acceleration [m/s^2] that the input box holds in every direction."""
    return min(min(-low, high) for low, high in zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True))


def _stricter(a: SafetyConfig, b: SafetyConfig, room_m_s2: float) -> SafetyConfig:
    picked = {}
    for field in dataclasses.fields(SafetyConfig):
        pick = min if field.name in SMALLER_IS_STRICTER else max
        picked[field.name] = pick(getattr(a, field.name), getattr(b, field.name))
    picked["brake_m_s2"] = min(picked["brake_m_s2"], room_m_s2 - picked["accel_error_m_s2"])
    if picked["brake_m_s2"] <= 0:
        raise ValueError(f"limits: an acceleration box of {room_m_s2:g} m/s^2 leaves nothing to brake with.")
    return SafetyConfig(**picked)


def _each(pick: Callable[[float, float], float], a: Vector3, b: Vector3) -> Vector3:
    return (pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2]))


def _intersect(a: Arena | None, b: Arena | None) -> Arena | None:
    if a is None or b is None:
        return a or b
    return Arena(_each(max, a.low_m, b.low_m), _each(min, a.high_m, b.high_m))
