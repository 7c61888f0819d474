"""Recordings of other software whose vehicles fly a known path: a circle that climbs, turning about the vertical."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from robomarl.ros.recording.bag_writer import BagWriter
from robomarl.ros.topics import Topic

BEGAN_S = 1_700_000_000.0
PERIOD_S = 0.02
TURN_RAD_S = 0.8


def path(time_s: np.ndarray) -> SimpleNamespace:
    """Position, velocity, acceleration [K, 3] in ENU, attitude [K, 4] wxyz and body rates [K, 3]."""
    angle = TURN_RAD_S * time_s
    cos, sin, zero = np.cos(angle), np.sin(angle), 0 * time_s
    half = angle / 2
    return SimpleNamespace(
        pos=np.stack([cos, sin, 1 + 0.1 * time_s], -1),
        vel=np.stack([-TURN_RAD_S * sin, TURN_RAD_S * cos, zero + 0.1], -1),
        acc=np.stack([-(TURN_RAD_S**2) * cos, -(TURN_RAD_S**2) * sin, zero], -1),
        quat=np.stack([np.cos(half), zero, zero, np.sin(half)], -1),
        omega=np.stack([zero, zero, zero + TURN_RAD_S], -1),
    )


def write_bag(folder: Path, topics: dict[str, tuple[str, Callable[[int], Any]]], ticks: int) -> Path:
    """A bag with a message of every topic each `PERIOD_S`.

    Args:
        folder: to make.
        topics: type by absolute name, and what makes the message of a tick; None: nothing is said.
        ticks: how many.
    """
    from rclpy.serialization import serialize_message

    bag = BagWriter(folder, {})
    channels = {
        name: bag.add_channel(name, Topic(name, kind, False, False, 1, "-", "-", "-"), "")
        for name, (kind, _) in topics.items()
    }
    for k in range(ticks):
        received_ns = int((BEGAN_S + 0.004 + k * PERIOD_S) * 1e9)
        for name, (_, make) in topics.items():
            if (message := make(k)) is not None:
                bag.write(channels[name], received_ns, received_ns, serialize_message(message))
        if k % 10 == 0:
            bag.flush()
    bag.close()
    return folder


def stamped(message: Any, k: int, off_s: float = 0.0) -> Any:
    """The message with the stamp of its tick."""
    at_ns = round((BEGAN_S + k * PERIOD_S + off_s) * 1e9)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(at_ns, 1_000_000_000)
    return message


def set_pose(pose: Any, truth: SimpleNamespace, k: int) -> None:
    """Position and attitude of a tick."""
    pose.position.x, pose.position.y, pose.position.z = truth.pos[k].tolist()
    turn = pose.orientation
    turn.w, turn.x, turn.y, turn.z = truth.quat[k].tolist()


def odometry(truth: SimpleNamespace, jump: tuple[int, float] = (10**9, 0.0)) -> Callable[[int], Any]:
    """Odometry whose twist is the body's, as MAVROS says it; its clock jumps at a tick by so many seconds."""
    from nav_msgs.msg import Odometry

    from robomarl.core.geometry import quat_conjugate, rotate

    def make(k: int) -> Any:
        message = stamped(Odometry(), k, jump[1] if k >= jump[0] else 0.0)
        set_pose(message.pose.pose, truth, k)
        twist, vel = message.twist.twist, rotate(quat_conjugate(truth.quat[k]), truth.vel[k])
        twist.linear.x, twist.linear.y, twist.linear.z = vel.tolist()
        twist.angular.x, twist.angular.y, twist.angular.z = truth.omega[k].tolist()
        return message

    return make


def pose(truth: SimpleNamespace) -> Callable[[int], Any]:
    """PoseStamped, as of a motion capture."""
    from geometry_msgs.msg import PoseStamped

    def make(k: int) -> Any:
        message = stamped(PoseStamped(), k)
        set_pose(message.pose, truth, k)
        return message

    return make
