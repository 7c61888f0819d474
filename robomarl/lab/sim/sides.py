"""Rows of one team out of those of both: ours come first."""

from typing import Any

from robomarl.core.view import LocalView
from robomarl.lab.sim.scenario import Scenario


def team_view(scenario: Scenario, view: LocalView, team: int) -> LocalView:
    """The views of one team, [..., N], out of those of both, [..., M]; 0 is ours."""
    rows = slice(0, scenario.count) if team == 0 else slice(scenario.count, None)
    return _each(view, lambda part: part[:, rows])


def _each(value: Any, function: Any) -> Any:
    if isinstance(value, tuple):
        return type(value)(*(_each(part, function) for part in value))
    return function(value)
