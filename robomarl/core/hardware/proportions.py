"""Bounds that the parts of a vehicle file set for each other: a key in another unit is out of proportion.

Each bound is far beyond any vehicle that is built, so that it rejects units and not vehicles. A speed in km/h is within
all of them: 5.4 m/s is as plausible a limit of a quadrotor as 1.5 m/s.
"""

from collections.abc import Iterator
from typing import NamedTuple

from robomarl.core.hardware.ground import DifferentialDrive, GroundBodyConfig, GroundVehicle, OmniRobot
from robomarl.core.hardware.sections import BodyConfig, CommandLossConfig, ControlConfig, RotorConfig, VehicleBase
from robomarl.core.types import GRAVITY_M_S2

WIDTHS = 50.0
"""Largest distance that two vehicles keep, in widths of one."""
ARMS, AHEAD = 3.0, 10.0
"""Largest distance of a rotor, and of the look-ahead point, from the middle, in radii of the body."""
GRIP = 3.0
"""Largest acceleration of a vehicle on wheels, in multiples of gravity; racing tyres without wings have 2."""
SPINS = 50.0
"""Largest speed of a wheel's rim, in multiples of the owner's speed limit."""


class Proportion(NamedTuple):
    """One bound."""

    key: str
    value: float
    most: float
    because: str
    """Words for the most."""


def check_proportions(vehicle: VehicleBase, body: BodyConfig | GroundBodyConfig) -> None:
    """Raises `ValueError` where a number is out of proportion to the others, with both numbers."""
    for key, value, most, because in _proportions(vehicle, body):
        if value > most:
            raise ValueError(f"{key} = {value:g} is more than {because}, {most:g}; give it in the unit of its name.")


def _proportions(vehicle: VehicleBase, body: BodyConfig | GroundBodyConfig) -> Iterator[Proportion]:
    yield from _of_safety(vehicle, body.radius_m)
    rotors, control = getattr(vehicle, "rotors", None), getattr(vehicle, "control", None)
    if isinstance(rotors, RotorConfig):
        yield from _of_rotors(rotors, body.radius_m)
    if isinstance(control, ControlConfig):
        yield Proportion("control.min_lift_m_s2", control.min_lift_m_s2, GRAVITY_M_S2, "what hovering takes")
    if isinstance(vehicle, GroundVehicle):
        yield from _of_ground(vehicle, body.radius_m)


def _of_safety(vehicle: VehicleBase, radius_m: float) -> Iterator[Proportion]:
    safety, limits = vehicle.safety, vehicle.limits
    far = f"{WIDTHS:g} widths of the body"
    yield Proportion("safety.separation_m", safety.separation_m, WIDTHS * 2 * radius_m, far)
    yield Proportion("safety.clearance_m", safety.clearance_m or 0.0, WIDTHS * 2 * radius_m, far)
    yield Proportion("safety.position_error_m", safety.position_error_m, safety.separation_m, "safety.separation_m")
    yield Proportion("safety.velocity_error_m_s", safety.velocity_error_m_s, limits.speed_m_s, "limits.speed_m_s")
    level = min(*(-x for x in limits.accel_min_m_s2[:2]), *limits.accel_max_m_s2[:2])
    for name in ("brake_m_s2", "accel_error_m_s2", "accel_bias_m_s2"):
        yield Proportion(f"safety.{name}", getattr(safety, name), level, "the least of limits.accel_*_m_s2")
    lift = min(-limits.accel_min_m_s2[2], limits.accel_max_m_s2[2])
    yield Proportion("safety.lift_bias_m_s2", safety.lift_bias_m_s2 or 0.0, lift, "limits.accel_*_m_s2 upwards")
    loss = getattr(vehicle, "on_command_loss", None)
    if isinstance(loss, CommandLossConfig):
        yield Proportion("on_command_loss.land_speed_m_s", loss.land_speed_m_s, limits.speed_m_s, "limits.speed_m_s")


def _of_rotors(rotors: RotorConfig, radius_m: float) -> Iterator[Proportion]:
    arms = [max(abs(x), abs(y)) for x, y in rotors.positions_m]
    for i, arm in enumerate(arms):
        yield Proportion(f"rotors.positions_m[{i}]", arm, ARMS * radius_m, f"{ARMS:g} times body.radius_m")
    yield Proportion("rotors.torque_per_thrust_m", rotors.torque_per_thrust_m, max(arms), "the arm of a rotor")


def _of_ground(vehicle: GroundVehicle, radius_m: float) -> Iterator[Proportion]:
    for name in ("accel_min_m_s2", "accel_max_m_s2"):
        for i, value in enumerate(getattr(vehicle.limits, name)[:2]):
            yield Proportion(f"limits.{name}[{i}]", abs(value), GRIP * GRAVITY_M_S2, f"wheels hold, {GRIP:g} g")
    if isinstance(vehicle, DifferentialDrive):
        ahead = vehicle.drive.look_ahead_m
        spins, most = vehicle.drive.wheel_speed_m_s, SPINS * vehicle.limits.speed_m_s
        yield Proportion("drive.wheel_speed_m_s", spins, most, f"{SPINS:g} times limits.speed_m_s")
        yield Proportion("drive.look_ahead_m", ahead, AHEAD * radius_m, f"{AHEAD:g} times body.radius_m")
    if isinstance(vehicle, OmniRobot):
        yield Proportion("wheels.radius_m", vehicle.wheels.radius_m, radius_m, "body.radius_m")
        if (kicker := vehicle.kicker) is not None:
            yield Proportion("kicker.min_speed_m_s", kicker.min_speed_m_s, kicker.max_speed_m_s, "kicker.max_speed_m_s")
