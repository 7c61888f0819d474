"""`price_of`: what the bounds of a vehicle's estimator cost, in words: how far apart robots rest. No ROS."""

from collections.abc import Sequence

from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.ros.preflight.seen import CheckRow
from robomarl.ros.robot.certified.rest import rest_of


def price_of(vehicle: AnyVehicle, filter_name: str = "full", fleet: Sequence[AnyVehicle] = ()) -> str:
    """Return the bounds of the estimator that flies, and the distances that the fleet's filter keeps for them.

    The distances are those of the vehicle file. A robot keeps more where its bundle is stricter. `fleet`: the vehicles
    of its fleet, where they differ.
    """
    rest, near = rest_of(vehicle, filter_name, fleet)
    name, (position_m, velocity_m_s) = next(iter(vehicle.bounds.items()))
    above = "" if rest.above_m is None else f" and {rest.above_m:.2f} m above"
    wide_m = 2 * max(near.wall_m, near.obstacle_m or 0.0)
    return (
        f"estimator {name} (errors of up to {position_m:g} m and {velocity_m_s:g} m/s): goals of two robots must be "
        f"{rest.beside_m:.2f} m beside{above} each other; one robot rests {near.wall_m:.2f} m from a wall and needs a "
        f"corridor of {wide_m:.2f} m"
    )


def fleet_price(fleet: Fleet) -> str:
    """Return the text of `price_of` for a fleet; of unlike vehicles one text for each vehicle, by its name."""
    if not fleet.is_unlike:
        return price_of(fleet.vehicle_config, fleet.filter)
    every = fleet.vehicles
    told = "; ".join(f"{name}: {price_of(one, fleet.filter, tuple(every.values()))}" for name, one in every.items())
    return f"{told}; two of unlike vehicles keep the larger distance"


def price_row(fleet: Fleet) -> CheckRow:
    """Return the distances of a fleet as a row of the preflight, which never fails."""
    return CheckRow("", "distances", True, fleet_price(fleet))
