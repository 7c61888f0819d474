"""Additions of a payload to the node graph. No ROS here."""

from robomarl.domains.flight.ros.payload.topics import LOAD_GOAL, LOAD_POSE
from robomarl.ros.enclaves.rights import TeamRights
from robomarl.ros.enclaves.rights_terms import Rights
from robomarl.ros.robot.state_machine import Order
from robomarl.ros.topics import ANNOUNCE, WORLD, NodeGraph


def graph() -> NodeGraph:
    """The load's pose, and one goal for the team."""
    return NodeGraph(goal=LOAD_GOAL, sensed=(LOAD_POSE,))


def rights(team: TeamRights) -> dict[str, Rights]:
    """Return the rights of the mission's node."""
    announced = team.each(team.names, ANNOUNCE)
    return {"mission": Rights(team.each((WORLD,), LOAD_GOAL), announced, calls=team.all(Order.LAND))}
