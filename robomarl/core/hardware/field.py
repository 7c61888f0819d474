"""Sections of a scenario file that robots read; and `DeploymentConfig`: the start of a field test, and
the reaction of a team that loses a robot.

The scenario file says it in `[field]`, for all fleets that fly it; a fleet file may override it in
`field`. The climb's speed is the vehicle's, if neither says one; the landing's is in the vehicle
file only.
"""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from robomarl.core.config import Range, build
from robomarl.core.config.parsed import JsonObject, is_list, is_table
from robomarl.core.hardware.scenario_files import is_scenario, read_scenario

CLIMB_M_S = 0.3
"""Default climb speed, if no file says one."""


@dataclass(frozen=True)
class DeploymentConfig:
    """Section of a scenario or fleet file; a missing key is taken from the next file."""

    handover_m: Annotated[float, Range(0.0, 100.0)] | None = None
    """Altitude at which the policies take over; 0 if they take over wherever the robots are."""
    climb_m_s: Annotated[float, Range(0.05, 3.0)] | None = None
    """Speed of the climb to it."""
    on_robot_lost: Literal["continue", "hold", "land"] | None = None
    """Reaction of all remaining robots when a robot leaves or dies in flight."""


def settled(fleet: DeploymentConfig, scenario: str, climb_m_s: float | None) -> DeploymentConfig:
    """Return the effective settings: the fleet file goes before the scenario file before the vehicle file;
    no key is None.

    Args:
        fleet: section of the fleet file.
        scenario: name or path of the scenario.
        climb_m_s: value of the vehicle file.

    Raises:
        UserError: a wrong key or value in the scenario's section.
    """
    last = DeploymentConfig(0.0, CLIMB_M_S if climb_m_s is None else climb_m_s, "hold")
    found = [fleet, scenario_field(scenario), last]
    said = {f.name: [v for part in found if (v := getattr(part, f.name)) is not None] for f in fields(DeploymentConfig)}
    return DeploymentConfig(**{name: values[0] for name, values in said.items()})


def scenario_field(scenario: str) -> DeploymentConfig:
    """The section `[field]` of a scenario; as if it were empty where there is no such scenario.

    Raises:
        UserError: bad TOML, or a wrong key or value.
    """
    if not is_scenario(scenario):
        return DeploymentConfig()
    content, file = read_scenario(scenario)
    return build(DeploymentConfig, content.get("field", {}), f"{file}, field")


def scenario_obstacles(scenario: str) -> list[JsonObject]:
    """Return the obstacles in the arena of a scenario, as its file lists them.

    Raises:
        UserError: bad TOML.
    """
    arena = scenario_content(scenario).get("arena")
    obstacles = arena.get("obstacles") if is_table(arena) else None
    return [each for each in obstacles if is_table(each)] if is_list(obstacles) else []


def scenario_content(scenario: str) -> JsonObject:
    """Return the content of a scenario file, including the files that it extends; empty if there is no such file.

    Raises:
        UserError: bad TOML.
    """
    return read_scenario(scenario)[0] if is_scenario(scenario) else {}
