"""What robots read of a scenario file; and `DeploymentConfig`: how a field test begins, and what becomes of a team that
loses a robot.

The scenario file says it in `[field]`, for all fleets that fly it; a fleet file may say otherwise in `field`. The
climb's speed is the vehicle's, if neither says one; the landing's is in the vehicle file only.
"""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from robomarl.config import Range, build, read_toml
from robomarl.paths import scenarios_dir

CLIMB_M_S = 0.3
"""Where no file says a speed."""


@dataclass(frozen=True)
class DeploymentConfig:
    """Section of a scenario or fleet file; what is left out is said by the next file."""

    handover_m: Annotated[float, Range(0.0, 100.0)] | None = None
    """Altitude at which the policies take over; 0 if they take over wherever the robots are."""
    climb_m_s: Annotated[float, Range(0.05, 3.0)] | None = None
    """Speed of the climb to it."""
    on_robot_lost: Literal["continue", "hold", "land"] | None = None
    """What the others do when a robot leaves or dies in flight."""


def settled(fleet: DeploymentConfig, scenario: str, climb_m_s: float | None) -> DeploymentConfig:
    """What holds: the fleet file before the scenario file before the vehicle file, none of it left out.

    Args:
        fleet: section of the fleet file.
        scenario: name or path of the scenario.
        climb_m_s: of the vehicle file.

    Raises:
        UserError: a wrong key or value in the scenario's section.
    """
    last = DeploymentConfig(0.0, CLIMB_M_S if climb_m_s is None else climb_m_s, "hold")
    found = [fleet, scenario_field(scenario), last]
    said = {f.name: [v for part in found if (v := getattr(part, f.name)) is not None] for f in fields(DeploymentConfig)}
    return DeploymentConfig(**{name: values[0] for name, values in said.items()})


def scenario_field(scenario: str) -> DeploymentConfig:
    """The section `[field]` of a scenario file and of those that it extends.

    Raises:
        UserError: bad TOML, or a wrong key or value.
    """
    path = _file_of(scenario)
    if path is None:
        return DeploymentConfig()
    return build(DeploymentConfig, read_toml(path, scenario_content).get("field", {}), f"{path.name}, field")


def scenario_obstacles(scenario: str) -> list[dict]:
    """What stands in the arena of a scenario, as its file says it.

    Raises:
        UserError: bad TOML.
    """
    return scenario_content(scenario).get("arena", {}).get("obstacles", [])


def scenario_content(scenario: str) -> dict[str, Any]:
    """What a scenario file says, with what it extends; empty where there is none. Robots have no simulator to read it.

    Raises:
        UserError: bad TOML.
    """
    path = _file_of(scenario)
    return {} if path is None else read_toml(path, scenario_content)


def _file_of(scenario: str) -> Path | None:
    """A scenario's file; that of its family where NAME_N has none of its own."""
    path = Path(scenario) if scenario.endswith(".toml") else scenarios_dir() / f"{scenario}.toml"
    if path.is_file():
        return path
    family = re.fullmatch(r"(\w+)_\d+", scenario)
    return next(iter(sorted(scenarios_dir().glob(f"{family[1]}_*.toml"))), None) if family else None
