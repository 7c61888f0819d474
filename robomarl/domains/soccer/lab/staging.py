"""`STAGING`: two teams, the ball and the pitch, as viewers show them."""

import numpy as np

from robomarl.domains.soccer.lab.evaluation.evaluate import as_trained, make_player
from robomarl.domains.soccer.lab.evaluation.match import BothSides
from robomarl.domains.soccer.lab.evaluation.picture import BALL, LINE, TEAMS
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import PitchConfig
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment, Staging
from robomarl.lab.scene.solids import box_part, strip

BOARD_M, WIDTH_M = 0.1, 0.02
"""Height of the boards and width of the lines."""
CARPET: RGB = (38, 105, 55)
BOARD: RGB = (70, 74, 80)


def scene(scenario: SoccerScenario) -> Scene:
    """Return the pitch with both teams, ours first."""
    pitch, ours = scenario.field, scenario.count
    theirs = scenario.players - ours
    half, side = pitch.length_m / 2, pitch.width_m / 2
    return Scene(
        names=(*(f"ours_{k}" for k in range(ours)), *(f"theirs_{k}" for k in range(theirs))),
        colours=(TEAMS[0],) * ours + (TEAMS[1],) * theirs,
        looks=(look_of(scenario.robot),) * (ours + theirs),
        low_m=(-half, -side, 0.0),
        high_m=(half, side, 0.5),
        period_s=scenario.period_s,
        solids=pitch_parts(pitch),
        ball=Primitive("sphere", (scenario.ball.radius_m, 0, 0), rgb=BALL),
        flat=True,
    )


def pitch_parts(pitch: PitchConfig) -> tuple[Primitive, ...]:
    """Return the carpet, its lines, the boards and the goals in the colours of the teams that defend them."""
    half, side, post = pitch.length_m / 2, pitch.width_m / 2, pitch.goal_width_m / 2
    parts = [
        box_part((-half, -side, -0.01), (half, side, 0.0), CARPET),
        strip((0, -side), (0, side), WIDTH_M, LINE),
        box_part((-half, side, 0), (half, side + WIDTH_M, BOARD_M), BOARD),
        box_part((-half, -side - WIDTH_M, 0), (half, -side, BOARD_M), BOARD),
    ]
    for sign, team in ((-1, 0), (1, 1)):
        near, far = sorted((sign * half, sign * (half + WIDTH_M)))
        parts.append(box_part((near, -post, 0), (far, post, 1.5 * BOARD_M), TEAMS[team]))
        parts.append(box_part((near, post, 0), (far, side, BOARD_M), BOARD))
        parts.append(box_part((near, -side, 0), (far, -post, BOARD_M), BOARD))
    return tuple(parts)


def moment(scenario: SoccerScenario, game: SoccerWorld, env: int) -> SceneMoment:
    """Return one game of a batch, now."""
    robots, ball = game.robots, game.ball
    x, y, c, s = (np.asarray(part)[env] for part in (robots.x, robots.y, robots.c, robots.s))
    half_turn, zero = np.arctan2(s, c) / 2, x * 0
    ours, theirs = (int(np.asarray(goals)[env]) for goals in game.referee.goals)
    place = (float(np.asarray(ball.x)[env]), float(np.asarray(ball.y)[env]), scenario.ball.radius_m)
    return SceneMoment(
        time_s=float(np.asarray(game.step)[env]) * scenario.period_s,
        pos_m=np.stack([x, y, zero], -1),
        quat_wxyz=np.stack([np.cos(half_turn), zero, zero, np.sin(half_turn)], -1),
        ball_m=np.array(place),
        caption=f"{ours} : {theirs}",
    )


def moves(name: str, scenario: SoccerScenario, mode: str) -> tuple[SoccerScenario, BothSides]:
    """Return the game as its teams were trained, and both teams: the named one against the scenario's opponent.

    Raises:
        UserError: no team has that name, or a role that a script needs is missing.
    """
    ours = make_player(name, scenario, scenario.roles, mode)
    theirs = make_player(scenario.opponent.script, scenario, scenario.opponent.roles, mode)
    return as_trained(scenario, ours, theirs), BothSides(scenario, ours, theirs)


STAGING: Staging[SoccerScenario, SoccerWorld] = Staging(scene, moment, moves=moves)
