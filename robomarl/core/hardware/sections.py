"""Sections of a vehicle file: those that all kinds of vehicles share, and those that some have."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from robomarl.core.config import Count, Fraction, NonNegative, Positive, Range

DELAY_SPREAD = 0.5
"""Value of `SafetyConfig.delay_spread` in a file that leaves it out."""

ASSUMED = "assumed"
"""Name of the estimator whose bounds are those of the section `safety`."""

Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class BodyConfig:
    """The rigid body."""

    mass_kg: Positive
    """Take-off mass, battery and markers included."""
    inertia_kg_m2: tuple[Positive, Positive, Positive]
    """Principal moments of inertia about the body axes."""
    radius_m: Positive
    """Radius of the sphere that stands for the vehicle in every collision test, propellers included."""
    drag_per_s: NonNegative
    """Linear drag over mass: deceleration [m/s^2] per m/s of airspeed."""


@dataclass(frozen=True)
class RotorConfig:
    """The rotors, in the firmware's order."""

    positions_m: tuple[tuple[float, float], ...]
    """Place of each rotor in the body frame, x forward, y left."""
    spin: tuple[Literal[-1, 1], ...]
    """Sign of each rotor's reaction torque about body z: +1 for a propeller that turns clockwise from above."""
    min_thrust_n: NonNegative
    """Least thrust of one rotor while armed."""
    max_thrust_n: Positive
    """Most thrust of one rotor."""
    torque_per_thrust_m: Positive
    """Reaction torque over thrust."""
    time_constant_s: Positive
    """Time constant of the motors' first-order lag."""


@dataclass(frozen=True)
class ControlConfig:
    """Gains of the low-level controller."""

    tilt_per_s: Positive
    """Body rate command over sine of the tilt error."""
    rate_per_s: Positive
    """Angular acceleration over roll and pitch rate error."""
    yaw_rate_per_s: Positive
    """Angular acceleration over yaw rate error."""
    min_lift_m_s2: Positive
    """Least vertical specific force that is ever commanded, so that the vehicle never turns over to fall faster."""


@dataclass(frozen=True)
class LimitConfig:
    """Limits that the robot's owner allows. Bundles may be stricter, never looser."""

    accel_min_m_s2: Vector3
    """Least commanded acceleration, world frame."""
    accel_max_m_s2: Vector3
    """Largest commanded acceleration, world frame."""
    speed_m_s: Positive
    """Largest speed."""
    yaw_rate_rad_s: Positive
    """Largest yaw rate command."""


@dataclass(frozen=True)
class SafetyConfig:
    """Assumptions of the safety filter. Every figure has its provenance in the vehicle file."""

    separation_m: Positive
    """Safety distance between the centres of two vehicles in the horizontal plane."""
    downwash_ratio: Annotated[float, Range(1.0)]
    """Vertical over horizontal semi-axis of the separation ellipsoid."""
    brake_m_s2: Positive
    """Deceleration that the vehicle always reaches along its velocity."""
    delay_s: NonNegative
    """Longest time from a sensor stamp to the command's effect, lags included. The time may change from
    one command to the next; `delay_spread` bounds the shortest."""
    position_error_m: NonNegative
    """Bound of the estimator's position error."""
    velocity_error_m_s: NonNegative
    """Bound of the estimator's velocity error."""
    accel_error_m_s2: NonNegative
    """Bound of the difference between commanded and achieved acceleration, once the delay has passed."""
    max_age_s: Positive
    """Oldest message of a team-mate that is still acted on; older ones stop the vehicle."""
    gain_per_s: Positive
    """Class-K gain: how fast the margin may shrink."""
    accel_bias_m_s2: NonNegative = 0.0
    """Bound of the constant part of that difference, on each axis: wind, trim. `accel_error_m_s2` is for the rest."""
    lift_bias_m_s2: NonNegative | None = None
    """Bound of the constant part on the vertical axis, where battery and payload add to it; None: as on
    the horizontal axes."""
    delay_spread: Fraction | None = None
    """Shortest over longest delay: a command takes effect between this share of `delay_s` and all of it; None: 0.5. A
    smaller share allows for more, and makes robots slower near each other."""
    clearance_m: Positive | None = None
    """Distance kept between the vehicle's centre and the surface of an obstacle; needed where there are any."""

    @property
    def shortest_share(self) -> float:
        """`delay_spread`, whether the file says it or not."""
        return DELAY_SPREAD if self.delay_spread is None else self.delay_spread


