"""Additions of a payload to the fleet plan: the mission. No ROS here."""

from robomarl.core.domain.onboard import Node
from robomarl.core.hardware.fleet import Fleet
from robomarl.domains.flight.ros.payload.settings import MissionSettings
from robomarl.ros.fieldtask import task_name
from robomarl.ros.operator.fleet_plan import PlanOptions


def nodes(fleet: Fleet, options: PlanOptions) -> list[Node]:
    """The mission's node, where there is a mission; it refuses teams that carry nothing."""
    if not options.mission:
        return []
    values = {"mission": options.mission, "task": task_name(fleet.scenario)}
    module = "robomarl.domains.flight.ros.payload.mission_node"
    return [Node("mission_node", module, "mission", MissionSettings, values)]
