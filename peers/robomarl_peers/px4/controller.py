"""PX4's cascade for N multicopters at once, in NED and FRD: position, velocity, attitude, rates, rotors.

Written from the published equations: PX4 guide, controller diagrams (multicopter position, attitude and rate
controller); Brescianini, Hehn and D'Andrea, Nonlinear quadrocopter attitude control (ETH 2013). No ROS here.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply
from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import quat_from_roll_pitch_yaw
from robomarl_peers.px4.gains import Px4Gains

_DOWN = np.array([0.0, 0.0, 1.0])


class Target(NamedTuple):
    """Set-points of N vehicles; NaN: not given."""

    pos_m: np.ndarray
    """[N, 3]."""
    vel_m_s: np.ndarray
    """[N, 3]."""
    accel_m_s2: np.ndarray
    """[N, 3]."""
    yaw_rad: np.ndarray
    """[N] clockwise from north."""
    yaw_rate_rad_s: np.ndarray
    """[N]."""


class Px4Memory(NamedTuple):
    """Memory of the controllers between calls."""

    vel_error: np.ndarray
    """[N, 3] integral, as an acceleration."""
    vel_m_s: np.ndarray
    """[N, 3] of the last call."""
    accel_m_s2: np.ndarray
    """[N, 3] filtered change of the velocity."""
    rate_error: np.ndarray
    """[N, 3] integral, as a torque."""
    omega_rad_s: np.ndarray
    """[N, 3] of the last call."""
    spin_rad_s2: np.ndarray
    """[N, 3] filtered change of the rates."""
    thrust: np.ndarray
    """[N, 3] of the position controller, NED; 1 is the throttle of all rotors."""


def px4_rest(count: int) -> Px4Memory:
    """Return the memory before the first call, and on the ground."""
    return Px4Memory(*(np.zeros((count, 3)) for _ in Px4Memory._fields))


def px4_controller(
    gains: Px4Gains, memory: Px4Memory, own: Estimate, target: Target, periods_s: tuple[float, float]
) -> tuple[Px4Memory, np.ndarray]:
    """One call for N vehicles.

    Args:
        gains: of all.
        memory: of the last call.
        own: [N, ...] in NED and FRD.
        target: set-points.
        periods_s: since the last call, and since the last one of the position controller; 0: it is not its turn.

    Returns:
        The memory, and [N, 4] throttle of the rotors.
    """
    dt_s, outer_s = periods_s
    if outer_s:
        memory = thrust_for(gains, memory, own, target, outer_s)
    thrust = memory.thrust
    yaw = np.where(np.isnan(target.yaw_rad), _heading(own.quat_wxyz), target.yaw_rad)
    rates = rates_for(gains, own.quat_wxyz, facing(thrust, yaw), np.nan_to_num(target.yaw_rate_rad_s))
    memory, torque = torque_for(gains, memory, own.omega_rad_s, rates, dt_s)
    return memory, mixed(gains, collective(memory), torque)


def collective(memory: Px4Memory) -> np.ndarray:
    """[N] throttle that the position controller wants of all rotors."""
    return np.sqrt((memory.thrust**2).sum(-1))


def thrust_for(gains: Px4Gains, memory: Px4Memory, own: Estimate, target: Target, dt_s: float) -> Px4Memory:
    """Position and velocity controller: the memory, `thrust` in it."""
    wanted = np.nan_to_num(target.vel_m_s) + np.array(gains.pos) * np.nan_to_num(target.pos_m - own.pos_m)
    across, up, down = gains.speed
    size = np.linalg.norm(wanted[:, :2], axis=-1, keepdims=True)
    wanted[:, :2] *= np.minimum(1.0, across / np.maximum(size, 1e-9))
    wanted[:, 2] = wanted[:, 2].clip(-up, down)
    tracks = ~(np.isnan(target.pos_m) & np.isnan(target.vel_m_s))
    error = np.where(tracks, wanted - own.vel_m_s, 0.0)
    share = _share(gains.vel_d_hz, dt_s)
    changed = memory.accel_m_s2 + share * ((own.vel_m_s - memory.vel_m_s) / dt_s - memory.accel_m_s2)
    accel = np.nan_to_num(target.accel_m_s2) + np.array(gains.vel_p) * error + memory.vel_error
    accel = accel - np.array(gains.vel_d) * np.where(tracks, changed, 0.0)
    thrust, error = _limited(gains, accel, error)
    total = memory.vel_error + np.array(gains.vel_i) * error * dt_s
    total[:, 2] = total[:, 2].clip(-GRAVITY_M_S2, GRAVITY_M_S2)
    return memory._replace(vel_error=total, vel_m_s=own.vel_m_s, accel_m_s2=changed, thrust=thrust)


def _limited(gains: Px4Gains, accel: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return thrust [N, 3] within tilt and throttle, the vertical part first, and the error [N, 3] without the part
    that winds up.
    """
    least, most = gains.throttle
    push = np.stack([-accel[:, 0], -accel[:, 1], np.full(len(accel), GRAVITY_M_S2)], -1)
    axis = push / np.linalg.norm(push, axis=-1, keepdims=True)
    axis = _tilted(axis, gains.tilt_rad)
    along = accel[:, 2] * (gains.hover / GRAVITY_M_S2) - gains.hover
    thrust = axis * np.minimum(along / axis[:, 2], -least)[:, None]
    low, high = (thrust[:, 2] >= -least) & (error[:, 2] >= 0), (thrust[:, 2] <= -most) & (error[:, 2] <= 0)
    thrust[:, 2] = np.maximum(thrust[:, 2], -most)
    room = np.sqrt(np.maximum(most**2 - thrust[:, 2] ** 2, 0.0))
    size = np.linalg.norm(thrust[:, :2], axis=-1)
    thrust[:, :2] *= np.minimum(1.0, room / np.maximum(size, 1e-9))[:, None]
    made = thrust[:, :2] * (GRAVITY_M_S2 / gains.hover)
    beyond = (accel[:, :2] ** 2).sum(-1) > (made**2).sum(-1)
    back = 2 / gains.vel_p[0] * (accel[:, :2] - made)
    left = np.concatenate(
        [np.where(beyond[:, None], error[:, :2] - back, error[:, :2]), np.where(low | high, 0, error[:, 2])[:, None]],
        -1,
    )
    return thrust, left


