"""`mavros_adapter_node`: flies one vehicle behind MAVROS for its policy node; see `VehicleNode`."""

import sys

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.io.node_base import run_node
from robomarl.ros.settings import MavrosSettings
from robomarl.ros.vehicle_topics.ros_address import address_of
from robomarl.vehicles.autopilot.seat import autopilot_seat
from robomarl.vehicles.mavros.link import MavrosLink
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat


def simulated_uri(robot: str, index: int, base: str) -> str:
    """Of a simulated vehicle: beside its robot's own topics."""
    return f"ros:{base}/{robot}/mavros?system={index + 1}"


class MavrosNode(VehicleNode):
    """One vehicle."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("mavros_adapter_node", MavrosSettings)

    def seats(self, settings: MavrosSettings) -> list[VehicleSeat]:
        """Its only one, its link not open yet.

        Raises:
            UserError: the vehicle file, the URI or a choice is wrong, or mavros_msgs is not installed.
        """
        uri = settings.uri
        if settings.sim:
            uri = simulated_uri(settings.robot, settings.index, settings.base)
        loss = load_vehicle(settings.vehicle).on_command_loss
        link = MavrosLink(self, address_of(uri, settings.robot), loss)
        return [autopilot_seat(self, settings, link, "mavros")]


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl mavros_adapter_node`."""
    return run_node(MavrosNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
