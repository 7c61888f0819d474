"""Low-level controller of a carrier vehicle: acceleration and body rates in, rotor thrusts out,
array-generic.

After Zeng et al. (CoRL 2025, arXiv 2508.01522) and the controllers that they build on:

1. External force: the specific force that the rotors do not explain, e = a - g - R z T / m, from
   the measured acceleration and rotor thrusts, both behind one low-pass filter.
2. Thrust vector c = a_wanted - g - e. Its direction is the wanted body z axis, heading 0.
3. Tilt before heading (Brescianini and D'Andrea, 2018): angular acceleration from tilt error,
   heading error and body-rate error, the commanded roll and pitch rates as feed-forward.
4. Torque: incremental dynamic inversion on roll and pitch (Tal and Karaman, 2020): the filtered
   torque plus the inertia times the missing part of the filtered angular acceleration. Plain
   dynamic inversion on yaw.
5. Rotor thrusts, each within its limits.

One function for JAX, for batches in numpy and for one vehicle. Collective thrust is the part of c
along the body's z axis (in the paper its length), so a vehicle that is still turning does not
push in a wrong direction.
"""

import math
from functools import cache
from typing import NamedTuple

from robomarl.core.hardware.sections import CarrierConfig
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, Vec4, dot, multiply, to_body, up_axis
from robomarl.domains.flight.core.control.command_kinds import CommandConfig
from robomarl.domains.flight.core.control.mixer import mix, wrench
from robomarl.domains.flight.core.scalars import library

Vec2 = tuple[Array, Array]


_FLOWN = CommandConfig()


class Control(NamedTuple):
    """The controller's memory. Made by `rest_control`."""

    vel: Vec3
    """[m/s] world, at the last call."""
    rates: Vec3
    """[rad/s] body rates behind their filter."""
    torque_spin: Vec2
    """[rad/s^2] roll and pitch acceleration from the rotors' torque, behind the filter of the body rates."""
    twist: Vec2
    """[rad/s^2] roll and pitch acceleration that the torque does not explain, behind the inversion's filter."""
    external: Vec3
    """[m/s^2] world: external force over mass, behind its filter."""


class Reading(NamedTuple):
    """Measurements of the vehicle."""

    quat: Vec4
    """wxyz, body to world."""
    vel: Vec3
    """[m/s] world."""
    omega: Vec3
    """[rad/s] body."""
    rotors: Vec4
    """[N] thrust of each rotor, from its speed."""


def rest_control(reading: Reading, external: Vec3) -> Control:
    """The memory before the first call: the vehicle has been in this state all along.

    Args:
        reading: the first measurement.
        external: [m/s^2] world, external force over mass (gravity is none).
    """
    zero = reading.omega[0] * 0
    return Control(reading.vel, reading.omega, (zero, zero), (zero, zero), external)


def control_rotors(
    vehicle: Vehicle,
    control: Control,
    reading: Reading,
    command: tuple[Array, ...],
    dt_s: float,
    config: CommandConfig = _FLOWN,
) -> tuple[Control, Vec4]:
    """One call of the controller.

    Args:
        vehicle: its file; `carrier` has the gains.
        control: memory.
        reading: the vehicle's measurements now.
        command: acceleration x, y, z [m/s^2, world] and body rates roll, pitch [rad/s]; or of another kind.
        dt_s: time since the last call.
        config: which kind the command is.

    Returns:
        The next memory, and the wanted thrust of each rotor [N].
    """
    thrust, torque = wrench(vehicle, reading.rotors, 1.0)
    control = _estimate(vehicle, control, reading, (thrust / vehicle.body.mass_kg, torque), dt_s)
    push, spin = _asked(vehicle, control, reading, command, config)
    inertia = vehicle.body.inertia_kg_m2
    inverted = (inertia[0] * (spin[0] - control.twist[0]), inertia[1] * (spin[1] - control.twist[1]))
    (jx, jy, _), (p, q, _) = inertia, reading.omega
    gyro = p * (jy * q) - q * (jx * p)
    xp = library(thrust)
    collective = vehicle.body.mass_kg * xp.maximum(push, 0.0)
    return control, mix(vehicle, collective, (*inverted, inertia[2] * spin[2] + gyro))


def _asked(
    vehicle: Vehicle, control: Control, reading: Reading, command: tuple[Array, ...], config: CommandConfig
) -> tuple[Array, Vec3]:
    """Thrust over mass [m/s^2] along body z and angular acceleration [rad/s^2] that a command asks for."""
    gains = _gains(vehicle)
    if config.kind == "thrust_rates":
        (x, y, z), (push, roll, pitch) = control.rates, command
        back = gains.rate_per_s
        return push, (back * (roll - x), back * (pitch - y), -gains.yaw_rate_per_s * z)
    accel, rates = command[:3], command[3:5] or (0.0, 0.0)
    if config.kind == "velocity":
        accel = _towards(vehicle, reading.vel, accel, config.velocity_per_s)
    wanted = _wanted_force(vehicle, control, accel)
    spin = _wanted_spin(gains, reading.quat, wanted, control, rates)
    return dot(wanted, up_axis(reading.quat)), spin


