"""Parts of the scripted soccer teams: belief about the ball, driving, and shooting. Array-generic.

Vectors are pairs of components [...], in the field frame of the robot's own team.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed, freshest, heading
from robomarl.domains.soccer.lab.scenario import SoccerScenario

Vec2 = tuple[Array, Array]

FORGET_S = 3.0
"""Time [s] without a sighting after which a robot looks for the ball."""
SEARCH_RAD_S = 3.0
"""How fast a robot turns when it looks for the ball."""
SLOWDOWN_PER_S = 0.6
"""Assumed rate [1/s] at which a rolling ball loses its speed, as a fraction of the speed."""
PRESSED_M = 0.45
"""An opponent that is nearer to the ball than this presses."""
DRIVE_PER_S = 5.0
"""Acceleration over error in velocity."""
TURN_PER_S = 6.0
"""Yaw rate over error in heading."""


class Belief(NamedTuple):
    """Believed state of the ball: the memory of a scripted player, [...] each."""

    x: Array
    y: Array
    vx: Array
    vy: Array
    age_s: Array
    """Time [s] since the ball was last seen by the robot or by a teammate."""


class Move(NamedTuple):
    """Intended move of a player, [...] each."""

    target: Vec2
    """Target place [m]."""
    face: Vec2
    """Direction to look in, of any length."""
    kick: Array
    """Kick speed [m/s] if the ball comes to the face; 0 for none."""


def no_belief(zero: Array) -> Belief:
    """Return the belief without knowledge: the ball may be in the middle, as at the start."""
    return Belief(zero, zero, zero, zero, zero)


def believe(scenario: SoccerScenario, before: Belief, view: LocalView) -> Belief:
    """Return the belief one decision later: from the robot's own picture, else a teammate's report, else memory."""
    xp, sensed = namespace(before.x), view.sensed
    assert isinstance(sensed, SoccerSensed), "a player senses soccer"
    dt_s = scenario.period_s
    keep = 1 - SLOWDOWN_PER_S * dt_s
    kept = Belief(
        before.x + dt_s * before.vx,
        before.y + dt_s * before.vy,
        before.vx * keep,
        before.vy * keep,
        before.age_s + dt_s,
    )
    pick = freshest(sensed.told_mask, sensed.told_age_s)
    pos, vel = ((pick[..., None] * part).sum(-2) for part in (sensed.told_pos_m, sensed.told_vel_m_s))
    told = _carried(pos, vel, (pick * sensed.told_age_s).sum(-1))
    fresh = sensed.told_mask.any(-1) & (told.age_s < kept.age_s)
    known = Belief(*(xp.where(fresh, a, b) for a, b in zip(told, kept, strict=True)))
    seen = _carried(sensed.ball_pos_m, sensed.ball_vel_m_s, sensed.ball_age_s)
    found = Belief(*(xp.where(sensed.ball_mask, a, b) for a, b in zip(seen, known, strict=True)))
    ends, sides = scenario.field.length_m / 2, scenario.field.width_m / 2
    return found._replace(x=xp.clip(found.x, -ends, ends), y=xp.clip(found.y, -sides, sides))


def _carried(pos: Array, vel: Array, age_s: Array) -> Belief:
    """A sighting, carried forward over its age."""
    now = pos + vel * age_s[..., None]
    return Belief(now[..., 0], now[..., 1], vel[..., 0], vel[..., 1], age_s)


def own_place(view: LocalView) -> Vec2:
    """Return the place of the robot."""
    return view.own.pos_m[..., 0], view.own.pos_m[..., 1]


def goal_place(view: LocalView) -> Vec2:
    """The middle of the goal that the robot attacks."""
    return view.goal.pos_m[..., 0], view.goal.pos_m[..., 1]


def minus(a: Vec2, b: Vec2) -> Vec2:
    """Difference."""
    return a[0] - b[0], a[1] - b[1]


def length(a: Vec2) -> Array:
    """Length of a vector, never 0."""
    return namespace(*a).sqrt(a[0] * a[0] + a[1] * a[1] + 1e-9)


def ahead(belief: Belief, seconds: Array | float) -> Vec2:
    """Return the place of the ball after a short time."""
    return belief.x + belief.vx * seconds, belief.y + belief.vy * seconds


def shoot(scenario: SoccerScenario, view: LocalView, belief: Belief, aim: Vec2, hurry: Array | None = None) -> Move:
    """Get behind the ball, round it if need be, and drive through it when it is in line with the aim.

    Args:
        scenario: fixed numbers.
        view: of the robot.
        belief: where the ball is.
        aim: where the ball shall go [m].
        hurry: kick as soon as the ball is at the face and the robot looks ahead.
    """
    xp, me = namespace(belief.x), own_place(view)
    away = length(minus((belief.x, belief.y), me))
    ball = ahead(belief, xp.minimum(0.12 + 0.35 * away, 0.6))
    size = length(minus(aim, ball))
    line = minus(aim, ball) if hurry is None else off_boards(scenario, belief, minus(aim, ball))
    dx, dy = line[0] / length(line), line[1] / length(line)
    off = minus(me, ball)
    along, across = off[0] * dx + off[1] * dy, off[1] * dx - off[0] * dy
    touch = scenario.kicker.face_m + scenario.ball.radius_m
    side = xp.where(across >= 0, 1.0, -1.0)
    behind = along < -0.6 * touch
    lined_up = behind & (xp.abs(across) < 0.035 + 0.10 * xp.maximum(-along - touch, 0.0))
    swing = xp.where(behind, 0.0, 2.2 * touch) * side
    back = xp.where(lined_up, 0.4 * touch - touch, -1.35 * touch - 0.5 * xp.minimum(xp.abs(across), 0.3))
    back = xp.where(behind, back, -1.2 * touch)
    target = ball[0] + back * dx - swing * dy, ball[1] + back * dy + swing * dx
    c, s = heading(view)
    straight = xp.abs(c * dy - s * dx) < xp.clip(0.2 / size, 0.06, 0.14)
    ready = lined_up & straight & (c * dx + s * dy > 0)
    if hurry is not None:
        ready = ready | (hurry & (c * dx + s * dy > 0.5))
    near = away < 0.45
    face = tuple(xp.where(near & behind, d, b) for d, b in zip((dx, dy), minus(ball, me), strict=True))
    return Move(target, (face[0], face[1]), xp.where(ready, scenario.kicker.max_speed_m_s, 0.0))


def off_boards(scenario: SoccerScenario, belief: Belief, line: Vec2) -> Vec2:
    """The direction to play the ball in, turned towards a board that it lies at: along a board no face gets at it.

    At a side the ball goes forwards; at an end towards their goal, or away from our own.
    """
    xp, near = namespace(belief.x), 1.3 * scenario.robot.body.radius_m
    end = xp.abs(belief.x) > scenario.field.length_m / 2 - near
    side = xp.abs(belief.y) > scenario.field.width_m / 2 - near
    up, out = xp.where(belief.y > 0, 1.0, -1.0), xp.where(belief.x > 0, 1.0, -1.0)
    dx = xp.where(end, out, xp.where(side, 1.0, line[0]))
    dy = xp.where(side, up, xp.where(end, -out * up, line[1]))
    return dx, dy


def is_pressed(scenario: SoccerScenario, view: LocalView, belief: Belief) -> Array:
    """[...] bool: an opponent is near the ball, or a board: no time to aim, or no room to get behind the ball."""
    sensed = view.sensed
    assert isinstance(sensed, SoccerSensed), "a player senses soccer"
    off = [sensed.strangers_pos_m[..., i] - (belief.x, belief.y)[i][..., None] for i in range(2)]
    close = (sensed.strangers_mask & (length((off[0], off[1])) < PRESSED_M)).any(-1)
    xp, room = namespace(belief.x), 2 * scenario.robot.body.radius_m
    board = xp.maximum(xp.abs(belief.x) - scenario.field.length_m / 2, xp.abs(belief.y) - scenario.field.width_m / 2)
    return close | (board > -room)


def carry_out(scenario: SoccerScenario, view: LocalView, belief: Belief, move: Move) -> Array:
    """[..., 4] the command of a move; a robot that has lost the ball turns on the spot to find it."""
    xp, limits = namespace(belief.x), scenario.robot.limits
    room = scenario.field.length_m / 2 - 0.1, scenario.field.width_m / 2 - 0.1
    target = tuple(xp.clip(part, -limit, limit) for part, limit in zip(move.target, room, strict=True))
    way = minus((target[0], target[1]), own_place(view))
    away = length(way)
    accel = min(limits.accel_max_m_s2[:2])
    speed = xp.minimum(0.95 * limits.speed_m_s, xp.minimum(4.0 * away, xp.sqrt(1.2 * accel * away)))
    lost = belief.age_s > FORGET_S
    speed = xp.where(lost, 0.0, speed)
    wanted = way[0] / away * speed, way[1] / away * speed
    push = avoid_mates(view)
    ax, ay = (DRIVE_PER_S * (w - view.own.vel_m_s[..., i]) + push[i] for i, w in enumerate(wanted))
    c, s = heading(view)
    error = xp.arctan2(c * move.face[1] - s * move.face[0], c * move.face[0] + s * move.face[1])
    turn = xp.where(lost, SEARCH_RAD_S, TURN_PER_S * error)
    command = xp.stack([ax, ay, turn, move.kick + 0 * ax], -1)
    low, high = scenario.command_limits
    return xp.clip(command, low, high).astype(np.float32)


def avoid_mates(view: LocalView) -> Vec2:
    """Acceleration away from team-mates that are too near [m/s^2]."""
    xp, heard = namespace(view.own.pos_m), view.heard
    off = view.own.pos_m[..., None, :2] - heard.pos_m[..., :2]
    away = xp.sqrt((off * off).sum(-1) + 1e-6)
    push = xp.where(heard.mask, 8.0 * xp.maximum(0.4 - away, 0.0), 0.0) / away
    return (push * off[..., 0]).sum(-1), (push * off[..., 1]).sum(-1)


def is_nearest(view: LocalView, belief: Belief) -> Array:
    """[...] bool: no team-mate that is heard is nearer to where the ball is believed to be."""
    xp, heard = namespace(belief.x), view.heard
    mine = length(minus((belief.x, belief.y), own_place(view)))
    dx, dy = heard.pos_m[..., 0] - belief.x[..., None], heard.pos_m[..., 1] - belief.y[..., None]
    theirs = xp.where(heard.mask, xp.sqrt(dx * dx + dy * dy + 1e-9), xp.inf)
    return (mine[..., None] <= theirs + 0.02).all(-1)
