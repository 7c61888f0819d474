"""Limits that a scenario of a flying team has to respect, and the assumptions of its safety filter."""

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError, build
from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.core.goals.rest import rest_distances
from robomarl.core.goals.room import goal_fault, spacing_faults
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.hardware.scenario_files import read_scenario
from robomarl.core.hardware.vehicle import Vehicle, load_vehicle
from robomarl.domains.flight.core.payload.scenario import check_load
from robomarl.domains.flight.core.payload.statics import widest_load_m
from robomarl.domains.flight.lab.places import check_room
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.sim.radio import check_radio

RING_SAMPLES = 72
"""Places on the ring, which is turned at random, that are looked at for obstacles."""


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


def check_scenario(scenario: FlightScenario, file: str) -> None:
    """Check the scenario against its vehicle, and its sections against each other.

    Raises:
        UserError: no such vehicle, one that cannot carry the load, or one without drag beside a
            residual; a robot or load starts or is sent outside of the arena; robots cannot rest at
            their goals; or they can get out of each other's range.
    """
    vehicle = load_vehicle(scenario.vehicle, scenario.estimator or "")
    room = (scenario.arena.low_m, scenario.arena.high_m)
    if scenario.residual and not vehicle.body.drag_per_s > 0:
        raise UserError(f"{file}: [residual] pushes as a wind does, and vehicle = {scenario.vehicle!r} has no drag.")
    check_room(scenario.used_m, room, file)
    if scenario.load is None or scenario.cables is None:
        if scenario.count > 1:
            check_radio(scenario.radio.range_m, math.dist(*room), "in [arena]", file)
        check_goals(scenario, vehicle, file)
        return
    if vehicle.carrier is None:
        raise UserError(f"{file}: vehicle = {scenario.vehicle!r} has no section carrier; name one that carries loads.")
    try:
        check_load(scenario.load, scenario.cables, vehicle, scenario.count, scenario.physics_dt_s)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    widest = widest_load_m(scenario.load, scenario.cables)
    check_radio(scenario.radio.range_m, widest, "under [load], on taut [cables],", file)


def check_fleet_goals(fleet: Fleet) -> None:
    """Read the scenario of a team that flies, as `robomarl check` does, on a machine without a simulator too.

    Raises:
        UserError: a key or value of the scenario is wrong, or robots cannot rest at its goals.
    """
    content, file = read_scenario(fleet.scenario)
    if fleet.estimator:
        content = {**content, "vehicle": fleet.vehicle, "estimator": fleet.estimator}
        file = f"{file} for fleet {fleet.name} with the estimator {fleet.estimator}"
    check_scenario(build(FlightScenario, {"name": Path(fleet.scenario).stem, **content}, file), file)


def check_fleet_load(fleet: Fleet) -> None:
    """Read the scenario of a team with a load, which checks the load, and compare the number of robots.

    Raises:
        UserError: too heavy a load, points of attachment that coincide, cables that are too short, or
            a scenario for another number of robots.
    """
    from robomarl.lab.sim.scenario import load_scenario

    scenario = load_scenario(fleet.scenario)
    if scenario.count != len(fleet.robots):
        raise UserError(
            f"Fleet {fleet.name} has {len(fleet.robots)} robots, its scenario {fleet.scenario} is for "
            f"{scenario.count}; name another scenario, or all robots."
        )


def check_goals(scenario: FlightScenario, vehicle: Vehicle, file: str) -> None:
    """Check goals against arena, obstacles and each other, as the file has them, without their jitter.

    Args:
        scenario: scenario of a team that carries nothing.
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


def team_faults(params: SafetyParams, age_s: float, goals_m: Sequence[np.ndarray]) -> list[str]:
    """Everything that is wrong with the goals of a team, the robots called by their indices.

    Args:
        params: of each robot's filter.
        age_s: of teammates' messages when they are read.
        goals_m: [3] each, in the order of the team.
    """
    named = {f"robot {i}": np.asarray(goal, float) for i, goal in enumerate(goals_m)}
    alone = [f"the goal of {name}, {fault}" for name, goal in named.items() if (fault := goal_fault(params, goal))]
    return [*alone, *(spacing_faults(rest_distances(params, age_s), named) if len(named) > 1 else ())]


def goal_faults(scenario: FlightScenario, params: SafetyParams) -> list[str]:
    """Return the faults of one scenario's goals, in words.

    Args:
        scenario: scenario of a team that carries nothing.
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


def _ring(scenario: FlightScenario, count: int) -> np.ndarray:
    """[count, 3] places on the ring, evenly."""
    turn = 2 * np.pi * np.arange(count) / count
    height = np.full(count, scenario.start.height_m)
    return np.stack([scenario.ring_radius_m * np.cos(turn), scenario.ring_radius_m * np.sin(turn), height], -1)
