"""`mavlink_node`: flies one vehicle that speaks MAVLink for its policy node; see `VehicleNode`."""

import os
import sys

from robomarl.hardware_configs.vehicle import load_vehicle
from robomarl.ros_nodes.adapters.autopilot.flight import AutopilotConfig, GuardedAutopilot
from robomarl.ros_nodes.adapters.guard_terms import GuardRules
from robomarl.ros_nodes.adapters.mavlink.addresses import address_of, simulated_uri
from robomarl.ros_nodes.adapters.mavlink.link import MavlinkLink
from robomarl.ros_nodes.adapters.vehicle_node import VehicleNode, VehicleSeat, checked
from robomarl.ros_nodes.io.node_base import run_node
from robomarl.ros_nodes.settings import MavlinkSettings

ARM_S = 6.0
"""Set-points come first, then a mode, then arming: each may take a heartbeat."""


class MavlinkNode(VehicleNode):
    """One vehicle."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("mavlink_node", MavlinkSettings)

    def seats(self, settings: MavlinkSettings) -> list[VehicleSeat]:
        """Its only one, its link not open yet.

        Raises:
            UserError: the vehicle file, the URI or a choice is wrong, or pymavlink is not installed.
        """
        checked("mavlink_node", "on_estop", settings.on_estop, ("land", "kill"))
        vehicle, domain = load_vehicle(settings.vehicle), int(os.environ.get("ROS_DOMAIN_ID", "0"))
        uri = simulated_uri(settings.index, domain) if settings.sim else settings.uri
        address = address_of(uri, settings.robot)
        estop = "kill" if settings.on_estop == "kill" else "land"
        rules = GuardRules(vehicle.on_command_loss, estop, arm_s=ARM_S)
        config = AutopilotConfig(rules, settings.low_v, settings.lift_m, low_share=settings.low_share)
        link = MavlinkLink(address, 1 / settings.rate_hz, vehicle.on_command_loss)
        return [VehicleSeat(self, settings.robot, link, GuardedAutopilot(link, vehicle, config), "mavlink")]


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl mavlink_node`."""
    return run_node(MavlinkNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
