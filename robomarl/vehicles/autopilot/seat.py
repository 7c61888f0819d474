"""What the nodes of all wires to an autopilot make of their parameters."""

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.settings import AutopilotSettings
from robomarl.vehicles.autopilot.flight import AutopilotConfig, GuardedAutopilot
from robomarl.vehicles.autopilot.link import AutopilotLink
from robomarl.vehicles.guard_terms import GuardRules
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat, checked

ARM_S = 6.0
"""Set-points come first, then a mode, then arming: each may take a heartbeat."""


def autopilot_seat(node: VehicleNode, settings: AutopilotSettings, link: AutopilotLink, kind: str) -> VehicleSeat:
    """The only vehicle of a node, its link not open yet.

    Args:
        node: whose it is.
        settings: its parameters.
        link: to the vehicle.
        kind: the adapter's name in diagnostics.

    Raises:
        UserError: the vehicle file or a choice is wrong.
    """
    checked(node.get_name(), "on_estop", settings.on_estop, ("land", "kill"))
    vehicle = load_vehicle(settings.vehicle)
    estop = "kill" if settings.on_estop == "kill" else "land"
    rules = GuardRules(vehicle.on_command_loss, estop, arm_s=ARM_S)
    config = AutopilotConfig(rules, settings.low_v, settings.lift_m, low_share=settings.low_share)
    return VehicleSeat(node, settings.robot, link, GuardedAutopilot(link, vehicle, config), kind)
