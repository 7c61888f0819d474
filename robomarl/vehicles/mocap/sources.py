"""Messages of motion capture as poses by name (`NamedPoseArray`, `PoseStamped`, `tf`), and their place in the map."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_from_yaw, quat_multiply, rotate
from robomarl.ros.intake.sound import fault_of
from robomarl.ros.io.messages import Message
from robomarl.ros.timing.stamp import Stamp, time_of
from robomarl.vehicles.mocap.tracker import SensedPose

_STANDS_UP = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])
"""A quarter turn about x: y up becomes z up."""


@dataclass(frozen=True)
class Mounting:
    """Transform from the frame of the motion capture to the map."""

    axes: Literal["z_up", "y_up"] = "z_up"
    """Axes of the motion capture's world and of its bodies alike."""
    origin_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Position of its origin in the map [m]."""
    yaw_rad: float = 0.0
    """How far its x axis is turned there, counter-clockwise."""

    def in_map(self, pose: SensedPose) -> SensedPose:
        """Return the pose in the map. A quaternion with a length other than 1 keeps it."""
        pos, quat = pose.pos_m, pose.quat
        if self.axes == "y_up":
            pos = rotate(_STANDS_UP, pos)
            quat = quat_multiply(quat_multiply(_STANDS_UP, quat), quat_conjugate(_STANDS_UP))
        turn = quat_from_yaw(np.float64(self.yaw_rad))
        return SensedPose(rotate(turn, pos) + np.array(self.origin_m), quat_multiply(turn, quat), pose.stamp_s)


class NamedPose(NamedTuple):
    """One body's pose, as it came."""

    name: str
    """Name of the body; "" if the topic is that of one body."""
    frame: str
    pose: SensedPose
    problem: str = ""
    """Why it is none of this body, in words; "" where nothing speaks against it."""


def poses_of(message: Message) -> Iterator[NamedPose]:
    """All poses of a message of any of the kinds. Where one is wrong only its own body suffers.

    A body that is named twice has no pose: one of the two is another's. Whether a pose can be meant, its tracker says.
    """
    found = list(_listed(message))
    count = Counter(pose.name for pose in found)
    for pose in found:
        twice = f"it is named {count[pose.name]} times in one message" if count[pose.name] > 1 else ""
        yield pose._replace(problem=pose.problem or twice)


def _listed(message: Message) -> Iterator[NamedPose]:
    if hasattr(message, "transforms"):
        for moved in message.transforms:
            place, turn = moved.transform.translation, moved.transform.rotation
            yield _named(moved.child_frame_id, moved.header, place, turn)
    elif hasattr(message, "pose"):
        yield _named("", message.header, message.pose.position, message.pose.orientation)
    else:
        for body in message.poses:
            yield _named(body.name, message.header, body.pose.position, body.pose.orientation)


def _named(name: str, header: Message, place: Message, turn: Message) -> NamedPose:
    pos, quat = np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z])
    problem = fault_of((*pos.tolist(), *quat.tolist()), "a number of a pose")
    try:
        stamp_s = time_of(header.stamp)
    except ValueError as error:
        stamp_s, problem = Stamp.of(0, 0), str(error)
    return NamedPose(name, header.frame_id, SensedPose(pos, quat, stamp_s), problem)