@dataclass(frozen=True)
class EstimatorConfig:
    """Bounds of one estimator's errors, in place of those of `safety`, and the evidence for them."""

    position_error_m: NonNegative
    """Bound of its position error."""
    velocity_error_m_s: NonNegative
    """Bound of its velocity error."""
    quantile: Fraction
    """Share of the samples that are within both bounds, at least."""
    flights: Count
    """Flights that were measured; samples of one flight depend on each other."""
    samples: Count
    """Samples of all these flights."""
    source: str
    """Origin of the figures."""
    corrector: str | None = None
    """Name or file of the correction (hardware_configs/correctors) that makes it from the vehicle's own estimate."""


@dataclass(frozen=True)
class CommandLossConfig:
    """Reaction of the vehicle on its own when commands stop coming."""

    hover_after_s: Positive
    """Without a command for this long the vehicle brakes and hovers where it is."""
    land_after_s: Positive
    """Without a command for this long it lands."""
    land_speed_m_s: Positive = 0.3
    """Descent rate of that landing."""
    motors_off_after_s: Positive | None = None
    """Without a command for this long its motors stop, unless it is close to the ground: a vehicle on a cable that
    hovers or lands by itself drags its load and its team along. None for vehicles that carry nothing."""


@dataclass(frozen=True)
class InnerLoop:
    """Low-level control under a policy's commands; each pair is the least and the largest value."""

    kind: Literal["attitude", "torque_inversion"]
    """An attitude controller; or one that also cancels outer torques, by inversion of measured rotor speeds (INDI)."""
    attitude_rad_s: tuple[Positive, Positive] | None = None
    """Natural frequency of roll and pitch."""
    lag_s: tuple[NonNegative, NonNegative] | None = None
    """Time constant of the motors."""
    delay_s: tuple[NonNegative, NonNegative] | None = None
    """Delay of commands."""


@dataclass(frozen=True)
class VehicleBase:
    """Common part of the files of all kinds of vehicles; SI units, body frame FLU."""

    version: Literal[2]
    """Version of the file's layout; files of version 1 are read too."""
    name: str
    """Name that bundles and fleet files use."""
    limits: LimitConfig
    safety: SafetyConfig
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """Source of each figure, by key; every key of `safety` needs one of its own."""
    estimators: dict[str, EstimatorConfig] | None = None
    """Measured bounds by the name of the estimator: firmware, mocap."""
    estimator: str | None = None
    """The estimator that flies, if fleet, scenario and command name none; None: the bounds of `safety`, "assumed"."""
    inner_loop: InnerLoop | None = None
    """Attitude controller of the vehicle's own autopilot, as measured."""

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """Bounds of the position [m] and the velocity error [m/s] by estimator, the one that flies first."""
        parts = {self.estimator or ASSUMED: self.safety, **(self.estimators or {})}
        return {name: (part.position_error_m, part.velocity_error_m_s) for name, part in parts.items()}


@dataclass(frozen=True)
class CarrierConfig:
    """How a vehicle that carries a load on a cable flies: gains of `robomarl.domains.flight.core.control.indi`."""

    tilt_per_s2: Positive
    """Angular acceleration over tilt error."""
    yaw_per_s2: Positive
    """Angular acceleration over heading error."""
    rate_per_s: Positive
    """Angular acceleration over roll and pitch rate error."""
    yaw_rate_per_s: Positive
    """Angular acceleration over yaw rate error."""
    force_filter_hz: Positive
    """Low-pass filter of measured acceleration and rotor thrust."""
    rate_filter_hz: Positive
    """Low-pass filter of body rates and torque."""
    inversion_filter_hz: Positive
    """Second low-pass filter of the inputs of the incremental inversion."""
    body_rate_rad_s: Positive
    """Largest roll and pitch rate command."""
