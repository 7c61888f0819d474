"""Mellinger controller of the Crazyflie's firmware, for N vehicles at once.

Mellinger and Kumar, Minimum snap trajectory generation and control for quadrotors (ICRA 2011),
with the gains and the thrust scaling of the firmware; a test compares it with the package
`drone-controllers` (utiasDSL). It is not ours: a simulated vehicle behind an adapter has to fly
the controller of the real one. SI units, ENU and FLU, quaternions wxyz.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import quat_from_roll_pitch_yaw

PWM_MAX = 65535.0
LAYOUT = np.array([[-1.0, -1, 1, 1], [-1, 1, 1, -1], [-1, 1, -1, 1]])
"""Sign of the roll, pitch and yaw that each of the rotors M1 to M4 makes."""


@dataclass(frozen=True)
class MellingerGains:
    """Default gains of the firmware for a Crazyflie 2.1 (drone-controllers, cf2x_L250)."""

    mass_kg: float | np.ndarray = 0.029
    """Mass [kg] that the firmware assumes (`ctrlMel.mass`); or [N, 1], one for each vehicle."""
    thrust_per_pwm: float = 132000.0
    """`mass_thrust`: PWM over newton."""
    rotor_n: float = 0.12
    """Thrust of one rotor at full PWM."""
    arm_m: float = 0.03253
    torque_per_thrust_m: float = 0.007350862856566459
    pwm_min: float = 7000.0
    kp: tuple[float, float, float] = (0.4, 0.4, 1.25)
    kd: tuple[float, float, float] = (0.2, 0.2, 0.5)
    ki: tuple[float, float, float] = (0.05, 0.05, 0.05)
    i_range: tuple[float, float, float] = (2.0, 2.0, 0.4)
    kr: tuple[float, float, float] = (70000.0, 70000.0, 60000.0)
    kw: tuple[float, float, float] = (20000.0, 20000.0, 12000.0)
    ki_m: tuple[float, float, float] = (0.0, 0.0, 500.0)
    kd_omega: tuple[float, float, float] = (200.0, 200.0, 0.0)
    i_range_m: tuple[float, float, float] = (1.0, 1.0, 1500.0)
    torque_pwm: float = 32000.0


class Wanted(NamedTuple):
    """Set-points of N vehicles, as the firmware's commander has them."""

    pos_m: np.ndarray
    """[N, 3]."""
    vel_m_s: np.ndarray
    """[N, 3]."""
    accel_m_s2: np.ndarray
    """[N, 3]."""
    yaw_rad: np.ndarray
    """[N]."""
    roll_pitch_rad: np.ndarray
    """[N, 2] where `thrust_n` is not NaN."""
    thrust_n: np.ndarray
    """[N] collective thrust of an attitude set-point; NaN: positions are tracked."""


class MellingerMemory(NamedTuple):
    """Memory of the controller between calls."""

    pos_error: np.ndarray
    """[N, 3] integral."""
    turn_error: np.ndarray
    """[N, 3] integral."""
    omega_rad_s: np.ndarray
    """[N, 3] of the last call."""


def mellinger_rest(count: int) -> MellingerMemory:
    """Return the memory before the first call."""
    return MellingerMemory(np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3)))


def mellinger(
    gains: MellingerGains, memory: MellingerMemory, own: Estimate, wanted: Wanted, dt_s: float
) -> tuple[MellingerMemory, np.ndarray]:
    """One call for N vehicles.

    Args:
        gains: of all.
        memory: of the last call.
        own: [N, ...] estimates.
        wanted: set-points.
        dt_s: since the last call.

    Returns:
        The memory, and [N, 4] thrust [N] of the rotors M1 to M4.
    """
    kp, kd, ki, limit = (np.array(k) for k in (gains.kp, gains.kd, gains.ki, gains.i_range))
    matrix = rotation_matrix(own.quat_wxyz)
    error = wanted.pos_m - own.pos_m
    tracks = np.isnan(wanted.thrust_n)
    total = np.clip(memory.pos_error + np.where(tracks[:, None], error, 0.0) * dt_s, -limit, limit)
    weight = gains.mass_kg * (wanted.accel_m_s2 + np.array([0.0, 0.0, GRAVITY_M_S2]))
    force = weight + kp * error + kd * (wanted.vel_m_s - own.vel_m_s) + ki * total
    along = (force * matrix[..., 2]).sum(-1)
    # The firmware turns newtons into PWM with one constant and PWM into newtons with another.
    tracked = gains.thrust_per_pwm * along / PWM_MAX * 4 * gains.rotor_n
    thrust = np.where(tracks, tracked, wanted.thrust_n)
    goal = np.where(tracks[:, None, None], facing(force, wanted.yaw_rad), _tilted(wanted))
    memory, torque = torque_for(gains, memory._replace(pos_error=total), (matrix, own.omega_rad_s), goal, dt_s)
    return memory, rotor_thrusts(gains, thrust, torque)


def facing(force: np.ndarray, yaw_rad: np.ndarray) -> np.ndarray:
    """Return the attitude [..., 3, 3] with its z axis along the force [..., 3] (Mellinger and Kumar, equations 12 to
    15).
    """
    z = force / np.linalg.norm(force, axis=-1, keepdims=True)
    heading = np.stack([np.cos(yaw_rad), np.sin(yaw_rad), np.zeros_like(yaw_rad)], -1)
    y = np.cross(z, heading)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], -1)


def _tilted(wanted: Wanted) -> np.ndarray:
    """[N, 3, 3] of roll, pitch and yaw."""
    angles = np.concatenate([wanted.roll_pitch_rad, wanted.yaw_rad[:, None]], -1)
    return rotation_matrix(quat_from_roll_pitch_yaw(angles))


def torque_for(
    gains: MellingerGains, memory: MellingerMemory, now: tuple[np.ndarray, np.ndarray], goal: np.ndarray, dt_s: float
) -> tuple[MellingerMemory, np.ndarray]:
    """The attitude controller: the memory, and [..., 3] torque in PWM.

    Args:
        gains: of all.
        memory: of the last call.
        now: [..., 3, 3] attitude, body to world, and [..., 3] body rates [rad/s].
        goal: [..., 3, 3] attitude.
        dt_s: since the last call.
    """
    kr, kw, ki, kd = (np.array(k) for k in (gains.kr, gains.kw, gains.ki_m, gains.kd_omega))
    matrix, omega = now
    between = np.swapaxes(goal, -1, -2) @ matrix
    skew = between - np.swapaxes(between, -1, -2)
    turn = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], -1)
    limit = np.array(gains.i_range_m)
    total = np.clip(memory.turn_error - turn * dt_s, -limit, limit)
    spin = -(omega - memory.omega_rad_s) / dt_s
    torque = -kr * turn - kw * omega + ki * total + kd * spin
    return memory._replace(turn_error=total, omega_rad_s=omega), torque.clip(-gains.torque_pwm, gains.torque_pwm)


def rotor_thrusts(gains: MellingerGains, thrust_n: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """[..., 4] thrust of each rotor: the legacy power distribution, in PWM, within its limits."""
    torque = np.where(thrust_n[..., None] > 0, torque, 0.0) * np.array([0.5, 0.5, 1.0])
    pwm = (thrust_n / 4 / gains.rotor_n * PWM_MAX)[..., None] + torque @ LAYOUT
    return pwm.clip(gains.pwm_min, PWM_MAX) / PWM_MAX * gains.rotor_n
