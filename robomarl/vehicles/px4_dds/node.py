"""`px4_dds_node`: flies one PX4 vehicle over the topics of px4_msgs for its policy node; see `VehicleNode`."""

import math
import sys

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.io.node_base import run_node
from robomarl.ros.settings import Px4DdsSettings
from robomarl.ros.vehicle_topics.ros_address import address_of
from robomarl.vehicles.autopilot.seat import autopilot_seat
from robomarl.vehicles.px4_dds.geography import Geodetic
from robomarl.vehicles.px4_dds.link import Px4DdsLink
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat

SIM_ORIGIN = Geodetic(47.397742, 8.545594, 488.0)
"""Where the map of simulated vehicles begins: where PX4's own simulation has its home."""


def simulated_uri(robot: str, index: int, base: str) -> str:
    """Of a simulated vehicle: beside its robot's own topics."""
    return f"ros:{base}/{robot}?system={index + 1}"


def origin_of(settings: Px4DdsSettings) -> Geodetic | None:
    """Where the map begins; None: where the vehicle's local frame does.

    Raises:
        UserError: it is no place of the Earth.
    """
    found = SIM_ORIGIN if settings.sim else settings.map_origin
    if len(found) == 1 and math.isnan(found[0]):
        return None
    if len(found) != 3 or not (abs(found[0]) <= 90 and abs(found[1]) <= 180 and math.isfinite(found[2])):
        raise UserError(f"px4_dds_node: map_origin = {list(found)} must be latitude, longitude [deg] and altitude [m].")
    return Geodetic(*found)


class Px4DdsNode(VehicleNode):
    """One vehicle."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("px4_dds_node", Px4DdsSettings)

    def seats(self, settings: Px4DdsSettings) -> list[VehicleSeat]:
        """Its only one, its link not open yet.

        Raises:
            UserError: the vehicle file, the URI or a choice is wrong, or px4_msgs is not installed.
        """
        uri = settings.uri
        if settings.sim:
            uri = simulated_uri(settings.robot, settings.index, settings.base)
        loss = load_vehicle(settings.vehicle).on_command_loss
        link = Px4DdsLink(self, address_of(uri, settings.robot), loss, origin_of(settings))
        return [autopilot_seat(self, settings, link, "px4_dds")]


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl px4_dds_node`."""
    return run_node(Px4DdsNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
