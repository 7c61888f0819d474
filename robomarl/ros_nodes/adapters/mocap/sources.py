"""What motion capture says, as poses by name: `NamedPoseArray`, `PoseStamped`, `tf`."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from robomarl.ros_nodes.adapters.mocap.tracker import SensedPose
from robomarl.ros_nodes.intake.sound import MessageError
from robomarl.ros_nodes.timing.stamp import time_of


class NamedPose(NamedTuple):
    """One body's pose, as it came."""

    name: str
    """"" where the topic says whose it is."""
    frame: str
    pose: SensedPose


def poses_of(message: Any) -> Iterator[NamedPose]:
    """All poses of a message of any of the kinds.

    Raises:
        MessageError: a stamp is no time, or two poses have one name. Whether a pose can be meant, its tracker says.
    """
    if hasattr(message, "transforms"):
        for moved in message.transforms:
            place, turn = moved.transform.translation, moved.transform.rotation
            yield _named(moved.child_frame_id, moved.header, place, turn)
        return
    if hasattr(message, "pose"):
        yield _named("", message.header, message.pose.position, message.pose.orientation)
        return
    names = [body.name for body in message.poses]
    if len(set(names)) < len(names):
        raise MessageError(f"two bodies have the same name, among {', '.join(sorted(names))}")
    for body in message.poses:
        yield _named(body.name, message.header, body.pose.position, body.pose.orientation)


def _named(name: str, header: Any, place: Any, turn: Any) -> NamedPose:
    pos, quat = np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z])
    try:
        return NamedPose(name, header.frame_id, SensedPose(pos, quat, time_of(header.stamp)))
    except ValueError as error:
        raise MessageError(str(error)) from None
