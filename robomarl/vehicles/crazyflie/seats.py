"""Seats of `crazyflie_node`: the Crazyflies of one radio.

One process has all vehicles of a radio: cflib shares a Crazyradio within a process only.
"""

import os

from robomarl.core.hardware.vehicle import Quadrotor, load_vehicle
from robomarl.ros.settings import CrazyflieSettings
from robomarl.ros.vehicle_topics.crazyflie_uris import check_uris, simulated_uris
from robomarl.vehicles.corrected.corrector import corrector_of
from robomarl.vehicles.corrected.stream import CorrectedStream
from robomarl.vehicles.crazyflie.flight import CrazyflieConfig, GuardedCrazyflie
from robomarl.vehicles.crazyflie.link import CrazyflieLink
from robomarl.vehicles.guard_terms import GuardRules
from robomarl.vehicles.vehicle_node import VehicleNode, VehicleSeat, checked


def crazyflie_seats(node: VehicleNode[CrazyflieSettings], settings: CrazyflieSettings) -> list[VehicleSeat]:
    """One seat for each vehicle, its link not open yet.

    Raises:
        UserError: a vehicle file, a URI or a mode is wrong, the estimator's corrector is missing, or cflib is not
            installed.
    """
    vehicle = load_vehicle(settings.vehicle, settings.estimator)
    corrector = corrector_of(vehicle)
    if corrector:  # the guard judges, and the firmware tracks, what the firmware believes
        vehicle = load_vehicle(settings.vehicle, corrector.corrects)
    uris, count = settings.uris, len(settings.team)
    if settings.sim:
        uris = simulated_uris(count, int(os.environ.get("ROS_DOMAIN_ID", "0")))
    check_uris(uris, settings.team)
    config, types = config_of(settings, vehicle), tuple(filter(None, settings.types))
    made = []
    for name, uri in zip(settings.team, uris, strict=True):
        link = CrazyflieLink(uri, vehicle.body.mass_kg, 1 / settings.rate_hz, settings.cache, types)
        link.corrected = CorrectedStream(corrector) if corrector else None
        flight = GuardedCrazyflie(link, vehicle, config)
        made.append(VehicleSeat(node, name, link, flight, "crazyflie", link.corrected))
    return made


def config_of(settings: CrazyflieSettings, vehicle: Quadrotor) -> CrazyflieConfig:
    """How the vehicles are flown.

    Raises:
        UserError: a mode that there is not.
    """
    checked("crazyflie_node", "mode", settings.mode, ("full_state", "attitude"))
    checked("crazyflie_node", "on_estop", settings.on_estop, ("land", "kill"))
    rules = GuardRules(vehicle.on_command_loss, "kill" if settings.on_estop == "kill" else "land")
    mode = "attitude" if settings.mode == "attitude" else "full_state"
    return CrazyflieConfig(rules, low_v=settings.low_v, lift_m=settings.lift_m, mode=mode, watchdog=settings.watchdog)
