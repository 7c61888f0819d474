"""Check that the robots of a scenario without a load can rest at its goals."""

import dataclasses
import math
from itertools import pairwise
from typing import Any

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.core.goals.room import goal_fault, team_faults
from robomarl.core.hardware.vehicle import Vehicle

RING_SAMPLES = 72
"""Places on the ring, which is turned at random, that are looked at for obstacles."""


def check_goals(scenario: Any, vehicle: Vehicle, file: str) -> None:
    """Check goals against arena, obstacles and each other, as the file has them, without their jitter.

    Args:
        scenario: a `FlightScenario` that carries nothing.
        vehicle: its vehicle.
        file: of the scenario, for the error.

    Raises:
        UserError: robots cannot rest at their goals; names the goal, the limit and both numbers.
    """
    arena = Arena(scenario.arena.low_m, scenario.arena.high_m)
    params = from_vehicle(vehicle, scenario.period_s, arena)
    try:
        params = dataclasses.replace(params, obstacles=scenario.arena.obstacles)
    except ValueError as error:
        raise UserError(f"{vehicle.name}.yaml: {error}") from None
    if faults := goal_faults(scenario, params):
        more = f" ({len(faults) - 1} more like it)" if len(faults) > 1 else ""
        error = UserError(f"{file}: [goal] {faults[0]}{more}; move the goals, or change [arena].")
        error.figures = {"scenario": scenario.name, "passed": False, "problems": faults}
        raise error


def goal_faults(scenario: Any, params: SafetyParams) -> list[str]:
    """Return the faults of one scenario's goals, in words.

    Args:
        scenario: a `FlightScenario` that carries nothing.
        params: of each robot's filter.
    """
    age_s = scenario.radio.latency_s + scenario.period_s
    if scenario.goal.kind == "places":
        return team_faults(params, age_s, list(map(np.array, scenario.goal.places_m)))
    ring = _ring(scenario, RING_SAMPLES)
    blocked = [f"a goal on the ring, {fault}" for place in ring if (fault := goal_fault(params, place))]
    if scenario.goal.kind == "random":
        spacing = scenario.goal.min_separation_m + 2 * math.sqrt(2) * scenario.goal.jitter_m
        neighbours = np.array([[0.0, 0.0, 0.0], [spacing, 0.0, 0.0]])
    else:
        neighbours = _ring(scenario, scenario.count)
    if scenario.count < 2:
        return blocked
    anywhere = dataclasses.replace(params, arena=None, obstacles=())
    apart = min((pair for pair in pairwise(neighbours)), key=lambda pair: float(np.linalg.norm(pair[1] - pair[0])))
    return [*blocked, *team_faults(anywhere, age_s, list(apart))]


def _ring(scenario: Any, count: int) -> np.ndarray:
    """[count, 3] places on the ring, evenly."""
    turn = 2 * np.pi * np.arange(count) / count
    height = np.full(count, scenario.start.height_m)
    return np.stack([scenario.ring_radius_m * np.cos(turn), scenario.ring_radius_m * np.sin(turn), height], -1)
