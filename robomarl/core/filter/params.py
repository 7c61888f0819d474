"""`SafetyParams`: parameters of the filter for one vehicle.

The numbers come from the vehicle file (owned by the robot), from the rate of the policy and, where
there is one, from the scenario's arena. The object is plain data: `config.to_dict` and
`config.build` carry it into a bundle and back.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from robomarl.core.config import NonNegative, Positive, UserError
from robomarl.core.filter.model.bodies import Obstacle, Strangers, Tail
from robomarl.core.hardware.sections import LimitConfig, SafetyConfig, Vector3
from robomarl.core.hardware.vehicle import AnyVehicle, DifferentialDrive, Quadrotor

SMALLER_IS_STRICTER = ("brake_m_s2", "max_age_s", "gain_per_s", "clear_rad", "delay_spread")
"""Keys of `SafetyConfig` and `Strangers` for which the smaller value is stricter; for all other keys
it is the larger."""


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
    planar: bool = False
    """The vehicle drives: it is commanded in the plane, and nothing is above or below anything else."""
    look_ahead_m: NonNegative = 0.0
    """A differential drive's commanded point in front of its axle; 0 for vehicles that move in every direction."""
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles that never move."""
    strangers: Strangers | None = None
    """Assumptions about bodies that do not run this filter; needed if the view senses any."""
    tail: Tail | None = None
    """A part of the vehicle that is a line, such as a cable."""
    boards_m: tuple[Positive, Positive] | None = None
    """Distances of a game's boards: they stop the vehicle's centre this far from the middle of the field,
    along it and across. The vehicle may touch them, slowly."""

    def __post_init__(self) -> None:
        """Check that the fallback is possible, that the gains fit the period, and that nothing needed is unset."""
        if self.obstacles and self.safety.clearance_m is None:
            raise ValueError("safety.clearance_m is unset; obstacles need it, so measure it and add it.")
        if self.planar and any((self.limits.accel_min_m_s2[2], self.limits.accel_max_m_s2[2])):
            raise ValueError("limits: a vehicle in the plane must have accel_min_m_s2[2] = accel_max_m_s2[2] = 0.")
        if self.boards_m and min(self.boards_m) <= 0:
            raise ValueError(f"boards_m = {self.boards_m} must be above 0: the field is smaller than the robot.")
        evaded = self.strangers if self.strangers and self.strangers.answer == "evade" else None
        if evaded and evaded.accel_m_s2 >= self.safety.brake_m_s2:
            raise ValueError(
                f"strangers.accel_m_s2 = {evaded.accel_m_s2:g} must be below safety.brake_m_s2 = "
                f"{self.safety.brake_m_s2:g} to evade them; set strangers.answer = 'stop'."
            )
        self._check_brake()
        for key, part in (("safety", self.safety), ("strangers", self.strangers)):
            gain = (part and part.gain_per_s) or 0.0
            if 2 * gain * self.period_s > 1:
                raise ValueError(
                    f"{key}.gain_per_s = {gain:g} is too large for a period of {self.period_s:g} s; "
                    f"it must be at most {0.5 / self.period_s:g}."
                )

    def _check_brake(self) -> None:
        """The box has to hold the brake on every axis while the bias pushes on and the vehicle errs."""
        s, sides = self.safety, _half_widths(self.limits, self.planar)
        for axis, room, bias in zip("xyz", sides, self.bias_m_s2, strict=False):
            key = "lift_bias_m_s2" if axis == "z" and s.lift_bias_m_s2 is not None else "accel_bias_m_s2"
            need = s.brake_m_s2 + s.accel_error_m_s2 + bias
            if need > room + 1e-9:
                raise ValueError(
                    f"limits: the acceleration box reaches {room:g} m/s^2 along {axis}, and braking needs "
                    f"safety.brake_m_s2 + accel_error_m_s2 + {key} = {s.brake_m_s2:g} + {s.accel_error_m_s2:g} + "
                    f"{bias:g} = {need:g}; widen the box or lower the brake."
                )

    @property
    def bias_m_s2(self) -> Vector3:
        """Bound of the bias along each axis; a vehicle in the plane has none along z."""
        s, level = self.safety, self.safety.accel_bias_m_s2
        lift = level if s.lift_bias_m_s2 is None else s.lift_bias_m_s2
        return (level, level, 0.0 if self.planar else lift)

    @property
    def queue_length(self) -> int:
        """Q, how many commands are still on their way when a decision is made."""
        return math.ceil(self.safety.delay_s / self.period_s - 1e-6)

    def with_lower_floor(self, by_m: float) -> "SafetyParams":
        """The parameters with the floor of the arena lower by this distance [m]."""
        if self.arena is None:
            return self
        x, y, z = self.arena.low_m
        return dataclasses.replace(self, arena=Arena((x, y, z - by_m), self.arena.high_m))

    def _wary(self, other: "SafetyParams") -> Strangers | None:
        """Return `strangers`, with the gain of their rows if it is to be compared with a gain of `other`."""
        ours, theirs = self.strangers, other.strangers
        if ours is None or theirs is None or theirs.gain_per_s is None:
            return ours
        return dataclasses.replace(ours, gain_per_s=ours.gain_per_s or self.safety.gain_per_s)

    def tighten(self, other: "SafetyParams") -> "SafetyParams":
        """Return the stricter of both in every number; a robot does this with the parameters of a bundle.

        Raises:
            ValueError: the periods differ, the arenas have no common inside, or nothing is left to brake
                with.
        """
        if abs(self.period_s - other.period_s) > 1e-9:
            raise ValueError(f"period_s differs: {self.period_s:g} here, {other.period_s:g} there.")
        for key in ("planar", "look_ahead_m"):
            if getattr(self, key) != getattr(other, key):
                raise ValueError(f"{key} differs: {getattr(self, key)} here, {getattr(other, key)} there.")
        limits = LimitConfig(
            accel_min_m_s2=_each(max, self.limits.accel_min_m_s2, other.limits.accel_min_m_s2),
            accel_max_m_s2=_each(min, self.limits.accel_max_m_s2, other.limits.accel_max_m_s2),
            speed_m_s=min(self.limits.speed_m_s, other.limits.speed_m_s),
            yaw_rate_rad_s=min(self.limits.yaw_rate_rad_s, other.limits.yaw_rate_rad_s),
        )
        return dataclasses.replace(
            self,
            safety=_stricter(self, other, limits),
            limits=limits,
            arena=intersect(self.arena, other.arena),
            min_mates=max(self.min_mates, other.min_mates),
            obstacles=self.obstacles + tuple(o for o in other.obstacles if o not in self.obstacles),
            strangers=_both(self._wary(other), other._wary(self)),
            tail=_both(self.tail, other.tail),
            boards_m=self.boards_m or other.boards_m,
        )


def without_errors(safety: SafetyConfig) -> SafetyConfig:
    """The assumptions with delay, errors and bias at 0."""
    names = (
        "delay_s",
        "position_error_m",
        "velocity_error_m_s",
        "accel_error_m_s2",
        "accel_bias_m_s2",
        "lift_bias_m_s2",
    )
    return dataclasses.replace(safety, **dict.fromkeys(names, 0.0))


def from_vehicle(vehicle: AnyVehicle, period_s: float, arena: Arena | None = None, min_mates: int = 0) -> SafetyParams:
    """Parameters of a vehicle at a decision period [s], inside an optional arena.

    Raises:
        UserError: the vehicle's figures do not fit each other or the period.
    """
    look_ahead_m = vehicle.drive.look_ahead_m if isinstance(vehicle, DifferentialDrive) else 0.0
    planar = not isinstance(vehicle, Quadrotor)
    try:
        return SafetyParams(vehicle.safety, vehicle.limits, period_s, arena, min_mates, planar, look_ahead_m)
    except ValueError as error:
        raise UserError(f"{vehicle.name}.yaml: {error}") from None


def _half_widths(limits: LimitConfig, planar: bool) -> list[float]:
    """Acceleration [m/s^2] that the input box holds both ways along each axis that the vehicle can move on."""
    sides = zip(limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)
    return [min(-low, high) for low, high in sides][: 2 if planar else 3]


def _stricter(a: SafetyParams, b: SafetyParams, limits: LimitConfig) -> SafetyConfig:
    picked, parts = _pick_each(a.safety, b.safety), (a.safety, b.safety)
    lift = picked.lift_bias_m_s2
    if lift is not None:  # unset on one side, it is that side's other bias
        lift = max(p.accel_bias_m_s2 if p.lift_bias_m_s2 is None else p.lift_bias_m_s2 for p in parts)
    sides = _half_widths(limits, a.planar)
    biases = [max(pair) for pair in zip(a.bias_m_s2, b.bias_m_s2, strict=True)]
    room = min(side - bias for side, bias in zip(sides, biases, strict=False))
    brake = min(picked.brake_m_s2, room - picked.accel_error_m_s2)
    if brake <= 0:
        raise ValueError(f"limits: an acceleration box of {min(sides):g} m/s^2 leaves nothing to brake with.")
    spread = None if picked.delay_spread is None else min(_share(part, picked.delay_s) for part in parts)
    return dataclasses.replace(picked, lift_bias_m_s2=lift, brake_m_s2=brake, delay_spread=spread)


def _share(safety: SafetyConfig, longest_s: float) -> float:
    """The shortest delay of a vehicle as a share of this delay [s], which is at least its longest."""
    return safety.shortest_share * (safety.delay_s / longest_s if longest_s else 1.0)


Part = TypeVar("Part", SafetyConfig, Strangers, Tail)


def _both(a: Part | None, b: Part | None) -> Part | None:
    if a is None or b is None:
        return a or b
    return _pick_each(a, b)


def _pick_each(a: Part, b: Part) -> Part:
    """Return the stricter value of each field; values without an order must be equal."""
    picked: dict[str, float | str | None] = {}
    for field in dataclasses.fields(a):
        values = [v for v in (getattr(a, field.name), getattr(b, field.name)) if v is not None]
        if values and not isinstance(values[0], (int, float)) and values[0] != values[-1]:
            raise ValueError(f"{type(a).__name__.lower()}.{field.name} differs: {values[0]} here, {values[-1]} there.")
        picked[field.name] = (min if field.name in SMALLER_IS_STRICTER else max)(values, default=None)
    return dataclasses.replace(a, **picked)


def _each(pick: Callable[[float, float], float], a: Vector3, b: Vector3) -> Vector3:
    return (pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2]))


def intersect(a: Arena | None, b: Arena | None) -> Arena | None:
    """Return the intersection of both arenas; None has no bounds."""
    if a is None or b is None:
        return a or b
    return Arena(_each(max, a.low_m, b.low_m), _each(min, a.high_m, b.high_m))
