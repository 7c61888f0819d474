"""Seats of `crazyswarm_node`: the Crazyflies of a Crazyswarm2 server."""

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.ros.settings import CrazyswarmSettings
from robomarl.ros.vehicle_topics.crazyswarm import BELOW
from robomarl.ros.vehicle_topics.ros_address import RosAddress, address_of, simulated_uri
from robomarl.vehicles.corrected.corrector import refuse_corrector
from robomarl.vehicles.crazyflie.flight import CrazyflieConfig, GuardedCrazyflie
from robomarl.vehicles.crazyswarm.link import CrazyswarmLink
from robomarl.vehicles.guard_terms import GuardRules
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat, checked

ARM_S = 5.0
"""A status comes ten times a second, and a service takes its time."""


def crazyswarm_seats(node: VehicleNode[CrazyswarmSettings], settings: CrazyswarmSettings) -> list[VehicleSeat]:
    """One seat for each vehicle, its link not open yet.

    Raises:
        UserError: the vehicle file, a URI or a choice is wrong, or crazyflie_interfaces is not installed.
    """
    checked("crazyswarm_node", "on_estop", settings.on_estop, ("land", "kill"))
    vehicle = load_vehicle(settings.vehicle, settings.estimator)
    refuse_corrector(vehicle, node.get_name())
    rules = GuardRules(vehicle.on_command_loss, "kill" if settings.on_estop == "kill" else "land", arm_s=ARM_S)
    config = CrazyflieConfig(rules, low_v=settings.low_v, lift_m=settings.lift_m, watchdog=False)
    made = []
    for name, address in zip(settings.team, addresses_of(settings), strict=True):
        link = CrazyswarmLink(node, address)
        made.append(VehicleSeat(node, name, link, GuardedCrazyflie(link, vehicle, config), "crazyswarm"))
    return made


def addresses_of(settings: CrazyswarmSettings) -> list[RosAddress]:
    """Return one address for each robot.

    Raises:
        UserError: the numbers differ, two robots have one URI, or a URI is wrong.
    """
    uris, team = settings.uris, settings.team
    if settings.sim:
        uris = tuple(simulated_uri(settings.base, name, BELOW) for name in team)
    if len(uris) != len(team):
        raise UserError(f"uris: {len(uris)} URIs for {len(team)} robots; name one for each, in the team's order.")
    for uri in uris:
        if uris.count(uri) > 1:
            raise UserError(f"uris: {uri} is named {uris.count(uri)} times; two adapters can't fly one vehicle.")
    return [address_of(uri, name) for uri, name in zip(uris, team, strict=True)]
