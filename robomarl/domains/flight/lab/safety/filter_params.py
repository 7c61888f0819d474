"""Assumptions of a flying robot's safety filter."""

import dataclasses

from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.domains.flight.lab.scenario import FlightScenario


def flyer_params(scenario: FlightScenario, mates: int) -> SafetyParams:
    """Return the parameters of the filter of a robot that has to receive `mates` teammates.

    Raises:
        UserError: commands are of a kind that the filter does not know.
    """
    scenario.command.must_be_flown(scenario.name, "the safety filter, and so every robot,")
    # Whoever is not heard may be anywhere: out of range, but also beside the robot with a dead radio.
    arena = Arena(scenario.arena.low_m, scenario.arena.high_m)
    params = from_vehicle(scenario.vehicle_config, scenario.period_s, arena, mates)
    return dataclasses.replace(params, obstacles=scenario.arena.obstacles)
