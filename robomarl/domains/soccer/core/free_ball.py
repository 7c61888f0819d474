"""`freeing`: the command of a player that gets a lying ball away by a kick, aimed or not. Array-generic.

A kick in any direction frees a ball. Of directions about the ball the cheapest is taken: near the robot's own line to
the ball, towards their goal rather than the own one, not at a board at a right angle, which throws the ball back to the
robot, not at an opponent, and so that the robot has room behind the ball. The robot goes round the ball until it is
behind it in that direction, drives at it, and kicks. Leading axes [...] are robots.
"""

from typing import NamedTuple, cast

import numpy as np

from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed, heading

TURNS = np.arange(-12, 13) * np.pi / 12
"""[K] directions, as angles [rad] from the robot's line to the ball."""
TOUCH_M = 0.095
"""Distance [m] of the robot's centre from a ball that its kicker touches (docs of the vehicle: 0.073 + 0.0215 m)."""
GOAL_COST, OWN_COST, OPPONENT_COST, BOARD_COST = 0.2, 6.0, 0.5, 7.5
"""Cost, in radians of the way round the ball, of 1 minus the cosine to their goal, and of each unit of cosine beyond
`OWN_COS` to the own goal, beyond `HIT_COS` to an opponent, over the rest to 1, and beyond `HIT_COS` to a board.
"""
OWN_COS, HIT_COS = 0.6, 0.8
OWN_M = 3.0
"""The own goal counts from this near."""
NEAR_M, BOARD_M = 0.6, 0.3
"""Opponents and boards nearer to the ball than this count."""
MOUTH_M = 0.3
"""Half of the width [m] of their goal's mouth, in which there is no board."""
OWN_MOUTH_M = 0.4
"""The robot does not kick if the ball would cross the own goal line nearer to the goal's middle than this [m]."""
ROOM_COST_PER_M, ROOM_M = 150.0, 0.006
"""Cost of each metre [rad/m] by which a robot behind the ball would stand in a board, and the distance it keeps."""
LINED_UP_RAD, STEP_RAD = 0.3, 0.7
"""The robot drives at the ball if it is this near to its line, else round it by this angle ahead of itself."""
ROUND_M, PRESS_M = 0.05, 0.03
"""It goes round the ball this far from touching it, and drives this far into it."""
SPEED_M_S, GAIN_PER_S, TURN_PER_S, TURN_RAD_S = 0.8, 5.0, 6.0, 10.0
"""Largest speed, gain of distance and speed, gain of the heading, and largest yaw rate."""
KICK_M_S, FACING_COS = 6.0, 0.6
"""Kick speed, and the cosine of the heading to the direction above which the robot may kick."""


class KickAims(NamedTuple):
    """Directions of a kick, [..., K] each, and their costs."""

    x: Array
    y: Array
    cost: Array
    """[rad]"""


def freeing(view: LocalView, ball: Array, params: SafetyParams) -> Array:
    """[..., 4] command of a player that frees the ball at [..., 3] m, in the team's field frame."""
    xp = namespace(ball)
    dx, dy = ball[..., 0] - view.own.pos_m[..., 0], ball[..., 1] - view.own.pos_m[..., 1]
    away = xp.sqrt(dx * dx + dy * dy + 1e-9)
    line = dx / away, dy / away
    kicks = _aims(view, ball, line, params)
    best = xp.argmin(kicks.cost, -1)[..., None]
    ux, uy = (xp.take_along_axis(part, best, -1)[..., 0] for part in kicks[:2])
    off = xp.arctan2(dx * uy - dy * ux, dx * ux + dy * uy)
    lined_up = xp.abs(off) < LINED_UP_RAD
    to, gap = off - xp.clip(off, -STEP_RAD, STEP_RAD), xp.where(lined_up, TOUCH_M - PRESS_M, TOUCH_M + ROUND_M)
    ex = dx - gap * (ux * xp.cos(to) + uy * xp.sin(to))
    ey = dy - gap * (uy * xp.cos(to) - ux * xp.sin(to))
    size = xp.sqrt(ex * ex + ey * ey + 1e-9)
    speed = xp.minimum(SPEED_M_S, GAIN_PER_S * size)
    ax, ay = (GAIN_PER_S * (speed * e / size - view.own.vel_m_s[..., i]) for i, e in enumerate((ex, ey)))
    c, s = heading(view)
    error = xp.arctan2(c * line[1] - s * line[0], c * line[0] + s * line[1])
    kick = xp.where((c * ux + s * uy > FACING_COS) & ~_at_own_goal(view, ball, (c, s)), KICK_M_S, 0.0)
    return xp.stack([ax, ay, xp.clip(TURN_PER_S * error, -TURN_RAD_S, TURN_RAD_S), kick], -1)


