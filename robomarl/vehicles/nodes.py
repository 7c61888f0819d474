"""The nodes that fly vehicles: one `VehicleNode`, and a table of the adapters that it flies them by.

`ros2 run robomarl mavlink_node` is `python -m robomarl.vehicles.nodes mavlink_node`.
"""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.io.node_base import run_node, take_node_name
from robomarl.ros.settings import (
    AutopilotSettings,
    CrazyflieSettings,
    CrazyswarmSettings,
    MavlinkSettings,
    MavrosSettings,
    Px4DdsSettings,
)
from robomarl.ros.vehicle_topics import mavros
from robomarl.ros.vehicle_topics.ros_address import RosAddress, address_of, simulated_uri
from robomarl.vehicles.autopilot.flight import AutopilotConfig, GuardedAutopilot
from robomarl.vehicles.autopilot.link import AutopilotLink
from robomarl.vehicles.corrected.corrector import refuse_corrector
from robomarl.vehicles.crazyflie.seats import crazyflie_seats
from robomarl.vehicles.crazyswarm.seats import crazyswarm_seats
from robomarl.vehicles.guard_terms import GuardRules
from robomarl.vehicles.mavlink import addresses
from robomarl.vehicles.mavlink.link import MavlinkLink
from robomarl.vehicles.mavros.link import MavrosLink
from robomarl.vehicles.px4_dds.geography import origin_of
from robomarl.vehicles.px4_dds.link import Px4DdsLink
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat, checked

A = TypeVar("A", bound=AutopilotSettings)
ARM_S = 6.0
"""Set-points come first, then a mode, then arming: each may take a heartbeat."""


def autopilot_seats(
    node: VehicleNode[A],
    settings: A,
    kind: str,
    link_of: Callable[[VehicleNode[A], A, CommandLossConfig], AutopilotLink],
) -> list[VehicleSeat]:
    """Return the one seat of a node that flies one vehicle with an autopilot, its link not open yet.

    Args:
        node: subscribes and publishes.
        settings: its parameters.
        kind: the adapter's name in diagnostics.
        link_of: (node, settings, the vehicle file's rules for lost commands) -> the link.

    Raises:
        UserError: the vehicle file, the URI or a choice is wrong, or the software that speaks to the
            vehicle is not installed.
    """
    vehicle = load_vehicle(settings.vehicle, settings.estimator)
    refuse_corrector(vehicle, node.get_name())
    link = link_of(node, settings, vehicle.on_command_loss)
    checked(node.get_name(), "on_estop", settings.on_estop, ("land", "kill"))
    estop = "kill" if settings.on_estop == "kill" else "land"
    rules = GuardRules(vehicle.on_command_loss, estop, arm_s=ARM_S)
    config = AutopilotConfig(rules, settings.low_v, settings.lift_m, low_share=settings.low_share)
    return [VehicleSeat(node, settings.robot, link, GuardedAutopilot(link, vehicle, config), kind)]


def mavlink_link(
    node: VehicleNode[MavlinkSettings], settings: MavlinkSettings, loss: CommandLossConfig
) -> AutopilotLink:
    """A UDP socket."""
    uri = settings.uri
    if settings.sim:
        uri = addresses.simulated_uri(settings.index, int(os.environ.get("ROS_DOMAIN_ID", "0")))
    return MavlinkLink(addresses.address_of(uri, settings.robot), 1 / settings.rate_hz, loss)


def px4_dds_link(node: VehicleNode[Px4DdsSettings], settings: Px4DdsSettings, loss: CommandLossConfig) -> AutopilotLink:
    """Topics of px4_msgs."""
    return Px4DdsLink(node, _ros_address(settings), loss, origin_of(settings))


def mavros_link(node: VehicleNode[MavrosSettings], settings: MavrosSettings, loss: CommandLossConfig) -> AutopilotLink:
    """Topics and services of MAVROS."""
    return MavrosLink(node, _ros_address(settings, mavros.BELOW), loss)


def _ros_address(settings: AutopilotSettings, below: str = "") -> RosAddress:
    uri = simulated_uri(settings.base, settings.robot, below, settings.index + 1) if settings.sim else settings.uri
    return address_of(uri, settings.robot)


_AUTOPILOTS = {
    "mavlink_node": partial(
        VehicleNode, settings=MavlinkSettings, seats=partial(autopilot_seats, kind="mavlink", link_of=mavlink_link)
    ),
    "mavros_adapter_node": partial(
        VehicleNode, settings=MavrosSettings, seats=partial(autopilot_seats, kind="mavros", link_of=mavros_link)
    ),
    "px4_dds_node": partial(
        VehicleNode, settings=Px4DdsSettings, seats=partial(autopilot_seats, kind="px4_dds", link_of=px4_dds_link)
    ),
}
NODES: Mapping[str, Callable[[str], VehicleNode]] = {
    "crazyflie_node": partial(VehicleNode, settings=CrazyflieSettings, seats=crazyflie_seats),
    "crazyswarm_node": partial(VehicleNode, settings=CrazyswarmSettings, seats=crazyswarm_seats),
    **_AUTOPILOTS,
}
"""Functions (name of the node) -> the node, by console script."""


def main() -> int:
    """Run the node of the console script that was called; as a module, the node that the first argument names."""
    name = take_node_name(NODES)
    return run_node(partial(NODES[name], name), urgent=True, name=name)


if __name__ == "__main__":
    sys.exit(main())
