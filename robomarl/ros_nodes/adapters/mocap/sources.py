"""What motion capture says, as poses by name: `NamedPoseArray`, `PoseStamped`, `tf`."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from robomarl.config import UserError
from robomarl.ros_nodes import topics
from robomarl.ros_nodes.adapters.mocap.tracker import SensedPose
from robomarl.ros_nodes.convert import MessageError, stamp_of, xyz_of
from robomarl.ros_nodes.topics import Topic

NAMED_POSES = Topic(
    "/poses", "motion_capture_tracking_interfaces/msg/NamedPoseArray", False, False, 1, "", "", "poses of all bodies"
)
POSE = Topic("pose", "geometry_msgs/msg/PoseStamped", False, False, 5, "", "", "pose of one body")
KINDS = {"named_poses": NAMED_POSES, "pose": POSE, "tf": topics.TF}
"""By what the parameter `source` says."""


class NamedPose(NamedTuple):
    """One body's pose, as it came."""

    name: str
    """"" where the topic says whose it is."""
    frame: str
    pose: SensedPose


def topics_of(source: str, topic: str, bodies: tuple[str, ...]) -> list[tuple[str, Topic]]:
    """(absolute name, topic) of what is subscribed to, in the order of the bodies where each has one.

    Args:
        source: of `KINDS`.
        topic: name instead of the usual one; `{body}` in it is replaced.
        bodies: names of the bodies.

    Raises:
        UserError: there is no such source, or bodies would share a topic.
    """
    if source not in KINDS:
        raise UserError(f"mocap_node: source = {source!r} must be one of {', '.join(KINDS)}.")
    kind = KINDS[source]
    if source != "pose":
        return [(topic or kind.name, kind)]
    shape = topic or "/{body}/pose"
    if "{body}" not in shape and len(bodies) > 1:
        raise UserError(f"mocap_node: topic = {topic!r} must have {{body}} in it: each has a topic of its own.")
    return [(shape.replace("{body}", body), kind) for body in bodies]


def poses_of(message: Any) -> Iterator[NamedPose]:
    """All poses of a message of any of the kinds.

    Raises:
        MessageError: a stamp is none, or two poses have one name.
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
    quat = np.array([turn.w, turn.x, turn.y, turn.z])
    return NamedPose(name, header.frame_id, SensedPose(xyz_of(place), quat, stamp_of(header)))
