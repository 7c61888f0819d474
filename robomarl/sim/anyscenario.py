"""Scenarios of every kind by name or content: teams of `Scenario`, games of `SoccerScenario`."""

from typing import Any

from robomarl.config import build
from robomarl.domains.soccer.scenario import TASK, SoccerScenario, is_soccer, load_soccer
from robomarl.sim.scenario import Scenario, load_scenario

AnyScenario = Scenario | SoccerScenario


def load_any_scenario(name: str) -> AnyScenario:
    """Read a scenario or a game by name or path; raises `UserError` as `load_scenario` and `load_soccer` do."""
    return load_soccer(name) if is_soccer(name) else load_scenario(name)


def build_any_scenario(content: dict[str, Any], file: str) -> AnyScenario:
    """The scenario or game of this content; raises `UserError` where a key or value is wrong, naming the file."""
    return build(SoccerScenario if content.get("task") == TASK else Scenario, content, file)
