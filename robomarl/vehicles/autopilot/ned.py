"""States and references between MAVLink's terms and ours. Plain numpy, any leading axes: no pymavlink here.

MAVLink: NED and FRD, quaternions wxyz, a yaw clockwise from north (MAVLink common message set; PX4 guide, offboard).
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import quat_conjugate, rotate
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import swap_body, swap_estimate, swap_world, swap_yaw

LOCAL_NED, BODY_FRD = 1, 12
"""MAV_FRAME of positions and attitudes; of velocities of a body."""
WORLDS = (LOCAL_NED,)
BODIES = (BODY_FRD, 8)
"""8: MAV_FRAME_BODY_NED, the old name."""


class FrameError(ValueError):
    """A frame that is not read."""


class NedTarget(NamedTuple):
    """Fields of SET_POSITION_TARGET_LOCAL_NED."""

    pos_m: np.ndarray
    """[..., 3]."""
    vel_m_s: np.ndarray
    """[..., 3]."""
    accel_m_s2: np.ndarray
    """[..., 3]."""
    yaw_rad: np.ndarray
    """[...] clockwise from north."""
    yaw_rate_rad_s: np.ndarray
    """[...] clockwise."""


def from_ned(pos_m: np.ndarray, quat: np.ndarray, vel_m_s: np.ndarray, omega_rad_s: np.ndarray) -> Estimate:
    """An estimate of NED and FRD, velocity in the world, as ENU and FLU."""
    return swap_estimate(Estimate(pos_m, quat, vel_m_s, omega_rad_s))


def to_ned(estimate: Estimate) -> Estimate:
    """The inverse of `from_ned`."""
    return swap_estimate(estimate)


def from_odometry(frames: tuple[int, int], parts: Estimate) -> Estimate:
    """An ODOMETRY message, in ENU and FLU.

    Args:
        frames: `frame_id` of the pose and `child_frame_id` of the velocity.
        parts: its numbers as they came; the rates are always those of the body.

    Raises:
        FrameError: one of the frames is not read; says which.
    """
    world, velocity = frames
    if world not in WORLDS:
        raise FrameError(f"its ODOMETRY is in MAV_FRAME {world}; MAV_FRAME_LOCAL_NED ({LOCAL_NED}) is read")
    if velocity in BODIES:
        parts = parts._replace(vel_m_s=rotate(parts.quat_wxyz, parts.vel_m_s))
    elif velocity not in WORLDS:
        raise FrameError(f"the velocity of its ODOMETRY is in MAV_FRAME {velocity}; {LOCAL_NED} or {BODY_FRD} is read")
    return from_ned(*parts)


def to_odometry(estimate: Estimate) -> Estimate:
    """Return the numbers of an ODOMETRY message with a velocity in the body frame: inverse of `from_odometry`."""
    ned = to_ned(estimate)
    return ned._replace(vel_m_s=rotate(quat_conjugate(ned.quat_wxyz), ned.vel_m_s))


def to_target(
    pos_m: np.ndarray, vel_m_s: np.ndarray, accel_m_s2: np.ndarray, yaw_rad: np.ndarray, rate: np.ndarray
) -> NedTarget:
    """Return a reference in ENU, its yaw counter-clockwise from east, in the terms in which it is sent."""
    turns = np.asarray(rate, float)
    return NedTarget(swap_world(pos_m), swap_world(vel_m_s), swap_world(accel_m_s2), swap_yaw(yaw_rad), -turns)


def from_target(target: NedTarget) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The inverse of `to_target`."""
    return to_target(*target)


def force_from_frd(force_m_s2: np.ndarray) -> np.ndarray:
    """Return the specific force of an accelerometer, given in FRD, in FLU."""
    return swap_body(force_m_s2)
