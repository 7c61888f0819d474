"""What a payload adds to the node graph. No ROS here."""

from robomarl.domains.payload.ros_nodes.topics import LOAD_GOAL, LOAD_POSE
from robomarl.ros_nodes.enclaves.rights import TeamRights
from robomarl.ros_nodes.enclaves.rights_terms import Rights
from robomarl.ros_nodes.robot.state_machine import Order
from robomarl.ros_nodes.topics import ANNOUNCE, WORLD, NodeGraph


def graph() -> NodeGraph:
    """The load's pose, and one goal for the team."""
    return NodeGraph(goal=LOAD_GOAL, sensed=(LOAD_POSE,))


def rights(team: TeamRights) -> dict[str, Rights]:
    """Of the mission's node."""
    announced = team.each(team.names, ANNOUNCE)
    return {"mission": Rights(team.each((WORLD,), LOAD_GOAL), announced, calls=team.all(Order.LAND))}
