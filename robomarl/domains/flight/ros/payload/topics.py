"""Topics of a team with a payload, besides the usual ones. No ROS here."""

from robomarl.ros.topics import Topic

LOAD_POSE = Topic(
    "load_pose", "geometry_msgs/msg/PoseStamped", False, False, 5, "policy rate", "map",
    "sensed: pose of the load's own frame, for a team that carries one; of motion capture, or of the simulator",
)  # fmt: skip
LOAD_GOAL = Topic(
    "load_goal", "geometry_msgs/msg/PoseStamped", True, False, 1, "when it changes", "map",
    "where the load is to go, for the whole team at once; instead of `NAME/goal`",
)  # fmt: skip
