"""How a collective thrust and a body torque are shared among four rotors, and what the rotors make of it."""

from robomarl.control.plain import library
from robomarl.control.vectors import Vec3, Vec4
from robomarl.hardware_configs.vehicle import Vehicle
from robomarl.types import Array


def mix(vehicle: Vehicle, thrust: Array, torque: Vec3) -> Vec4:
    """Rotor thrusts [N] for a collective thrust [N] and a body torque [N m], within the rotors' limits."""
    xp = library(thrust, *torque)
    rotors = vehicle.rotors
    share = []
    for (x, y), spin in zip(rotors.positions_m, rotors.spin, strict=True):
        roll, pitch = torque[0] * (0.25 / y), torque[1] * (-0.25 / x)
        share.append(roll + pitch + torque[2] * (0.25 * spin / rotors.torque_per_thrust_m))
    highest = xp.maximum(xp.maximum(share[0], share[1]), xp.maximum(share[2], share[3]))
    lowest = xp.minimum(xp.minimum(share[0], share[1]), xp.minimum(share[2], share[3]))
    each = xp.minimum(0.25 * thrust, rotors.max_thrust_n - highest)
    each = xp.maximum(each, rotors.min_thrust_n - lowest)
    return tuple(xp.clip(each + s, rotors.min_thrust_n, rotors.max_thrust_n) for s in share)


def wrench(vehicle: Vehicle, rotors: Vec4, thrust_scale: Array) -> tuple[Array, Vec3]:
    """Collective thrust [N] along body z and torque [N m] in the body frame, made by the rotors."""
    f = tuple(r * thrust_scale for r in rotors)
    places, spins = vehicle.rotors.positions_m, vehicle.rotors.spin
    roll = sum(y * fi for (_, y), fi in zip(places, f, strict=True))
    pitch = sum(-x * fi for (x, _), fi in zip(places, f, strict=True))
    yaw = sum(s * vehicle.rotors.torque_per_thrust_m * fi for s, fi in zip(spins, f, strict=True))
    return f[0] + f[1] + f[2] + f[3], (roll, pitch, yaw)
