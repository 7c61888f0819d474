"""Topics of a team with a payload and the rights of its mission, besides the usual ones. No ROS here."""

from robomarl.ros.enclaves.rights import TeamRights
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.robot.state_machine import Order
from robomarl.ros.topics import ANNOUNCE, WORLD, NodeGraph, Topic

LOAD_POSE = Topic(
    "load_pose", "geometry_msgs/msg/PoseStamped", False, False, 5, "policy rate", "map",
    "sensed: pose of the load's own frame, for a team that carries one; of motion capture, or of the simulator",
)  # fmt: skip
LOAD_GOAL = Topic(
    "load_goal", "geometry_msgs/msg/PoseStamped", True, False, 1, "when it changes", "map",
    "where the load is to go, for the whole team at once; instead of `NAME/goal`",
)  # fmt: skip


def graph() -> NodeGraph:
    """The load's pose, and one goal for the team."""
    return NodeGraph(goal=LOAD_GOAL, sensed=(LOAD_POSE,))


def rights(team: TeamRights) -> dict[str, Rights]:
    """Return the rights of the mission's node."""
    announced = team.each(team.names, ANNOUNCE)
    return {"mission": Rights(team.each((WORLD,), LOAD_GOAL), announced, calls=team.all(Order.LAND))}
