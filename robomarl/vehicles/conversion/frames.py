"""Frames and angles: ENU and FLU to NED and FRD, the order of a quaternion's elements, roll, pitch and yaw.

ENU: x east, y north, z up. NED: x north, y east, z down. FLU: x forward, y left, z up. FRD: x forward, y right, z down.
All functions take and return float64 and any leading axes.
"""

import math

import numpy as np

from robomarl.core.geometry import quat_multiply
from robomarl.ros.io.messages import Estimate

_ENU_TO_NED = np.array([0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0])
"""Half a turn about the axis between x and y: its own inverse up to the sign."""
_FLU_TO_FRD = np.array([0.0, 1.0, 0.0, 0.0])
"""Half a turn about x: likewise."""


def swap_world(vector: np.ndarray) -> np.ndarray:
    """Convert [..., 3] from ENU to NED, or from NED to ENU."""
    return np.stack([vector[..., 1], vector[..., 0], -vector[..., 2]], -1)


def swap_body(vector: np.ndarray) -> np.ndarray:
    """Convert [..., 3] from FLU to FRD, or from FRD to FLU."""
    return np.stack([vector[..., 0], -vector[..., 1], -vector[..., 2]], -1)


def swap_attitude(quat: np.ndarray) -> np.ndarray:
    """Convert [..., 4] wxyz from FLU in ENU to FRD in NED, or back.

    The sign is that of w >= 0: q and -q are one attitude.
    """
    turned = quat_multiply(quat_multiply(np.broadcast_to(_ENU_TO_NED, quat.shape), quat), _FLU_TO_FRD)
    return turned * np.where(turned[..., :1] < 0, -1.0, 1.0)


def swap_estimate(estimate: Estimate) -> Estimate:
    """Convert a whole state from ENU and FLU to NED and FRD, or back."""
    return Estimate(
        swap_world(estimate.pos_m),
        swap_attitude(estimate.quat_wxyz),
        swap_world(estimate.vel_m_s),
        swap_body(estimate.omega_rad_s),
    )


def swap_yaw(yaw_rad: np.ndarray | float) -> np.ndarray:
    """Convert a heading from counter-clockwise from east to clockwise from north [rad, -pi to pi], or back."""
    return wrapped(math.pi / 2 - np.asarray(yaw_rad))


def xyzw(quat: np.ndarray) -> np.ndarray:
    """[..., 4] wxyz as xyzw."""
    return np.roll(quat, -1, -1)


def wxyz(quat: np.ndarray) -> np.ndarray:
    """[..., 4] xyzw as wxyz."""
    return np.roll(quat, 1, -1)


def wrapped(angle_rad: np.ndarray | float) -> np.ndarray:
    """Return the angle wrapped to the interval from -pi (included) to pi."""
    return (np.asarray(angle_rad) + math.pi) % (2 * math.pi) - math.pi


def roll_pitch_yaw(quat: np.ndarray) -> np.ndarray:
    """[..., 4] wxyz to [..., 3] [rad]: turn by yaw about z, then pitch about the new y, then roll about the new x.

    Right-handed in FLU: a positive pitch is nose down. At a pitch of 90 degrees roll and yaw are not defined.
    """
    w, x, y, z = np.moveaxis(np.asarray(quat), -1, 0)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    return np.stack([roll, pitch, np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))], -1)


def quat_from_roll_pitch_yaw(angles_rad: np.ndarray) -> np.ndarray:
    """The inverse of `roll_pitch_yaw`: [..., 3] [rad] to [..., 4] wxyz."""
    half = np.asarray(angles_rad) / 2
    (cr, cp, cy), (sr, sp, sy) = np.moveaxis(np.cos(half), -1, 0), np.moveaxis(np.sin(half), -1, 0)
    parts = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
    return np.stack(parts, -1)
