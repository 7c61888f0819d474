"""Which scenarios a vehicle is in, and under which conditions it is measured there."""

import dataclasses
from collections.abc import Hashable, Sequence

from robomarl.core.config import UserError
from robomarl.core.hardware.scenario_files import read_scenario, scenario_names
from robomarl.core.hardware.vehicle import AnyVehicle, load_any_vehicle
from robomarl.lab.plants.conditions import Condition, corners, distinct
from robomarl.lab.plants.plants import known_names, measured
from robomarl.lab.sim.scenario import Scenario, load_scenario
from robomarl.lab.simulation import simulation_of


def scenarios_of(name: str, vehicle: AnyVehicle, only: Sequence[str] = ()) -> list[Scenario]:
    """The scenarios of a vehicle, with the vehicle from the file of that name or path.

    Args:
        name: as on the command line.
        vehicle: the file of that name.
        only: names or paths of scenarios; by default all that ship, name this vehicle and have a plant for it.

    Raises:
        UserError: there is none, so that nothing in the project can measure the vehicle.
    """
    if only:
        return [dataclasses.replace(load_scenario(s), vehicle=name) for s in only]
    every = (load_scenario(s) for s in scenario_names() if _vehicle_of(s) == vehicle.name)
    found = [dataclasses.replace(s, vehicle=name) for s in every if simulation_of(s).measured is not None]
    if not found:
        raise UserError(
            f"{vehicle.name}: no scenario has this vehicle on a plant to measure it on; take its figures from a "
            "named data sheet, or say in its sources that they are assumed."
        )
    return found


def grouped(scenarios: Sequence[Scenario]) -> list[tuple[Scenario, list[Condition]]]:
    """Return one scenario for all that move the vehicle alike, with the conditions of the whole group."""
    groups: dict[Hashable, list[Scenario]] = {}
    for scenario in scenarios:
        groups.setdefault(measured(scenario).moves_alike(scenario), []).append(scenario)
    return [(alike[0], distinct(c for s in alike for c in conditions_of(s))) for alike in groups.values()]


def conditions_of(scenario: Scenario) -> list[Condition]:
    """Return every corner of the ranges that the scenario randomizes and the vehicle feels."""
    ranges = {name: getattr(scenario.randomize, name) for name in known_names(scenario)}
    return corners(ranges, scenario.held_out)


def _vehicle_of(scenario: str) -> str:
    return load_any_vehicle(str(read_scenario(scenario)[0]["vehicle"])).name
