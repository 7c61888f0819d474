"""The drone with its racket: attitude controller, rotors and one sub-step of the rigid body, array-generic.

Vectors are tuples of components of any one shape. The rotors' speeds follow their targets with a
first-order lag, and a rotor's thrust is the square of its speed over the largest: VolleyBots has
this motor with 35.6 ms, and no drag (`volley_bots/actuators/rotor_group.py`, 680493a).

The controller is the geometric law of Lee, Leok and McClamroch (CDC 2010), reduced to the needs of
an acceleration command: thrust along the wanted force, tilt error to body rates, rates to torques.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, Vec4, cross, multiply, to_body, up_axis

TINY = 1e-9
YAW_SHARE = 0.1
"""Share of the rotors' torque about body z that the controller uses: it takes a rotor much thrust, and the heading does
not matter to a racket, so that lift and tilt come first."""


class Drone(NamedTuple):
    """Rigid vehicles with their rotors."""

    pos: Vec3
    """[m] world."""
    quat: Vec4
    """wxyz, body to world."""
    vel: Vec3
    """[m/s] world."""
    omega: Vec3
    """[rad/s] body."""
    throttle: Vec4
    """Speed of each rotor over its largest speed, 0 to 1."""


def wrench_matrix(vehicle: Quadrotor) -> np.ndarray:
    """[4, 4]: thrusts of the rotors [N] -> collective thrust [N] and body torques [N m]."""
    rotors = vehicle.rotors
    rows = [
        (1.0, y, -x, s * rotors.torque_per_thrust_m) for (x, y), s in zip(rotors.positions_m, rotors.spin, strict=True)
    ]
    return np.array(rows).T


def rotor_thrusts(vehicle: Quadrotor, drone: Drone, accel: Vec3, yaw_rate: Array) -> Vec4:
    """Return the thrust [N] that the controller asks of each rotor, within the rotors' limits.

    Args:
        vehicle: gains, mass, rotors.
        drone: its state now.
        accel: [m/s^2] wanted acceleration, world frame, without gravity.
        yaw_rate: [rad/s] wanted.
    """
    return rate_thrusts(vehicle, drone, *thrust_and_rates(vehicle, drone, accel, yaw_rate))


def thrust_and_rates(vehicle: Quadrotor, drone: Drone, accel: Vec3, yaw_rate: Array) -> tuple[Array, Vec3]:
    """Return collective thrust over mass [m/s^2] and body rates [rad/s] of the attitude controller; as
    `rotor_thrusts`."""
    xp, gains = namespace(*drone.quat), vehicle.control
    force = (accel[0], accel[1], xp.maximum(accel[2] + GRAVITY_M_S2, gains.min_lift_m_s2))
    fx, fy, fz = to_body(drone.quat, force)
    behind = xp.where(fz > 0, fz * fz, 0.0)  # at its largest once the wanted direction is behind
    gain = gains.tilt_per_s / xp.sqrt(fx * fx + fy * fy + behind + TINY)
    return xp.maximum(fz, 0.0), (-fy * gain, fx * gain, yaw_rate)


def rate_thrusts(vehicle: Quadrotor, drone: Drone, lift_m_s2: Array, wanted: Vec3) -> Vec4:
    """Return the thrust [N] that the rate controller asks of each rotor, within the rotors' limits.

    Args:
        vehicle: gains, mass, rotors.
        drone: its state now.
        lift_m_s2: collective thrust over mass.
        wanted: body rates [rad/s].
    """
    xp, gains, body, omega = namespace(*drone.quat), vehicle.control, vehicle.body, drone.omega
    per_s = (gains.rate_per_s, gains.rate_per_s, gains.yaw_rate_per_s)
    spin = tuple(j * o for j, o in zip(body.inertia_kg_m2, omega, strict=True))
    gyro = cross(omega, spin)
    each = zip(body.inertia_kg_m2, per_s, wanted, omega, gyro, strict=True)
    roll, pitch, yaw = (j * k * (w - o) + g for j, k, w, o, g in each)
    most = YAW_SHARE * rotors_yaw_n_m(vehicle)
    torque = roll, pitch, xp.clip(yaw, -most, most)
    return allocated(vehicle, body.mass_kg * lift_m_s2, torque)


def rotors_yaw_n_m(vehicle: Quadrotor) -> float:
    """Torque about body z [N m] of all rotors at full thrust, if all turned the same way."""
    rotors = vehicle.rotors
    return len(rotors.spin) * rotors.max_thrust_n * rotors.torque_per_thrust_m


def allocated(vehicle: Quadrotor, thrust: Array, torque: Vec3) -> Vec4:
    """Rotor thrusts [N] for a collective thrust [N] and a body torque [N m].

    The torque comes before the thrust if a rotor saturates, because a vehicle that keeps its attitude
    can recover its height, and not the other way round.
    """
    xp, rotors = namespace(thrust, *torque), vehicle.rotors
    inverse = np.linalg.inv(wrench_matrix(vehicle)).tolist()
    turns = [row[1] * torque[0] + row[2] * torque[1] + row[3] * torque[2] for row in inverse]
    least = most = None
    for (share, *_), turn in zip(inverse, turns, strict=True):
        low, high = (rotors.min_thrust_n - turn) / share, (rotors.max_thrust_n - turn) / share
        least = low if least is None else xp.maximum(least, low)
        most = high if most is None else xp.minimum(most, high)
    lift = xp.maximum(xp.minimum(thrust, most), least)
    found = (row[0] * lift + turn for row, turn in zip(inverse, turns, strict=True))
    return tuple(xp.clip(one, rotors.min_thrust_n, rotors.max_thrust_n) for one in found)


def spun(vehicle: Quadrotor, throttle: Vec4, thrusts: Vec4, after_s: float) -> Vec4:
    """Throttle of each rotor some time after a target [N] was set; exact for a constant target."""
    xp, kept = namespace(*throttle), np.exp(-after_s / vehicle.rotors.time_constant_s).item()
    most = vehicle.rotors.max_thrust_n
    targets = (xp.sqrt(xp.maximum(t, TINY) / most) for t in thrusts)  # the slope of a root at 0 would be infinite
    return tuple(goal + (now - goal) * kept for now, goal in zip(throttle, targets, strict=True))


def wrench(vehicle: Quadrotor, throttle: Vec4) -> tuple[Array, Vec3]:
    """Collective thrust [N] along body z and torque [N m] in the body frame."""
    thrusts = [vehicle.rotors.max_thrust_n * t * t for t in throttle]
    rows = wrench_matrix(vehicle).tolist()
    lift, roll, pitch, yaw = (sum(k * t for k, t in zip(row, thrusts, strict=True)) for row in rows)
    return lift, (roll, pitch, yaw)


def flown(vehicle: Quadrotor, drone: Drone, thrusts: Vec4, dt_s: float) -> Drone:
    """One sub-step under constant targets of the rotors [N], second order in its length.

    Forces and torques are those of the middle of the sub-step. No drag.
    """
    lift, torque = wrench(vehicle, spun(vehicle, drone.throttle, thrusts, dt_s / 2))
    omega, inertia = drone.omega, vehicle.body.inertia_kg_m2
    halfway = accelerated(inertia, omega, omega, torque, dt_s / 2)
    turned = accelerated(inertia, omega, halfway, torque, dt_s)
    middle = tuple((a + b) / 2 for a, b in zip(omega, turned, strict=True))
    quat = rotated(drone.quat, middle, dt_s)
    ups = zip(up_axis(drone.quat), up_axis(quat), strict=True)
    force = tuple((a + b) * (lift / (2 * vehicle.body.mass_kg)) for a, b in ups)
    accel = (force[0], force[1], force[2] - GRAVITY_M_S2)
    vel = tuple(v + dt_s * a for v, a in zip(drone.vel, accel, strict=True))
    pos = tuple(p + dt_s / 2 * (v + w) for p, v, w in zip(drone.pos, drone.vel, vel, strict=True))
    return Drone(pos, quat, vel, turned, spun(vehicle, drone.throttle, thrusts, dt_s))


def accelerated(inertia: Vec3, omega: Vec3, during: Vec3, torque: Vec3, dt_s: float) -> Vec3:
    """Body rates after a torque [N m] and the gyroscopic torque of the rates `during` that time."""
    gyro = cross(during, tuple(j * o for j, o in zip(inertia, during, strict=True)))
    return tuple(o + (t - g) * (dt_s / j) for o, t, g, j in zip(omega, torque, gyro, inertia, strict=True))


def rotated(quat: Vec4, omega: Vec3, dt_s: Array) -> Vec4:
    """Attitude after a turn at a constant body rate, normalized; sine and cosine of the half angle by their series."""
    half = tuple(o * (dt_s / 2) for o in omega)
    h2 = half[0] * half[0] + half[1] * half[1] + half[2] * half[2]
    part = 1 - h2 * (1 / 6 - h2 / 120)
    product = multiply(quat, (1 - h2 * (0.5 - h2 / 24), half[0] * part, half[1] * part, half[2] * part))
    scale = 1.5 - 0.5 * sum(c * c for c in product)  # one Newton step of 1 / sqrt
    return tuple(c * scale for c in product)
