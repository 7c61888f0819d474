"""What the safety filter is to assume in a scenario: one answer for evaluation, export and training."""

from robomarl.safety.params import Arena, SafetyParams, from_vehicle
from robomarl.sim.scenario import Scenario


def safety_params(scenario: Scenario, least_team: int | None = None) -> SafetyParams:
    """Parameters of every robot's filter.

    Args:
        scenario: vehicle, rate and arena.
        least_team: robots of the smallest team that may fly; by default the scenario's.
    """
    # A team-mate that falls silent stops the robot, but only where the radio spans the whole team.
    spans = 2 * (scenario.ring_radius_m + scenario.start.jitter_m) <= scenario.radio.range_m
    mates = (least_team or scenario.count) - 1 if spans else 0
    arena = Arena(scenario.arena.low_m, scenario.arena.high_m)
    return from_vehicle(scenario.vehicle_config, scenario.period_s, arena, mates)
