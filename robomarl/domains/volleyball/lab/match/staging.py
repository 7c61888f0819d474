"""`STAGING`: two teams on the court, as viewers and films show them."""

from dataclasses import replace

import numpy as np

from robomarl.domains.volleyball.lab import staging as of_one_team
from robomarl.domains.volleyball.lab.match.players import make_players
from robomarl.domains.volleyball.lab.match.scenario import MatchScenario
from robomarl.lab.league.two_sides import BothSides
from robomarl.lab.scene import of_model
from robomarl.lab.scene.scene import RGB, Scene, SceneMoment, Staging
from robomarl.lab.sim.model import TeamWorld

TEAMS: tuple[RGB, RGB] = ((45, 95, 220), (225, 75, 40))
"""Colours of the two teams, the first one's first."""


def scene(scenario: MatchScenario) -> Scene:
    """Return the court, its net and the drones of both teams."""
    plain, count = of_one_team.scene(scenario), scenario.count
    names = (*(f"ours_{k}" for k in range(count)), *(f"theirs_{k}" for k in range(count)))
    colours = (TEAMS[0],) * count + (TEAMS[1],) * count
    return replace(plain, names=names, colours=colours, looks=2 * plain.looks, goals=False)


def moment(scenario: MatchScenario, world: TeamWorld, env: int) -> SceneMoment:
    """Return one match of a batch, now."""
    rally, shown = world.own.rally, of_model.moment(scenario, world, env)
    hits, score = (np.asarray(value)[env] for value in (rally.hits, rally.score))
    result = {1.0: ", won by the blue team", 0.0: ", won by the red team"}.get(float(score), "")
    caption = f"{int(hits)} hits{result}"
    return shown._replace(caption=caption, ball_m=np.asarray(world.own.ball_pos_m, float)[env])


def moves(name: str, scenario: MatchScenario, mode: str) -> tuple[MatchScenario, BothSides]:
    """Return the match, and both teams: the named one, or the script, against the scenario's opponent.

    Raises:
        UserError: no team has that name.
    """
    script = scenario.opponent.script
    return scenario, BothSides(scenario, *make_players(name or script, script, scenario, mode))


STAGING: Staging[MatchScenario, TeamWorld] = Staging(scene, moment, moves=moves)
