"""Teams of a match by name: the script, or a policy behind its filters."""

from robomarl.core.config import UserError
from robomarl.domains.volleyball.lab.match.scenario import SCRIPT, MatchScenario
from robomarl.lab.evaluate.resolve import is_controller, resolve_policy
from robomarl.lab.league.two_sides import PilotedTeam, Player, ScriptTeam
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.simulation import simulation_of


def match_of(name: str, scenario: str | None) -> MatchScenario:
    """The match of that name, or the one that the team was trained for; raises `UserError` where there is none."""
    if scenario:
        return load_scenario(scenario, MatchScenario)
    if name == SCRIPT:
        raise UserError(f"The script {name!r} belongs to no scenario; add --scenario NAME.")
    return resolve_policy(name, kind=MatchScenario)[1]


def make_players(name: str, against: str, scenario: MatchScenario, mode: str) -> tuple[Player, Player]:
    """Both teams; raises `UserError` where there is none of that name."""
    return make_player(name, scenario, mode), make_player(against, scenario, mode)


def make_player(name: str, scenario: MatchScenario, mode: str) -> Player:
    """The team of that name: the script without a filter, or a policy behind its filters."""
    if name == SCRIPT:
        games = simulation_of(scenario).games
        assert games is not None, "matches are games"
        return ScriptTeam(games, scenario, name)
    policy, own = resolve_policy(name, scenario.name if is_controller(name) else None)
    if own.task != scenario.task:
        raise UserError(f"{name} was trained for {own.name}, and {scenario.name} is another match.")
    return PilotedTeam(policy, scenario, mode)
