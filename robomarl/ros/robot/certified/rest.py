"""Distances at which robots rest, by the safety filter that flies them. No ROS here."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from robomarl.core.certificate.figures import CertificateFigures, common_of, figures_of
from robomarl.core.filter.params import from_vehicle
from robomarl.core.goals.rest import (
    PERIOD_S,
    Margins,
    RestDistances,
    margins,
    rest_distances,
    vehicle_margins,
    vehicle_rest,
)
from robomarl.core.goals.room import goal_fault, spacing_faults
from robomarl.core.hardware.vehicle import AnyVehicle

CERTIFICATE = "certificate"
"""Name of the certificate among the filters of a fleet file."""


def rest_of(vehicle: AnyVehicle, filter_name: str, fleet: Sequence[AnyVehicle] = ()) -> tuple[RestDistances, Margins]:
    """Return the distances of a vehicle's file, at 50 Hz: from each other, and from walls and obstacles.

    Certified robots rest where the front between their references lets them.

    Args:
        vehicle: the robots' vehicle.
        filter_name: safety filter of the robots, as in the fleet file.
        fleet: the vehicles of their fleet, where they differ. Of two unlike robots the one that keeps more decides.
    """
    if filter_name != CERTIFICATE:
        return vehicle_rest(vehicle), vehicle_margins(vehicle)
    params, common = from_vehicle(vehicle, PERIOD_S), None
    if fleet:
        common = common_of([(from_vehicle(one, PERIOD_S), one.body.radius_m) for one in fleet])
    figures = figures_of(params, vehicle.body.radius_m, common)
    (x, _, z), beyond = figures.wall_m, margins(figures.front)
    floor_m = None if beyond.floor_m is None else z + beyond.floor_m
    return rest_distances(figures.front, 0.0, 0.0), Margins(x + beyond.wall_m, floor_m, beyond.obstacle_m)


def team_faults(rest: Mapping[str, RestDistances], goals_m: Mapping[str, np.ndarray]) -> list[str]:
    """Return the faults of teammates' goals [3], the worst pair first; of two robots the one that keeps more decides.

    `rest`: resting distances of each robot, by its name.
    """
    found: list[tuple[float, str]] = []
    for (name, first), (other, second) in itertools.combinations(goals_m.items(), 2):
        pair = max(rest[name], rest[other], key=lambda one: one.beside_m)
        share = float(pair.needed_share(np.asarray(second, float) - np.asarray(first, float)))
        found += [(share, text) for text in spacing_faults(pair, {name: first, other: second})]
    return [text for _, text in sorted(found)]


def certified_goal_fault(figures: CertificateFigures, place_m: np.ndarray, reach_m: float = 0.0) -> str:
    """Return the reason why the reference of a certified robot cannot rest at a place [3]; "" if it can.

    Args:
        figures: numbers of the robot's certificate, with its arena.
        place_m: the goal, world frame [m].
        reach_m: distance from the goal at which a robot has arrived.
    """
    if not (fault := goal_fault(figures.front, place_m, reach_m)):
        return ""
    x, y, z = figures.wall_m
    return f"{fault}; the certificate keeps {x:.2f}, {y:.2f}, {z:.2f} m from the arena's walls along x, y, z"