def _at_own_goal(view: LocalView, ball: Array, line: tuple[Array, Array]) -> Array:
    """[...] bool: a kick along a heading (cosine, sine) leads into the own goal or less than `OWN_MOUTH_M` from its
    middle, or the goal is near and its middle within the angle of `OWN_COS`.
    """
    (c, s), xp = line, namespace(ball)
    x, y = (-view.goal.pos_m[..., i] - ball[..., i] for i in range(2))
    square = x * x + y * y
    near = (square < OWN_M**2) & (c * x + s * y > OWN_COS * xp.sqrt(square))
    return near | (xp.abs(s * x - c * y) < -c * OWN_MOUTH_M)


def _aims(view: LocalView, ball: Array, line: tuple[Array, Array], params: SafetyParams) -> KickAims:
    """Return directions about the ball and their costs."""
    xp, cos, sin = namespace(ball), np.cos(TURNS), np.sin(TURNS)
    lx, ly = (part[..., None] for part in line)
    x, y = lx * cos - ly * sin, lx * sin + ly * cos
    goal = view.goal.pos_m[..., :2]
    tx, ty = _unit(goal - ball[..., :2])
    own = -goal - ball[..., :2]
    ox, oy = _unit(own)
    danger = ((own * own).sum(-1) < OWN_M**2)[..., None]
    cost = np.abs(TURNS) + GOAL_COST * (1 - (x * tx + y * ty))
    cost = cost + OWN_COST * xp.where(danger, xp.clip(x * ox + y * oy - OWN_COS, 0.0, 1.0), 0.0)
    cost = cost + _of_opponents(view, ball, x, y) + _of_boards(ball, x, y, params)
    return KickAims(x, y, cost)


def _of_opponents(view: LocalView, ball: Array, x: Array, y: Array) -> Array:
    """[..., K] cost of directions at opponents."""
    xp, sensed = namespace(ball), cast(SoccerSensed, view.sensed)
    off = sensed.strangers_pos_m[..., :2] - ball[..., None, :2]
    near = sensed.strangers_mask & ((off * off).sum(-1) < NEAR_M**2)
    ox, oy = (part[..., 0][..., None, :] for part in _unit(off))
    at = xp.clip(x[..., None] * ox + y[..., None] * oy - HIT_COS, 0.0, 1.0)
    return OPPONENT_COST / (1 - HIT_COS) * xp.where(near[..., None, :], at, 0.0).max(-1, initial=0.0)


def _of_boards(ball: Array, x: Array, y: Array, params: SafetyParams) -> Array:
    """[..., K] cost of directions at boards, and of those behind which a robot has no room."""
    xp, cost = namespace(ball), 0 * x
    if params.boards_m is None or params.strangers is None:
        return cost
    mouth = (ball[..., 0] > 0) & (xp.abs(ball[..., 1]) < MOUTH_M), ball[..., 0] > xp.inf
    axes = zip((ball[..., 0], ball[..., 1]), (x, y), params.boards_m, mouth, strict=True)
    for place, part, half, free in axes:
        side = xp.where(place > 0, 1.0, -1.0)[..., None]
        near = half + params.strangers.separation_m / 2 - xp.abs(place) < BOARD_M
        near = near & ~free
        cost = cost + BOARD_COST * xp.where(near[..., None], xp.clip(part * side - HIT_COS, 0.0, 1.0), 0.0)
        beyond = xp.abs(place[..., None] - TOUCH_M * part) - (half - ROOM_M)
        cost = cost + ROOM_COST_PER_M * xp.maximum(beyond, 0.0)
    return cost


def _unit(vector: Array) -> tuple[Array, Array]:
    """[..., 1] each: components of vectors [..., 2], brought to length 1."""
    xp = namespace(vector)
    size = xp.sqrt((vector * vector).sum(-1) + 1e-9)
    return (vector[..., 0] / size)[..., None], (vector[..., 1] / size)[..., None]
