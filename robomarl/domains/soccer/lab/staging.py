"""`STAGING`: two teams, the ball and the pitch, as viewers show them."""

import numpy as np

from robomarl.domains.soccer.lab.evaluation.evaluate import as_trained, make_player
from robomarl.domains.soccer.lab.evaluation.picture import scene, standing
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.league.two_sides import BothSides
from robomarl.lab.scene.scene import SceneMoment, Staging


def moment(scenario: SoccerScenario, game: SoccerWorld, env: int) -> SceneMoment:
    """Return one game of a batch, now."""
    robots, ball = game.robots, game.ball
    x, y, c, s = (np.asarray(part)[env] for part in (robots.x, robots.y, robots.c, robots.s))
    ours, theirs = (int(np.asarray(goals)[env]) for goals in game.referee.goals)
    place = (float(np.asarray(ball.x)[env]), float(np.asarray(ball.y)[env]), scenario.ball.radius_m)
    shown = standing(float(np.asarray(game.step)[env]) * scenario.period_s, np.stack([x, y]), np.arctan2(s, c))
    return shown._replace(ball_m=np.array(place), caption=f"{ours} : {theirs}")


def moves(name: str, scenario: SoccerScenario, mode: str) -> tuple[SoccerScenario, BothSides]:
    """Return the game as its teams were trained, and both teams: the named one against the scenario's opponent.

    Raises:
        UserError: no team has that name, or a role that a script needs is missing.
    """
    ours = make_player(name, scenario, scenario.roles, mode)
    theirs = make_player(scenario.opponent.script, scenario, scenario.opponent.roles, mode)
    return as_trained(scenario, ours, theirs), BothSides(scenario, ours, theirs)


STAGING: Staging[SoccerScenario, SoccerWorld] = Staging(scene, moment, moves=moves)
