"""Topics with the poses of motion capture, by the parameter `source`. No ROS here."""

from robomarl.core.config import UserError
from robomarl.ros import topics
from robomarl.ros.topics import Topic

# Each body is judged by itself, by its tracker: one that is not seen may be told as NaN.
NAMED_POSES = Topic(
    "/poses",
    "motion_capture_tracking_interfaces/msg/NamedPoseArray",
    False,
    False,
    1,
    "",
    "",
    "poses of all bodies",
    (),
)
POSE = Topic("pose", "geometry_msgs/msg/PoseStamped", False, False, 5, "", "", "pose of one body", ())
RESET = "mocap/reset"
"""Service of each robot, in its namespace."""
KINDS = {"named_poses": NAMED_POSES, "pose": POSE, "tf": topics.TF}
"""Topic by the value of the parameter `source`."""


def topics_of(source: str, topic: str, bodies: tuple[str, ...]) -> list[tuple[str, Topic]]:
    """Return (absolute name, topic) of all subscriptions, in the order of the bodies if each has one.

    Args:
        source: key of `KINDS`.
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
