"""What a payload adds to the fleet plan: the mission. No ROS here."""

from robomarl.domains.onboard import Node
from robomarl.domains.payload.ros_nodes.settings import MissionSettings
from robomarl.hardware_configs.fleet import Fleet
from robomarl.ros_nodes.fieldtask import task_name
from robomarl.ros_nodes.operator.fleet_plan import PlanOptions


def nodes(fleet: Fleet, options: PlanOptions) -> list[Node]:
    """The mission's node, where there is a mission; it refuses teams that carry nothing."""
    if not options.mission:
        return []
    values = {"mission": options.mission, "task": task_name(fleet.scenario)}
    module = "robomarl.domains.payload.ros_nodes.mission_node"
    return [Node("mission_node", module, "mission", MissionSettings, values)]
