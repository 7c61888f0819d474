"""The quadrotor: its low-level controller, its rotors and its rigid-body step, array-generic.

Vectors are tuples of components, each an array of any one shape, so that XLA fuses a whole
sub-step into one loop over vehicles and numpy steps thousands of vehicles at once. `fast` uses
all of this module; `mujoco` and `mjx` use everything but `integrate`, which MuJoCo does there.

The controller is the geometric tracking law of Lee, Leok and McClamroch (CDC 2010) reduced to the
needs of an acceleration command: thrust along the wanted force, tilt error to body rates, rates
to torques.
"""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, Vec4, cross, to_body, up_axis
from robomarl.domains.flight.core.control.mixer import mix, wrench

__all__ = [
    "RigidVehicle",
    "Physics",
    "Vec3",
    "Vec4",
    "drag",
    "integrate",
    "move",
    "rotor_memory",
    "rotor_targets",
    "spin_rotors",
]


class RigidVehicle(NamedTuple):
    """One rigid vehicle and its rotors."""

    pos: Vec3
    """[m] world."""
    quat: Vec4
    """wxyz, body to world."""
    vel: Vec3
    """[m/s] world."""
    omega: Vec3
    """[rad/s] body."""
    rotors: Vec4
    """[N] thrust of each rotor that the motors really turn for, before `thrust_scale`."""


class Physics(NamedTuple):
    """The parameters that randomization may change, one value per vehicle."""

    mass_kg: Array
    """True mass; the controller goes on believing the vehicle file."""
    thrust_scale: Array
    """True over nominal thrust of every rotor."""
    rotor_tau_s: Array
    """Time constant of the motors' first-order lag."""


def rotor_targets(vehicle: Vehicle, quat: Vec4, omega: Vec3, accel: Vec3, yaw_rate: Array) -> Vec4:
    """Low-level controller: rotor thrusts [N] for a world-frame acceleration [m/s^2] and a yaw rate
    [rad/s].

    Torque comes before collective thrust when a rotor saturates: a vehicle that keeps its attitude
    can recover its height, but height does not restore attitude.
    """
    xp = namespace(*quat)
    gains, mass = vehicle.control, vehicle.body.mass_kg
    force = (accel[0], accel[1], xp.maximum(accel[2] + GRAVITY_M_S2, gains.min_lift_m_s2))
    fx, fy, fz = to_body(quat, force)
    # The tilt error about body x and y is its sine; at its largest once the wanted direction is behind.
    behind = xp.where(fz > 0, fz * fz, 0.0)
    gain = gains.tilt_per_s / xp.sqrt(fx * fx + fy * fy + behind + 1e-12)
    error = (-fy * gain - omega[0], fx * gain - omega[1], yaw_rate - omega[2])
    rate_gain = (gains.rate_per_s, gains.rate_per_s, gains.yaw_rate_per_s)
    gyro = cross(omega, tuple(j * o for j, o in zip(vehicle.body.inertia_kg_m2, omega, strict=True)))
    torque = tuple(j * k * e + g for j, k, e, g in zip(vehicle.body.inertia_kg_m2, rate_gain, error, gyro, strict=True))
    return mix(vehicle, mass * xp.maximum(fz, 0.0), torque)


def rotor_memory(tau_s: Array, dt_s: float) -> Array:
    """Share of a rotor's deviation from its target that is left after one sub-step; computed once per decision."""
    return namespace(tau_s).exp(-dt_s / tau_s)


def spin_rotors(rotors: Vec4, targets: Vec4, memory: Array) -> Vec4:
    """First-order lag of the motors over one sub-step (exact for a constant target); `memory` of `rotor_memory`."""
    return tuple(t + (r - t) * memory for r, t in zip(rotors, targets, strict=True))


def drag(vehicle: Vehicle, mass_kg: float, vel: Vec3, wind: Vec3) -> Vec3:
    """Linear rotor drag [N] in the world frame; `mass_kg` is the nominal mass that the coefficient is for."""
    c = vehicle.body.drag_per_s * mass_kg
    return tuple(c * (w - v) for v, w in zip(vel, wind, strict=True))


def integrate(vehicle: Vehicle, body: RigidVehicle, physics: Physics, wind: Vec3, dt_s: float) -> RigidVehicle:
    """One sub-step of a free vehicle."""
    push = drag(vehicle, vehicle.body.mass_kg, body.vel, wind)
    return move(vehicle, body, physics, (push, (0.0, 0.0, 0.0)), dt_s)


def move(
    vehicle: Vehicle, body: RigidVehicle, physics: Physics, outside: tuple[Vec3, Vec3], dt_s: float
) -> RigidVehicle:
    """Do one sub-step of the rigid body, semi-implicit Euler as in MuJoCo: velocities first, then
    positions.

    `outside` is the wrench beside rotors and gravity: force [N, world] and torque [N m, body].
    """
    thrust, torque = wrench(vehicle, body.rotors, physics.thrust_scale)
    up = up_axis(body.quat)
    gravity = (0.0, 0.0, -GRAVITY_M_S2)
    per_mass = dt_s / physics.mass_kg
    vel = tuple(
        v + (thrust * u + p) * per_mass + dt_s * g for v, u, p, g in zip(body.vel, up, outside[0], gravity, strict=True)
    )
    inertia = vehicle.body.inertia_kg_m2
    gyro = cross(body.omega, tuple(j * o for j, o in zip(inertia, body.omega, strict=True)))
    spun = zip(body.omega, torque, outside[1], gyro, inertia, strict=True)
    omega = tuple(o + (dt_s / j) * (t + q - g) for o, t, q, g, j in spun)
    pos = tuple(p + dt_s * v for p, v in zip(body.pos, vel, strict=True))
    return RigidVehicle(pos, turn(body.quat, omega, dt_s), vel, omega, body.rotors)


def turn(quat: Vec4, omega: Vec3, dt_s: float) -> Vec4:
    """Attitude after turning at a body rate for one sub-step, normalized.

    sin and cos of the half angle by their series: below 0.1 rad (50 rad/s at 250 Hz) exact in float32.
    """
    half = tuple(o * (dt_s / 2) for o in omega)
    h2 = half[0] ** 2 + half[1] ** 2 + half[2] ** 2
    sinc = 1 - h2 * (1 / 6 - h2 / 120)
    rw = 1 - h2 * (0.5 - h2 / 24)
    rx, ry, rz = (h * sinc for h in half)
    w, x, y, z = quat
    product = (
        w * rw - x * rx - y * ry - z * rz,
        w * rx + x * rw + y * rz - z * ry,
        w * ry - x * rz + y * rw + z * rx,
        w * rz + x * ry - y * rx + z * rw,
    )
    # One Newton step of 1 / sqrt: the product of two unit quaternions is off by rounding only.
    inverse = 1.5 - 0.5 * sum(c * c for c in product)
    return tuple(c * inverse for c in product)
