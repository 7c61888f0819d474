"""Allocation of a collective thrust and a body torque to four rotors, and the wrench that rotor thrusts make."""

from robomarl.core.hardware.sections import RotorConfig
from robomarl.core.hardware.vehicle import Vehicle
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3, Vec4
from robomarl.domains.flight.core.scalars import library


def mix(vehicle: Vehicle, thrust: Array, torque: Vec3) -> Vec4:
    """Rotor thrusts [N] for a collective thrust [N] and a body torque [N m], within the rotors' limits."""
    xp, rotors = library(thrust, *torque), vehicle.rotors
    (a, b, c, d), low, high = _shares(rotors, torque), rotors.min_thrust_n, rotors.max_thrust_n
    highest = xp.maximum(xp.maximum(a, b), xp.maximum(c, d))
    lowest = xp.minimum(xp.minimum(a, b), xp.minimum(c, d))
    each = xp.maximum(xp.minimum(0.25 * thrust, high - highest), low - lowest)
    clip = xp.clip
    return (clip(each + a, low, high), clip(each + b, low, high), clip(each + c, low, high), clip(each + d, low, high))


def _shares(rotors: RotorConfig, torque: Vec3) -> list[Array]:
    """Return the thrust [N] that each rotor adds to an even share, for a body torque [N m]."""
    (roll, pitch, yaw), arm, share = torque, rotors.torque_per_thrust_m, []
    for (x, y), spin in zip(rotors.positions_m, rotors.spin, strict=True):
        share.append(roll * (0.25 / y) + pitch * (-0.25 / x) + yaw * (0.25 * spin / arm))
    return share


def wrench(vehicle: Vehicle, rotors: Vec4, thrust_scale: Array) -> tuple[Array, Vec3]:
    """Collective thrust [N] along body z and torque [N m] in the body frame, made by the rotors."""
    fa, fb, fc, fd = (r * thrust_scale for r in rotors)
    (a, b, c, d), (sa, sb, sc, sd) = vehicle.rotors.positions_m, vehicle.rotors.spin
    roll = a[1] * fa + b[1] * fb + c[1] * fc + d[1] * fd
    pitch = -a[0] * fa + -b[0] * fb + -c[0] * fc + -d[0] * fd
    arm = vehicle.rotors.torque_per_thrust_m
    yaw = sa * arm * fa + sb * arm * fb + sc * arm * fc + sd * arm * fd
    return fa + fb + fc + fd, (roll, pitch, yaw)
