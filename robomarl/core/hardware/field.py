"""What robots read of a scenario file; and `DeploymentConfig`: how a field test begins, and what becomes of a team that
loses a robot.

The scenario file says it in `[field]`, for all fleets that fly it; a fleet file may say otherwise in `field`. The
climb's speed is the vehicle's, if neither says one; the landing's is in the vehicle file only.
"""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from robomarl.core.config import Range, build
from robomarl.core.hardware.scenario_files import is_scenario, read_scenario

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
    """The section `[field]` of a scenario; as if it were empty where there is no such scenario.

    Raises:
        UserError: bad TOML, or a wrong key or value.
    """
    if not is_scenario(scenario):
        return DeploymentConfig()
    content, file = read_scenario(scenario)
    return build(DeploymentConfig, content.get("field", {}), f"{file}, field")


def scenario_obstacles(scenario: str) -> list[dict]:
    """What stands in the arena of a scenario, as its file says it.

    Raises:
        UserError: bad TOML.
    """
    return scenario_content(scenario).get("arena", {}).get("obstacles", [])


def scenario_content(scenario: str) -> dict[str, Any]:
    """What a scenario file says, with what it extends; empty where there is none.

    Raises:
        UserError: bad TOML.
    """
    return read_scenario(scenario)[0] if is_scenario(scenario) else {}
