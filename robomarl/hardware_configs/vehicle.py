"""`Vehicle`: a type of robot, read from `hardware_configs/vehicles/NAME.yaml`.

The same file feeds the simulator's models, the filter's limits and the node's clipping.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import yaml

from robomarl.config import NonNegative, Positive, Range, UserError, build
from robomarl.paths import vehicles_dir

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
    """What the robot's owner allows. Bundles may be stricter, never looser."""

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
    """What the safety filter assumes. Every figure has its provenance in the vehicle file."""

    separation_m: Positive
    """Safety distance between the centres of two vehicles in the horizontal plane."""
    downwash_ratio: Annotated[float, Range(1.0)]
    """Vertical over horizontal semi-axis of the separation ellipsoid."""
    brake_m_s2: Positive
    """Deceleration that the vehicle always reaches along its velocity."""
    delay_s: NonNegative
    """Longest time from a sensor stamp to the command's effect, lags included; the shortest is half of it or more."""
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
    """Bound of the slow part of that difference, on each axis, which the filter estimates as it flies: battery,
    payload, wind. `accel_error_m_s2` is what is left then."""


@dataclass(frozen=True)
class CommandLossConfig:
    """What the vehicle does on its own when commands stop coming."""

    hover_after_s: Positive
    """Without a command for this long the vehicle brakes and hovers where it is."""
    land_after_s: Positive
    """Without a command for this long it lands."""
    land_speed_m_s: Positive = 0.3
    """Descent rate of that landing."""


@dataclass(frozen=True)
class Vehicle:
    """A type of robot. Made by `load_vehicle`; SI units, body frame FLU."""

    version: Literal[1]
    """Version of the file's layout."""
    name: str
    """Name that bundles and fleet files use."""
    kind: Literal["quadrotor"]
    """Which model and low-level controller apply."""
    body: BodyConfig
    rotors: RotorConfig
    control: ControlConfig
    limits: LimitConfig
    safety: SafetyConfig
    on_command_loss: CommandLossConfig
    sources: dict[str, str] = field(default_factory=dict)
    """Where each figure comes from, by key."""

    def __post_init__(self) -> None:
        """Check what one key alone cannot show."""
        if len(self.rotors.positions_m) != 4 or len(self.rotors.spin) != 4:
            raise ValueError("rotors.positions_m and rotors.spin must have 4 entries each for a quadrotor.")
        if any(x == 0 or y == 0 for x, y in self.rotors.positions_m):
            raise ValueError("rotors.positions_m must be an X layout: no rotor on a body axis.")
        if self.max_lift_m_s2 < 1.1 * 9.81:
            raise ValueError(f"rotors.max_thrust_n lifts only {self.max_lift_m_s2:.2f} m/s^2; it must exceed 10.79.")
        if self.on_command_loss.land_after_s <= self.on_command_loss.hover_after_s:
            raise ValueError("on_command_loss.land_after_s must be larger than hover_after_s.")

    @cached_property
    def max_lift_m_s2(self) -> float:
        """Largest specific force that the rotors make together."""
        return 4 * self.rotors.max_thrust_n / self.body.mass_kg


def load_vehicle(name: str) -> Vehicle:
    """Read a vehicle by name (of `hardware_configs/vehicles/`) or by the path of a YAML file.

    Raises:
        UserError: unknown name, bad YAML, or a wrong key or value.
    """
    path = Path(name) if name.endswith((".yaml", ".yml")) else vehicles_dir() / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in vehicles_dir().glob("*.yaml")))
        raise UserError(f"Unknown vehicle {name!r}: no file {path.name}; known vehicles: {known}.")
    try:
        data = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        place = str(getattr(error, "problem_mark", "")).strip()
        raise UserError(f"{path.name}: not valid YAML {place}; mend the syntax there.") from None
    return build(Vehicle, data, path.name)
