"""`SIMULATION` of volleyball matches."""

from typing import NamedTuple, cast

from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.core.types import Array, Figures
from robomarl.core.view import LocalView
from robomarl.domains.volleyball.lab.check import probe_of
from robomarl.domains.volleyball.lab.controllers.match import MatchLaw
from robomarl.domains.volleyball.lab.controllers.plays import PlayLaw
from robomarl.domains.volleyball.lab.match.env import make_env
from robomarl.domains.volleyball.lab.match.evaluation import NOBODY, play_row
from robomarl.domains.volleyball.lab.match.model import MATCH_MODEL
from robomarl.domains.volleyball.lab.match.scenario import SCRIPT, MatchScenario, check_scenario
from robomarl.domains.volleyball.lab.match.sim import compiled, make_matches
from robomarl.domains.volleyball.lab.match.staging import STAGING
from robomarl.domains.volleyball.lab.simulation import IMITATED
from robomarl.lab.evaluate.rows import table as lines
from robomarl.lab.probe import Probe
from robomarl.lab.scene.files import check_film
from robomarl.lab.sim.law import FlownLaw
from robomarl.lab.sim.model import TeamWorld
from robomarl.lab.simulation import Evaluated, Games, Imitated, Simulation

NET_M, BESIDE_M, LOW_M, HIGH_M = 0.3, 3.0, -9.0, 9.0
"""Room of a team for the safety filter: distance [m] from the net, beyond the court's lines, and heights [m]. It has no
floor: drones dive by 9 m/s^2 two metres above the ground, and a filter that assumes a delay of 0.2 s forbids that."""
THREE = 3
"""Robots of a team with a high level."""
COLUMNS = ("policy", "against", "sim", "filter", "win_rate", "win_rate_ci95", "draws", "hits_median", "collisions")
"""Columns of the table of `robomarl eval`."""


class NoMemory(NamedTuple):
    """Memory of the script."""


class ScriptedMatch:
    """The script as a team: `MatchLaw` with its first gains."""

    def __init__(self, scenario: MatchScenario, name: str) -> None:
        """Work out its gains; there is one script."""
        self._law = MatchLaw(scenario)

    def __call__(self, carry: NoMemory, view: LocalView) -> tuple[NoMemory, Array]:
        """(memory, view [..., N]) -> (memory, commands [..., N, 4])."""
        return carry, self._law.act(self._law.observation.observe((), view)[1])


def room_of(scenario: MatchScenario) -> Arena:
    """Return the half of a team as the safety filter keeps its robots in it: the net is a wall."""
    court = scenario.court
    far, aside = court.length_m / 2 + BESIDE_M, court.width_m / 2 + BESIDE_M
    return Arena((NET_M, -aside, LOW_M), (far, aside, HIGH_M))


def filter_params(scenario: MatchScenario, mates: int) -> SafetyParams:
    """Return the assumptions of the filters of one team."""
    return from_vehicle(scenario.vehicle_config, scenario.period_s, room_of(scenario), mates)


def table(rows: list[Figures]) -> str:
    """One line for each team."""
    return lines(rows, {name: name for name in COLUMNS})


SIMULATION = Simulation(
    scenario=MatchScenario,
    check_scenario=check_scenario,
    action=MATCH_MODEL.action,
    env=make_env,
    batch=make_matches,
    filter_params=filter_params,
    probe=lambda scenario: cast("Probe[MatchScenario, TeamWorld]", probe_of(scenario)),
    evaluation=Evaluated(row=play_row, table=table, nobody=NOBODY, check_film=check_film),
    controllers={"baseline": lambda scenario: FlownLaw(scenario, MatchLaw(scenario), MATCH_MODEL.action(scenario))},
    model=MATCH_MODEL,
    staging=STAGING,
    imitated=Imitated(
        law=lambda scenario: PlayLaw if scenario.count == THREE else MatchLaw,
        failed=MATCH_MODEL.ended,
        is_harsh=lambda scenario: False,
        harder=lambda scenario: scenario,
        errors=IMITATED.errors,
    ),
    games=Games(
        scripts={SCRIPT: ()},
        player=ScriptedMatch,
        no_memory=lambda zero: NoMemory(),
        with_rally=lambda scenario, rally_s: scenario,
        rally_steps=lambda scenario: 1,  # every rally begins with its serve
        variant=lambda scenario: scenario.court.length_m,
        observed_variant=lambda element: 0 * element("drone_position.x"),
        points=lambda world: (1 * (world.own.rally.score > 0.75), 1 * (world.own.rally.score < 0.25)),
        compiled=compiled,
    ),
)
