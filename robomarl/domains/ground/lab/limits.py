"""Limits that a scenario of ground robots has to respect, and the assumptions of their safety filter."""

import dataclasses
import math
from operator import ge

from robomarl.core.config import UserError
from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.core.hardware.vehicle import DifferentialDrive, OmniRobot, load_any_vehicle
from robomarl.domains.ground.lab.goal_check import drawn_faults
from robomarl.domains.ground.lab.scenario import GroundScenario
from robomarl.domains.ground.lab.tasks import task_of
from robomarl.lab.sim.radio import check_radio


def filter_params(scenario: GroundScenario, mates: int) -> SafetyParams:
    """Return the assumptions of a robot's filter: the vehicle's figures, within the arena and clear of its
    obstacles.
    """
    arena = Arena(scenario.arena.low_m, scenario.arena.high_m)
    params = from_vehicle(scenario.vehicle_config, scenario.period_s, arena, mates)
    return dataclasses.replace(params, obstacles=scenario.arena.obstacles)


def check_scenario(scenario: GroundScenario, file: str) -> None:
    """Check the scenario against its vehicle, its arena and its task.

    Raises:
        UserError: no such vehicle, or one that does not drive; the grid is larger than the arena, or
            the team larger than the grid or the zones that it starts in; robots can get out of each
            other's range; no gain is left to choose; or the task lacks something that it needs.
    """
    vehicle = load_any_vehicle(scenario.vehicle, scenario.estimator or "")
    if not isinstance(vehicle, DifferentialDrive | OmniRobot):
        raise UserError(f"{file}: vehicle = {scenario.vehicle!r} does not drive; name a ground vehicle.")
    try:
        _check_start(scenario, 2 * vehicle.body.radius_m)
        _check_team(scenario)
        _check_zones(scenario)
        _check_gain(scenario, vehicle.safety.gain_per_s)
        task_of(scenario).check(scenario, 2 * vehicle.body.radius_m)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None
    _check_drawn(scenario, file)
    if scenario.count > 1:
        widest = math.dist(scenario.arena.low_m[:2], scenario.arena.high_m[:2])
        check_radio(scenario.radio.range_m, widest, "in [arena]", file)


def _check_start(scenario: GroundScenario, touch_m: float) -> None:
    """Raises `ValueError` where the grid does not fit into the arena, or the team into the grid."""
    grid, low, high = scenario.start, scenario.arena.low_m, scenario.arena.high_m
    if grid.width_m > high[0] - low[0] or grid.height_m > high[1] - low[1]:
        raise ValueError(
            f"start.width_m x height_m = {grid.width_m:g} x {grid.height_m:g} m is larger than the arena, "
            f"{high[0] - low[0]:g} x {high[1] - low[1]:g} m; make it smaller."
        )
    if grid.spacing_m <= touch_m:
        raise ValueError(f"start.spacing_m = {grid.spacing_m:g} must be above {touch_m:g}, where robots touch.")
    need = scenario.count * task_of(scenario).cells
    if need > grid.size:
        raise ValueError(
            f"count = {scenario.count} robots need {need} cells, and the grid in the arena, {grid.shape[0]} x "
            f"{grid.shape[1]} cells {grid.spacing_m:g} m apart, has {grid.size}; lower count or start.spacing_m."
        )


def _check_drawn(scenario: GroundScenario, file: str) -> None:
    """Raises `UserError` where robots cannot rest at a place that the task may draw for them."""
    if (drawn := task_of(scenario).drawn(scenario)) is None:
        return
    if faults := drawn_faults(drawn, scenario, filter_params(scenario, 0)):
        more = f" ({len(faults) - 1} more like it)" if len(faults) > 1 else ""
        error = UserError(f"{file}: {faults[0]}{more}; change [start], [arena] or [[zones]].")
        error.figures = {"scenario": scenario.name, "passed": False, "problems": faults}
        raise error


def _check_team(scenario: GroundScenario) -> None:
    """Raises `ValueError` where the roles are not those of the task, or not as many robots as there are."""
    named, wanted = [role.role for role in scenario.team], task_of(scenario).roles
    for role in scenario.team:
        if role.role not in wanted:
            known = ", ".join(wanted) or "none"
            raise ValueError(f"team: task {scenario.task!r} has no role {role.role!r}; allowed: {known}.")
    missing = [role for role in wanted if role not in named]
    if missing:
        raise ValueError(f"team: task {scenario.task!r} needs robots of role {missing[0]!r}, and no robot has it.")
    total = sum(role.count for role in scenario.team)
    if scenario.team and total != scenario.count:
        raise ValueError(f"team: its roles are {total} robots, and count = {scenario.count}; make them equal.")


def _check_zones(scenario: GroundScenario) -> None:
    """Raises `ValueError` where a zone is outside of the arena, or one that the task needs is not there."""
    low, high = scenario.arena.low_m, scenario.arena.high_m
    for zone in scenario.zones:
        if not scenario.arena.holds(zone.low_m, zone.high_m) or any(map(ge, zone.low_m, zone.high_m)):
            raise ValueError(
                f"zones: {zone.name} from {zone.low_m} to {zone.high_m} is not a rectangle inside the arena, from "
                f"{low[:2]} to {high[:2]}; move it or make it smaller."
            )
    missing = [name for name in task_of(scenario).zones if name not in {zone.name for zone in scenario.zones}]
    if missing:
        raise ValueError(f"zones: task {scenario.task!r} needs a zone {missing[0]!r}; add it.")


def _check_gain(scenario: GroundScenario, most_per_s: float) -> None:
    """Raises `ValueError` where a policy could only set gains above the vehicle's, or has nothing to go around."""
    least = scenario.least_gain_per_s
    if scenario.goes_around and (least is None or not scenario.arena.obstacles):
        missing = "least_gain_per_s" if least is None else "arena.obstacles"
        raise ValueError(f"goes_around = true is for policies that set gains, and needs {missing}; add it.")
    if least is not None and least >= most_per_s:
        raise ValueError(f"least_gain_per_s = {least:g} must be below the vehicle's gain, {most_per_s:g}; lower it.")
