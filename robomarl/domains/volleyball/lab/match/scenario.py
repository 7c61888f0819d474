"""`MatchScenario`: content of a scenario file for two teams that play volleyball, and its check."""

from dataclasses import dataclass

from robomarl.core.config import Count, UserError
from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.domains.volleyball.core.match.features import SIZES
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.scenario_check import check_anchors, check_ball, check_sections

SCRIPT = "script"
"""Name of the scripted team."""


@dataclass(frozen=True)
class OpposingTeam:
    """The other team; its anchors are those of the first one, turned by half a turn about the middle of the court."""

    count: Count
    """Number of robots of the other team: equal to `count`."""
    script: str = SCRIPT
    """Scripted team that `robomarl eval` plays against unless another one is named."""


@dataclass(frozen=True, kw_only=True)
class MatchScenario(VolleyScenario):
    """Two teams of drones with rackets; the last robot of each team serves."""

    opponent: OpposingTeam

    @property
    def robots(self) -> int:
        """M, robots of both teams, the first team's first."""
        return 2 * self.count

    @property
    def server(self) -> int:
        """Number of the robot of a team that serves."""
        return self.count - 1


def check_scenario(scenario: MatchScenario, file: str) -> None:
    """Check the sections against each other.

    Raises:
        UserError: the vehicle does not fly, teams are of unequal size or of a size without features, a section of
            the game is missing, anchors do not fit, or the ball does not begin above the racket.
    """
    vehicle = load_vehicle(scenario.vehicle, scenario.estimator or "")
    try:
        _check_teams(scenario)
        check_sections(scenario, has_ball=True)
        check_anchors(scenario, vehicle.safety.separation_m)
        check_ball(scenario)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from None


def _check_teams(scenario: MatchScenario) -> None:
    """Raise `ValueError` for teams that no match has."""
    if scenario.opponent.count != scenario.count:
        raise ValueError(
            f"opponent.count = {scenario.opponent.count} robots play against count = {scenario.count}; make them equal."
        )
    if scenario.count not in SIZES:
        allowed = ", ".join(map(str, SIZES))
        raise ValueError(f"count = {scenario.count} robots in a team; a match has {allowed}.")
    if scenario.opponent.script != SCRIPT:
        raise ValueError(f"opponent.script = {scenario.opponent.script!r} is no script; allowed: {SCRIPT!r}.")
    if own := [name for name in ("incoming", "aim") if getattr(scenario, name) is not None]:
        raise ValueError(f"[{own[0]}] is of tasks without opponents; remove it from a match.")
    if scenario.start.posts_within_m is not None:
        raise ValueError("start.posts_within_m is of tasks without opponents; leave it out of a match.")
    if scenario.command != "acceleration":
        raise ValueError(f"command = {scenario.command!r} is of tasks without opponents; leave it out of a match.")
    behind = [x for x, _, _ in scenario.start.anchors_m if x <= 0]
    if behind:
        raise ValueError(f"start.anchors_m: x = {behind[0]:g} is not on the first team's half; make it larger than 0.")
