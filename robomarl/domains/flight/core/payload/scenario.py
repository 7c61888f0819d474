"""The sections `load` and `cables` of a scenario file, and the checks that need both and the vehicle."""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from robomarl.core.config import Fraction, NonNegative, Positive, Range
from robomarl.core.geometry import namespace
from robomarl.core.hardware.plausible import check_density, check_inertia
from robomarl.core.hardware.sections import Vector3
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import GRAVITY_M_S2, Array

LIFT_MARGIN = 1.2
"""Least ratio of the team's maximum thrust to its hover thrust; the excess is for steering."""
STABLE_STEP = 0.5
"""Largest product of a cable's natural frequency and the physics step."""


@dataclass(frozen=True)
class PoseRange:
    """Range of load poses, drawn uniformly for the start or the goal."""

    low_m: Vector3
    """Lowest place of the load frame's origin, world frame ..."""
    high_m: Vector3
    """... and highest."""
    tilt_rad: NonNegative = 0.0
    """Roll and pitch within plus and minus this."""
    yaw_rad: NonNegative = 0.0
    """Heading within plus and minus this."""

    def __post_init__(self) -> None:
        """Check the box."""
        if any(low > high for low, high in zip(self.low_m, self.high_m, strict=True)):
            raise ValueError(f"low_m = {list(self.low_m)} must not be above high_m = {list(self.high_m)}.")


@dataclass(frozen=True)
class PathConfig:
    """The goal goes along a level figure-eight while the load follows: (a sin p, b sin 2p) at a constant rate of p."""

    half_m: tuple[Positive, Positive]
    """a and b."""
    speed_m_s: Positive
    """Mean speed along the path."""
    ahead_s: NonNegative = 0.0
    """The goal that the robots get runs so far ahead of where the load shall be: a team that flies after its goal
    lags. Errors are those to the path."""

    @cached_property
    def period_s(self) -> float:
        """Period [s] of one round: the path's length over the speed."""
        phase = np.linspace(0, 2 * math.pi, 2001)
        x, y = self.half_m[0] * np.sin(phase), self.half_m[1] * np.sin(2 * phase)
        return float(np.hypot(np.diff(x), np.diff(y)).sum()) / self.speed_m_s

    def offset_m(self, time_s: Array) -> Array:
        """[...] times to [..., 3] places, from the middle of the path."""
        xp, phase = namespace(time_s), 2 * math.pi * time_s / self.period_s
        return xp.stack([self.half_m[0] * xp.sin(phase), self.half_m[1] * xp.sin(2 * phase), 0 * phase], -1)


@dataclass(frozen=True)
class LoadConfig:
    """The load: a rigid body. Its frame has x forward, y left, z up; it is level when it hangs in peace."""

    mass_kg: Positive
    """Nominal mass."""
    inertia_kg_m2: tuple[Positive, Positive, Positive]
    """About the centre of mass and the axes of the load frame."""
    com_m: Vector3
    """Centre of mass in the load frame."""
    box_low_m: Vector3
    """Box that stands for the load in every collision test, load frame: lowest corner ..."""
    box_high_m: Vector3
    """... and highest."""
    start: PoseRange
    goal: PoseRange
    drag_n_s_m: NonNegative = 0.0
    """Drag force over airspeed."""
    spin_drag_n_m_s: NonNegative = 0.0
    """Drag torque over angular velocity."""
    downwash_share: Fraction = 0.0
    """Share of a vehicle's thrust that its wash puts on a load straight below it ..."""
    downwash_radius_m: Positive = 0.3
    """... falling with the distance d between thrust line and centre of mass as exp(-(d / this)^2)."""
    fallback: Literal["hold", "land"] = "hold"
    """Fallback of the whole team in the field as soon as one robot holds, lands, or does not know the load's pose.
    No robot brakes alone under a load.
    """
    follow_s: NonNegative = 0.0
    """Policies see how far their goal has gone over about this time and two, three and four times as long, and so how
    it moves; 0: they do not."""
    trim_s: NonNegative = 0.0
    """Time constant [s] of the mean error of the robot's own point that policies observe. The mean shows effects
    that the configuration does not know: centre of mass, cable lengths, wind. 0: not observed.
    """
    path: PathConfig | None = None
    """How the goal moves; by default it stays."""
    reference_m_s2: Positive = 0.25
    """Behind the certificate, largest acceleration of a carrier's reference along each axis. A load swings more where
    it is larger, and pulls its carriers out of their tubes."""
    reference_m_s: Positive = 0.55
    """Behind the certificate, largest speed of a carrier's reference; over `reference_m_s2` the time that it needs to
    stop."""
    pull_m_s2: NonNegative = 0.3
    """Behind the certificate, disturbance of a carrier by the load that its controller does not make up for, beyond the
    `accel_error_m_s2` of its vehicle file."""

    def __post_init__(self) -> None:
        """Check that the body can be; raises `ValueError`."""
        size = [high - low for low, high in zip(self.box_low_m, self.box_high_m, strict=True)]
        if min(size) <= 0:
            raise ValueError("box_low_m must be below box_high_m on every axis.")
        check_density(self.mass_kg, math.prod(size), "its box")
        check_inertia(self.inertia_kg_m2, self.mass_kg, math.hypot(*size))