def _tilted(axis: np.ndarray, most_rad: float) -> np.ndarray:
    """[N, 3] unit vectors within an angle of down."""
    angle = np.arccos(axis[:, 2].clip(-1, 1))
    flat = axis - axis[:, 2:] * _DOWN
    size = np.linalg.norm(flat, axis=-1, keepdims=True)
    turned = np.cos(most_rad) * _DOWN + np.sin(most_rad) * flat / np.maximum(size, 1e-9)
    return np.where((angle > most_rad)[:, None], turned, axis)


def facing(thrust: np.ndarray, yaw_rad: np.ndarray) -> np.ndarray:
    """Return the attitude [N, 4] with its z axis against the thrust [N, 3], and its x axis above the heading [N]."""
    z = -thrust / np.maximum(np.sqrt((thrust**2).sum(-1)), 1e-9)[:, None]
    c, s = np.cos(yaw_rad), np.sin(yaw_rad)
    ahead, right = c * z[:, 0] + s * z[:, 1], c * z[:, 1] - s * z[:, 0]
    roll, pitch = np.arcsin((-right).clip(-1, 1)), np.arctan2(ahead, z[:, 2])
    return quat_from_roll_pitch_yaw(np.stack([roll, pitch, yaw_rad], -1))


def rates_for(gains: Px4Gains, quat: np.ndarray, goal: np.ndarray, yaw_rate: np.ndarray) -> np.ndarray:
    """Attitude controller: [N, 3] rates, FRD; tilt goes before heading (reduced and full attitude, Brescianini)."""
    down, there = _z_axis(quat), _z_axis(goal)
    half = np.concatenate([1 + (down * there).sum(-1, keepdims=True), np.cross(down, there)], -1)
    size = np.sqrt((half**2).sum(-1, keepdims=True))
    reduced = np.where(size < 1e-5, goal, quat_multiply(half / np.maximum(size, 1e-9), quat))
    mix = _canonical(quat_multiply(quat_conjugate(reduced), goal)).clip(-1.0, 1.0)
    weight, still = gains.yaw_weight, np.zeros(len(quat))
    turn = np.stack([np.cos(weight * np.arccos(mix[:, 0])), still, still, np.sin(weight * np.arcsin(mix[:, 3]))], -1)
    off = _canonical(quat_multiply(quat_conjugate(quat), quat_multiply(reduced, turn)))
    gain = np.array([*gains.attitude[:2], gains.attitude[2] / weight])
    forward = _z_axis(quat_conjugate(quat)) * yaw_rate[:, None]
    most = np.array(gains.rate_max_rad_s)
    return (2 * off[:, 1:] * gain + forward).clip(-most, most)


def _z_axis(quat: np.ndarray) -> np.ndarray:
    """[N, 3] the body's z axis in the world."""
    w, x, y, z = quat.T
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], -1)


def torque_for(
    gains: Px4Gains, memory: Px4Memory, omega: np.ndarray, wanted: np.ndarray, dt_s: float
) -> tuple[Px4Memory, np.ndarray]:
    """Rate controller: the memory, and [N, 3] torque."""
    share, error = _share(gains.rate_d_hz, dt_s), wanted - omega
    spin = memory.spin_rad_s2 + share * ((omega - memory.omega_rad_s) / dt_s - memory.spin_rad_s2)
    torque = np.array(gains.rate_p) * error + memory.rate_error - np.array(gains.rate_d) * spin
    factor = np.maximum(0.0, 1 - (error / np.deg2rad(400)) ** 2)
    total = memory.rate_error + factor * np.array(gains.rate_i) * error * dt_s
    total = total.clip(-gains.rate_i_max, gains.rate_i_max)
    return memory._replace(rate_error=total, omega_rad_s=omega, spin_rad_s2=spin), torque


def mixed(gains: Px4Gains, collective: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """[N, 4] throttle; roll and pitch go before thrust (MC_AIRMODE = 1), and thrust before yaw."""
    tilts = torque[:, :2] @ gains.layout[:2]
    throttle = collective[:, None] + tilts
    throttle = throttle - np.maximum(throttle.max(-1, keepdims=True) - 1, 0.0)
    throttle = throttle + np.maximum(-throttle.min(-1, keepdims=True), 0.0)
    return (throttle + torque[:, 2:] @ gains.layout[2:]).clip(0.0, 1.0)


def _heading(quat: np.ndarray) -> np.ndarray:
    w, x, y, z = np.moveaxis(quat, -1, 0)
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _canonical(quat: np.ndarray) -> np.ndarray:
    return quat * np.where(quat[:, :1] < 0, -1.0, 1.0)


def _share(cutoff_hz: float, dt_s: float) -> float:
    """Return the fraction of the new value in a first-order low-pass filter."""
    return float(1 - np.exp(-2 * np.pi * cutoff_hz * dt_s))
