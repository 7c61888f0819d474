"""Rows of one team out of those of both: ours come first."""

from collections.abc import Callable

from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.lab.sim.scenario import Scenario
from robomarl.lab.trees import Tree


def team_view(scenario: Scenario, view: LocalView, team: int) -> LocalView:
    """The views of one team, [..., N], out of those of both, [..., M]; 0 is ours."""
    rows = slice(0, scenario.count) if team == 0 else slice(scenario.count, None)
    return _each(view, lambda part: part[:, rows])


def _each(value: Tree, function: Callable[[Array], Array]) -> Tree:
    if isinstance(value, tuple):
        return type(value)(*(_each(part, function) for part in value))
    return function(value)
