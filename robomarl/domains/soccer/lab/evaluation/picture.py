"""The pitch with both teams as viewers show it, and films of matches (.gif, .mp4) or their last moment (.png)."""

from pathlib import Path

import numpy as np

from robomarl.domains.soccer.lab.evaluation.match import Track
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sections import PitchConfig
from robomarl.lab.scene.looks import look_of
from robomarl.lab.scene.scene import RGB, Primitive, Scene, SceneMoment
from robomarl.lab.scene.solids import box_part, strip

BOARD_M, WIDTH_M = 0.1, 0.02
"""Height of the boards and width of the lines."""
CARPET: RGB = (38, 105, 55)
BOARD: RGB = (70, 74, 80)
LINE: RGB = (230, 235, 230)
BALL: RGB = (255, 130, 20)
TEAMS: tuple[RGB, RGB] = ((45, 95, 220), (245, 210, 50))
"""Ours and theirs."""


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


def film_match(track: Track, scenario: SoccerScenario, file: Path) -> None:
    """Write a film of the match, or one picture with the whole path of the ball.

    Raises:
        UserError: another suffix than .gif, .mp4 or .png, or the file can't be written.
    """
    from robomarl.lab.scene.film import write_film  # needs MuJoCo, which a match in `fast` does not

    moments = [played(track, step, scenario.ball.radius_m) for step in range(len(track.time_s))]
    write_film(scene(scenario), moments, file, scenario.name)


def played(track: Track, step: int, ball_m: float) -> SceneMoment:
    """Return one decision of a match; `ball_m` is the radius of the ball."""
    x, y, heading = track.robots_m[step].T
    ours, theirs = track.goals[step].astype(int)
    place = np.array([*track.ball_m[step], ball_m])
    return standing(float(track.time_s[step]), np.stack([x, y]), heading)._replace(
        ball_m=place, caption=f"{ours} : {theirs}"
    )


def standing(time_s: float, place_m: np.ndarray, heading_rad: np.ndarray) -> SceneMoment:
    """Return robots on the floor at places [2, M] with headings [M]."""
    zero, half_turn = heading_rad * 0, heading_rad / 2
    upright = np.stack([np.cos(half_turn), zero, zero, np.sin(half_turn)], -1)
    return SceneMoment(time_s, np.stack([*place_m, zero], -1), upright)
