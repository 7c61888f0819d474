"""`mavlink_node`: flies one vehicle that speaks MAVLink for its policy node; see `VehicleNode`."""

import os
import sys

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.io.node_base import run_node
from robomarl.ros.settings import MavlinkSettings
from robomarl.vehicles.autopilot.seat import autopilot_seat
from robomarl.vehicles.mavlink.addresses import address_of, simulated_uri
from robomarl.vehicles.mavlink.link import MavlinkLink
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat


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
        uri = settings.uri
        if settings.sim:
            uri = simulated_uri(settings.index, int(os.environ.get("ROS_DOMAIN_ID", "0")))
        loss = load_vehicle(settings.vehicle).on_command_loss
        link = MavlinkLink(address_of(uri, settings.robot), 1 / settings.rate_hz, loss)
        return [autopilot_seat(self, settings, link, "mavlink")]


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl mavlink_node`."""
    return run_node(MavlinkNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
