"""`SIMULATION` of robot soccer."""

from collections.abc import Callable
from dataclasses import replace

from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import Picture8
from robomarl.core.types import Figures
from robomarl.domains.soccer.lab.batch import SoccerSim, make_soccer
from robomarl.domains.soccer.lab.check import PROBE
from robomarl.domains.soccer.lab.controllers import SCRIPTS
from robomarl.domains.soccer.lab.controllers.scripted_teams import ScriptedTeam
from robomarl.domains.soccer.lab.controllers.skills import no_belief
from robomarl.domains.soccer.lab.env import SoccerEnv
from robomarl.domains.soccer.lab.safety.filter_params import player_params
from robomarl.domains.soccer.lab.scenario import SoccerScenario, check_roles, check_scenario
from robomarl.domains.soccer.lab.staging import STAGING
from robomarl.domains.soccer.lab.task import action
from robomarl.lab.evaluate.evaluation import EvalRow
from robomarl.lab.plants.flight import Plant
from robomarl.lab.scene.files import check_film
from robomarl.lab.sim.scenario import RateConfig
from robomarl.lab.sim.starts import Starts
from robomarl.lab.simulation import Evaluated, Games, Measured, RowOptions, Simulation


def make_env(
    scenario: SoccerScenario, sim: str, weights: dict[str, float] | None, safety: str, starts: Starts | None
) -> SoccerEnv:
    """A game in JAX, which has one engine."""
    return SoccerEnv(scenario, weights, safety, starts)


def with_rally(scenario: SoccerScenario, rally_s: float) -> SoccerScenario:
    """Return the scenario with another length of a rally."""
    return replace(scenario, rules=replace(scenario.rules, rally_s=rally_s))


def response_parameters(scenario: SoccerScenario) -> tuple[str, ...]:
    """Return the parameters of the section `randomize` that affect a robot."""
    from robomarl.domains.soccer.lab.safety.plants import felt_by_players

    return felt_by_players(scenario)


def moves_alike(scenario: SoccerScenario) -> tuple[RateConfig, bool]:
    """The rates; nothing is carried."""
    return scenario.rates, False


def plant(scenario: SoccerScenario, flights: int, seed: int, threads: int) -> Plant:
    """Return `flights` robots, each alone."""
    from robomarl.domains.soccer.lab.safety.plants import Players

    return Players(scenario, flights, seed, threads)


def row(name: str, options: RowOptions, is_first: bool) -> EvalRow:
    """Return the result of `robomarl eval` for one team."""
    from robomarl.domains.soccer.lab.evaluation.evaluate import play_row

    return play_row(name, options, is_first)


def pictures(scenario: SoccerScenario, camera: PinholeCamera, count: int, seed: int) -> Picture8:
    """Return pictures of robots' cameras at the starts of games, by MuJoCo's renderer."""
    from robomarl.domains.soccer.lab.engines.robot_cameras import pictures_at_starts

    return pictures_at_starts(scenario, camera, count, seed)


def table(rows: list[Figures]) -> str:
    """One line for each team."""
    from robomarl.lab.evaluate.rows import table as lines

    return lines(rows, {name: name for name in COLUMNS})


def compiled(scenario: SoccerScenario) -> Callable[[int, int], SoccerSim]:
    """Return the function that makes games on the compiled engine."""
    from robomarl.domains.soccer.lab.engines.compiled import compiled_games

    return compiled_games(scenario)


def check_script(scenario: SoccerScenario, name: str) -> None:
    """Check that both sides have the roles that the script needs; raises `UserError` where one is missing."""
    for roles in (scenario.roles, scenario.opponent.roles):
        check_roles(name, roles, f"{scenario.name}.toml")


COLUMNS = ("policy", "against", "sim", "goals_for", "goals_against", "goals_for_share", "win_rate", "impacts")
"""Columns of the table of `robomarl eval`."""
SIMULATION = Simulation(
    scenario=SoccerScenario,
    check_scenario=check_scenario,
    action=action,
    env=make_env,
    batch=make_soccer,
    filter_params=player_params,
    probe=lambda scenario: PROBE,
    evaluation=Evaluated(
        row=row,
        table=table,
        nobody="Name at least one team: a bundle, a run folder, or a script, chaser or keeper.",
        check_film=check_film,
    ),
    measured=Measured(response_parameters, moves_alike, plant),
    games=Games(
        SCRIPTS,
        ScriptedTeam,
        no_belief,
        with_rally,
        rally_steps=lambda scenario: scenario.rally_steps,
        variant=lambda scenario: scenario.field.length_m,
        # Both elements have the error of the own pose, which their sum has not.
        observed_variant=lambda element: 2 * (element("own_motion.x") + element("goal_ahead.dx")),
        points=lambda game: game.referee.goals,
        compiled=compiled,
        check_script=check_script,
    ),
    staging=STAGING,
    pictures=pictures,
    all_seeing=lambda scenario: 'sees = "all"' if scenario.sees == "all" else "",
)