@dataclass(frozen=True)
class CableConfig:
    """One massless cable for each vehicle; it pulls and goes slack."""

    length_m: Positive
    """Length [m] of each cable, taut and without tension."""
    stiffness_n_m: Positive
    """Spring stiffness [N/m] of a cable in the `fast` engine; at least the working tension over 1 % of the length."""
    damping_n_s_m: NonNegative
    """Damping [N s/m] of a taut cable in the `fast` engine."""
    load_points_m: tuple[Vector3, ...]
    """Attachment point [m] of each vehicle's cable on the load, load frame, in the order of the vehicles."""
    vehicle_point_m: Vector3 = (0.0, 0.0, 0.0)
    """Attachment point [m] of the cable on the vehicle, body frame."""
    spread_rad: NonNegative = 0.4
    """Cables lean outwards by this angle when an episode starts."""
    start_slack: Fraction = 0.0
    """Vehicles start nearer to their point by up to this share of the cable."""
    start_speed_m_s: NonNegative = 0.0
    """Vehicles and load are thrown with this speed in one direction, any."""
    start_tilt_rad: NonNegative = 0.0
    """Angle of their start attitude from level, up to this, in any direction."""
    crossing_fails: bool = True
    """True if crossed cables end the episode. Set it to False for cables tied to nearly one point, because straight
    lines from one point do not tangle.
    """
    max_twist_rad: Positive = 2 * math.pi
    """The bundle of cables must not be wound up further than this."""
    lean_rad: Annotated[float, Range(0.0, 1.2)] = 0.5
    """Behind the certificate, references of two carriers are no farther apart than their places where both cables lean
    outwards by this."""


def check_load(load: LoadConfig, cables: CableConfig, vehicle: Vehicle, count: int, dt_s: float) -> None:
    """Check the sections against each other.

    Raises:
        ValueError: the load is too heavy for the team, points of attachment coincide or are too few,
            a cable is shorter than the vehicles' keep-out or too elastic, or the physics steps are
            too long for it.
    """
    if len(cables.load_points_m) != count:
        raise ValueError(f"cables.load_points_m has {len(cables.load_points_m)} points for count = {count} vehicles.")
    _check_points(cables)
    _check_weight(load, vehicle, count)
    keep_out = vehicle.safety.separation_m
    if cables.length_m < keep_out:
        raise ValueError(
            f"cables.length_m = {cables.length_m:g} is shorter than the vehicles' keep-out of {keep_out:g} m "
            f"(safety.separation_m of {vehicle.name}); make it longer."
        )
    _check_stiffness(load, cables, vehicle, count, dt_s)


def _check_points(cables: CableConfig) -> None:
    for (i, a), (j, b) in itertools.combinations(enumerate(cables.load_points_m), 2):
        gap = math.dist(a, b)
        if gap < 0.01:
            raise ValueError(
                f"cables.load_points_m[{i}] and [{j}] coincide ({gap * 100:.2g} cm apart); "
                "put them at least 1 cm apart."
            )


def _check_weight(load: LoadConfig, vehicle: Vehicle, count: int) -> None:
    thrust = 4 * vehicle.rotors.max_thrust_n * count
    weight = (vehicle.body.mass_kg * count + load.mass_kg) * GRAVITY_M_S2
    if thrust < LIFT_MARGIN * weight:
        most = thrust / LIFT_MARGIN / GRAVITY_M_S2 - vehicle.body.mass_kg * count
        raise ValueError(
            f"load.mass_kg = {load.mass_kg:g} is too heavy: {count} {vehicle.name} make {thrust:.4g} N, hovering takes "
            f"{weight:.4g} N and must leave {LIFT_MARGIN - 1:.0%}; the load may weigh {max(most, 0.0):.3g} kg."
        )


def _check_stiffness(load: LoadConfig, cables: CableConfig, vehicle: Vehicle, count: int, dt_s: float) -> None:
    tension = load.mass_kg * GRAVITY_M_S2 / count
    stretch = tension / cables.stiffness_n_m / cables.length_m
    if stretch > 0.01:
        raise ValueError(
            f"cables.stiffness_n_m = {cables.stiffness_n_m:g} lets the cables stretch by {stretch:.1%} at their "
            f"working tension of {tension:.3g} N; 1 % is the most, so make it {tension / cables.length_m * 100:.4g}."
        )
    step = math.sqrt(cables.stiffness_n_m / least_mass(load, cables, vehicle)) * dt_s
    if step > STABLE_STEP:
        raise ValueError(
            f"cables.stiffness_n_m = {cables.stiffness_n_m:g} is too stiff for rates.physics_hz = {1 / dt_s:g}: "
            f"frequency times step is {step:.2f}, at most {STABLE_STEP:g}; raise physics_hz or lower the stiffness."
        )


def least_mass(load: LoadConfig, cables: CableConfig, vehicle: Vehicle) -> float:
    """Least mass [kg] that a cable feels between vehicle and load, over all directions and points (a bound)."""
    inverse = 1 / vehicle.body.mass_kg + 1 / load.mass_kg
    turn = 0.0
    for point in cables.load_points_m:
        x, y, z = (p - c for p, c in zip(point, load.com_m, strict=True))
        jx, jy, jz = load.inertia_kg_m2
        turn = max(turn, (y * y + z * z) / jx + (x * x + z * z) / jy + (x * x + y * y) / jz)
    arm = math.hypot(*cables.vehicle_point_m)
    return 1 / (inverse + turn + arm**2 / min(vehicle.body.inertia_kg_m2))