def _towards(vehicle: Vehicle, vel: Vec3, wanted: tuple[Array, ...], gain_per_s: float) -> tuple[Array, ...]:
    """Acceleration [m/s^2] towards a velocity, within the vehicle's limits."""
    limits, xp = vehicle.limits, library(*vel, *wanted)
    sides = zip(vel, wanted, limits.accel_min_m_s2, limits.accel_max_m_s2, strict=True)
    return tuple(xp.clip(gain_per_s * (w - v), low, high) for v, w, low, high in sides)


def _gains(vehicle: Vehicle) -> CarrierConfig:
    if vehicle.carrier is None:
        raise ValueError(f"vehicle {vehicle.name!r} has no section `carrier`: it has no gains to carry a load with.")
    return vehicle.carrier


@cache
def _share(cutoff_hz: float, dt_s: float) -> float:
    """Share of the new value in a first-order low-pass filter."""
    return 1 - math.exp(-2 * math.pi * cutoff_hz * dt_s)


def _estimate(vehicle: Vehicle, control: Control, reading: Reading, made: tuple[Array, Vec3], dt_s: float) -> Control:
    """The memory with this reading counted in; `made` is the rotors' thrust over mass and their torque."""
    gains, (jx, jy, _) = _gains(vehicle), vehicle.body.inertia_kg_m2
    slow, fast = _share(gains.force_filter_hz, dt_s), _share(gains.rate_filter_hz, dt_s)
    middle = _share(gains.inversion_filter_hz, dt_s)
    vel, before, external, push = reading.vel, control.vel, control.external, up_axis(reading.quat)
    external = (
        external[0] + slow * ((vel[0] - before[0]) / dt_s - made[0] * push[0] - external[0]),
        external[1] + slow * ((vel[1] - before[1]) / dt_s - made[0] * push[1] - external[1]),
        external[2] + slow * ((vel[2] - before[2]) / dt_s + GRAVITY_M_S2 - made[0] * push[2] - external[2]),
    )
    (p0, q0, r0), (p, q, r) = control.rates, reading.omega
    rates = (p0 + fast * (p - p0), q0 + fast * (q - q0), r0 + fast * (r - r0))
    # Angular acceleration and torque go through the same filters, so that both lag alike.
    (roll, pitch), (left_x, left_y), torque = control.torque_spin, control.twist, made[1]
    roll, pitch = roll + fast * (torque[0] / jx - roll), pitch + fast * (torque[1] / jy - pitch)
    left_x = left_x + middle * ((rates[0] - p0) / dt_s - roll - left_x)
    left_y = left_y + middle * ((rates[1] - q0) / dt_s - pitch - left_y)
    return Control(vel, rates, (roll, pitch), (left_x, left_y), external)


def _wanted_force(vehicle: Vehicle, control: Control, accel: tuple[Array, ...]) -> Vec3:
    """Thrust over mass [m/s^2], world, that gives the acceleration against gravity and the external force."""
    (ax, ay, az), (ex, ey, ez) = accel, control.external
    xp = library(ez, az)
    return (ax - ex, ay - ey, xp.maximum(az + GRAVITY_M_S2 - ez, vehicle.control.min_lift_m_s2))


def _wanted_spin(gains: CarrierConfig, quat: Vec4, wanted: Vec3, control: Control, rates: tuple[Array, ...]) -> Vec3:
    """Angular acceleration [rad/s^2] from tilt, heading and rate errors."""
    xp = library(*quat)
    x, y, z = to_body(quat, wanted)
    size = xp.sqrt(x * x + y * y + z * z + 1e-9)
    x, y, z = x / size, y / size, z / size
    # The rotation that takes body z to the wanted direction has the axis (-y, x, 0) and the cosine z.
    half = xp.sqrt(xp.maximum(0.5 * (1 + z), 1e-4))
    tilted = multiply(quat, (half, -0.5 * y / half, 0.5 * x / half, 0.0 * x))
    heading = 2 * tilted[3] * xp.sign(tilted[0]) / xp.sqrt(tilted[0] ** 2 + tilted[3] ** 2 + 1e-9)
    return (
        gains.tilt_per_s2 * (-y / half) + gains.rate_per_s * (rates[0] - control.rates[0]),
        gains.tilt_per_s2 * (x / half) + gains.rate_per_s * (rates[1] - control.rates[1]),
        -gains.yaw_per_s2 * heading - gains.yaw_rate_per_s * control.rates[2],
    )
