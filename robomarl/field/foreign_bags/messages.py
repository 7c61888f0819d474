"""Readers of single messages of other software, in ENU and FLU. NaN is a value that a message does not have."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import rotate
from robomarl.ros.io.messages import Message
from robomarl.vehicles.conversion.frames import swap_attitude, swap_body, swap_world

UNKNOWN = np.full(3, np.nan)
NED, BODY_FRD = 1, 3
"""`pose_frame` and `velocity_frame` of VehicleOdometry."""
NO_ACCELERATION, IS_FORCE, NO_YAW_RATE = 64 | 128 | 256, 512, 2048
"""Bits of `type_mask` of PositionTarget."""


class SeenState(NamedTuple):
    """A state estimate; world ENU, body FLU."""

    stamp_s: float
    pos_m: np.ndarray
    """[3]."""
    quat_wxyz: np.ndarray
    """[4]."""
    vel_m_s: np.ndarray
    """[3] world."""
    omega_rad_s: np.ndarray
    """[3] body."""


class ToldCommand(NamedTuple):
    """Command that a vehicle was to track."""

    stamp_s: float
    command: np.ndarray
    """[4] acceleration, world ENU, and yaw rate."""


def px4_odometry(message: Message) -> SeenState:
    """VehicleOdometry: NED and FRD; raises `ValueError` in other frames."""
    frames = message.pose_frame, message.velocity_frame
    if frames[0] != NED or frames[1] not in (NED, BODY_FRD):
        raise ValueError(f"is in frames {frames}; (1, 1) or (1, 3) is read")
    pos, quat, vel, omega = (
        np.array(part, float) for part in (message.position, message.q, message.velocity, message.angular_velocity)
    )
    vel = rotate(quat, vel) if frames[1] == BODY_FRD else vel
    stamp_s = (message.timestamp_sample or message.timestamp) / 1e6
    return SeenState(stamp_s, swap_world(pos), swap_attitude(quat), swap_world(vel), swap_body(omega))


def mavros_odometry(message: Message) -> SeenState:
    """Odometry as its definition says: the twist is the body's."""
    seen, twist = world_odometry(message), message.twist.twist
    return seen._replace(vel_m_s=rotate(seen.quat_wxyz, _xyz(twist.linear)), omega_rad_s=_xyz(twist.angular))


def world_odometry(message: Message) -> SeenState:
    """Odometry of crazyflie_server: the velocity is the world's, and rates are not in it."""
    seen = pose(message, message.pose.pose)
    return seen._replace(vel_m_s=_xyz(message.twist.twist.linear))


def pose(message: Message, inside: Message = None) -> SeenState:
    """PoseStamped: no velocity, no rates."""
    at = inside or message.pose
    turn = at.orientation
    return SeenState(_stamp_s(message), _xyz(at.position), np.array([turn.w, turn.x, turn.y, turn.z]), UNKNOWN, UNKNOWN)


def px4_setpoint(message: Message) -> ToldCommand:
    """TrajectorySetpoint; raises `ValueError` without an acceleration."""
    accel = swap_world(np.array(message.acceleration, float))
    if not np.isfinite(accel).all():
        raise ValueError("sets no acceleration")
    yaw_rate = -float(message.yawspeed)
    return ToldCommand(message.timestamp / 1e6, np.append(accel, yaw_rate if np.isfinite(yaw_rate) else 0.0))


def mavros_target(message: Message) -> ToldCommand:
    """PositionTarget, ENU; raises `ValueError` without an acceleration."""
    mask = message.type_mask
    if mask & (NO_ACCELERATION | IS_FORCE):
        raise ValueError(f"sets no acceleration (type_mask {mask})")
    yaw_rate = 0.0 if mask & NO_YAW_RATE else message.yaw_rate
    return ToldCommand(_stamp_s(message), np.append(_xyz(message.acceleration_or_force), yaw_rate))


def full_state(message: Message) -> ToldCommand:
    """FullState of Crazyswarm2."""
    return ToldCommand(_stamp_s(message), np.append(_xyz(message.acc), message.twist.angular.z))


ESTIMATES: dict[str, dict[str, Callable[[Message], SeenState]]] = {
    "px4": {"px4_msgs/msg/VehicleOdometry": px4_odometry},
    "mavros": {"nav_msgs/msg/Odometry": mavros_odometry},
    "crazyswarm": {"nav_msgs/msg/Odometry": world_odometry},
}
"""Readers by stack and type; PoseStamped is read of all."""
COMMANDS: dict[str, Callable[[Message], ToldCommand]] = {
    "px4_msgs/msg/TrajectorySetpoint": px4_setpoint,
    "mavros_msgs/msg/PositionTarget": mavros_target,
    "crazyflie_interfaces/msg/FullState": full_state,
}


def estimate_readers(stack: str) -> dict[str, Callable[[Message], SeenState]]:
    """Readers of a state estimate, by type."""
    return {**ESTIMATES[stack], "geometry_msgs/msg/PoseStamped": pose}


def _xyz(vector: Message) -> np.ndarray:
    return np.array([vector.x, vector.y, vector.z], float)


def _stamp_s(message: Message) -> float:
    stamp = message.header.stamp
    return stamp.sec + stamp.nanosec / 1e9
