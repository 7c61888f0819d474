"""Inputs of a player's filter beside the latest picture: opponents that went out of sight, and the
boards.

Array-generic; leading axes [...] are robots.
"""

import math
from dataclasses import replace
from typing import cast

import numpy as np

from robomarl.core.filter.memory import LARGE
from robomarl.core.filter.model.bodies import Strangers as Assumed
from robomarl.core.filter.model.constants import LARGE_M
from robomarl.core.filter.model.look_ahead import heading
from robomarl.core.filter.model.motion import TINY
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.filter.params import Arena, SafetyParams, intersect
from robomarl.core.geometry import components, namespace
from robomarl.core.hardware.vehicle import AnyVehicle, OmniRobot
from robomarl.core.types import Array
from robomarl.core.view import LocalView
from robomarl.domains.soccer.core.features import SoccerSensed, known_ball

CHANGES_M = 0.02
"""Part of the error of the own place that may be another one when a picture was taken."""
SLOWS_S = 0.8
"""Time constant [s] with which an opponent out of sight loses its speed while the ball's place is unknown."""
GOES_M_S2, GOES_M_S = 2.3, 1.6
"""Acceleration [m/s²] of an opponent out of sight on its way to the ball, and its largest speed [m/s]."""
ARRIVES_S = 0.5
"""It comes to the ball with the distance over this."""
OLDEST = 0.999
"""Share of `max_age_s` that the rows are told at most: more than that, by rounding too, would stop the robot."""
BEHIND_M = 0.07
"""How far behind the boards, and the error of the robot's place, the arena of a player ends: a board is no danger, so a
robot that does not know where it is may play there."""


def recall(
    params: SafetyParams, before: Strangers | tuple[()], view: LocalView
) -> tuple[LocalView, Strangers | tuple[()]]:
    """Return the filter's view, with opponents that were seen lately, and the present knowledge about
    opponents.

    The freshest sighting of each opponent counts: a teammate's report may be older than the own
    memory. For `strangers.max_age_s` the constraints assume that an opponent gets as far as it can.
    After that an opponent out of sight is assumed to go for the ball, or to slow down if the ball's
    place is unknown, until `strangers.remember_s`, or until the robot looks there and sees no
    opponent.

    Args:
        params: of the filter.
        before: knowledge at the last decision.
        view: its `sensed` has a row for each opponent, always for that opponent.
    """
    limits = params.strangers
    if limits is None:
        return view, ()
    sensed = cast(SoccerSensed, view.sensed)
    now = Strangers(*(getattr(sensed, f"strangers_{name}") for name in Strangers._fields))
    xp = namespace(now.pos_m)
    known = now._replace(mask=now.mask & ~(now.age_s > limits.max_age_s))  # so put that what is no number remains
    if isinstance(before, Strangers):
        old = _later(limits, before, view, params.period_s)
        newer = known.mask & ~(old.mask & (known.age_s > old.age_s))
        known = Strangers(*(xp.where(_fit(newer, a), a, b) for a, b in zip(known, old, strict=True)))
    else:
        newer, known = known.mask, Strangers(*(xp.asarray(part) for part in known))
    most = limits.max_age_s * OLDEST
    pos = _from_here(params, newer & sensed.strangers_seen, known.pos_m, view)
    told = known._replace(pos_m=pos, age_s=xp.where(known.age_s > most, most, known.age_s))
    view = view._replace(sensed=sensed._replace(**{f"strangers_{n}": part for n, part in told._asdict().items()}))
    # What is no number stops the robot now, but not for as long as it would be remembered.
    parts = xp.concatenate([known.pos_m, known.vel_m_s, known.age_s[..., None]], -1)
    sane = known.mask & (xp.abs(parts) < LARGE).all(-1)
    return view, Strangers(sane, *(xp.where(_fit(sane, part), part, 0.0) for part in known[1:]))


def _from_here(params: SafetyParams, seen: Array, pos_m: Array, view: LocalView) -> Array:
    """Return places [..., S, 3] as the rows take them: those that the own camera shows now, `seen`, farther off.

    The robot's own belief places what its camera shows, so the error of that belief, but for `CHANGES_M`, is in no
    distance between both, and rows count it everywhere. A place that is moved by e is at most e farther from anywhere,
    whichever way the robot goes: rows that ask for D + e of it ask for D, or more, of where it is. Reports of teammates
    and what is remembered were placed by another belief, so all of the error counts for these.
    """
    shared_m = max(params.safety.position_error_m - CHANGES_M, 0.0)
    if not shared_m:
        return pos_m
    xp, away = namespace(pos_m), pos_m - view.own.pos_m[..., None, :]
    share = shared_m / xp.sqrt((away * away).sum(-1) + TINY)
    return pos_m + xp.where(seen, share, 0.0)[..., None] * away


def _later(limits: Assumed, before: Strangers, view: LocalView, period_s: float) -> Strangers:
    """Return the earlier knowledge, one decision later."""
    xp, age = namespace(before.pos_m), before.age_s + period_s
    gone = age > limits.max_age_s
    pos, vel = before.pos_m, before.vel_m_s
    if xp is not np or gone.any():  # else nobody moves, and a decision on board need not work out how
        goes = xp.where(gone[..., None], _change(before, view), 0.0)
        pos, vel = pos + period_s * gone[..., None] * vel, vel + period_s * goes
    x, y, _ = components(pos - view.own.pos_m[..., None, :])
    ex, ey = heading(tuple(view.own.quat_wxyz[..., i, None] for i in range(4)), xp)
    hidden = x * ex + y * ey <= math.cos(limits.clear_rad) * xp.sqrt(x * x + y * y)
    lasts = age <= (limits.remember_s or limits.max_age_s)
    return Strangers(before.mask & lasts & (hidden | ~gone), pos, vel, age)


def _change(before: Strangers, view: LocalView) -> Array:
    """Return the acceleration [..., S, 3] of opponents out of sight [m/s^2]: for the ball, or slower if the ball is
    unknown.
    """
    xp = namespace(before.pos_m)
    known, ball, _ = known_ball(cast(SoccerSensed, view.sensed))
    known = known & (xp.abs(ball) < LARGE).all(-1)
    wish = _at_most((ball[..., None, :] - before.pos_m) / ARRIVES_S, GOES_M_S)
    towards = _at_most((wish - before.vel_m_s) / ARRIVES_S, GOES_M_S2)
    return xp.where(known[..., None, None], towards, -before.vel_m_s / SLOWS_S)


def _at_most(vector: Array, size: float) -> Array:
    """The vector, shortened to that size."""
    xp = namespace(vector)
    long = xp.sqrt((vector * vector).sum(-1) + TINY)
    return vector * xp.minimum(size / long, 1.0)[..., None]


def _fit(mask: Array, like: Array) -> Array:
    return mask[..., None] if like.ndim > mask.ndim else mask


def boards_of(pitch_m: tuple[float, float], radius_m: float) -> tuple[float, float]:
    """`SafetyParams.boards_m` of a robot of this radius [m] on a field of this length and width [m]."""
    return pitch_m[0] / 2 - radius_m, pitch_m[1] / 2 - radius_m


def at_place(params: SafetyParams, vehicle: AnyVehicle, pitch_m: tuple[float, float]) -> SafetyParams:
    """The robot's parameters with the boards of the pitch that it plays on; zeros: those of the bundle hold."""
    if not any(pitch_m) or not isinstance(vehicle, OmniRobot):
        return params
    return replace(params, boards_m=boards_of(pitch_m, vehicle.body.radius_m))


def before_boards(params: SafetyParams) -> SafetyParams:
    """The parameters with an arena that ends a little behind the boards, and so allows little speed at them.

    A board throws a robot back with 0.14 of its speed, and one that presses the ball against a board comes back with a
    third: no command keeps it from an opponent behind it then. With `BEHIND_M` it arrives with 0.25 m/s if it knows its
    place, and faster by what it is off.
    """
    if params.boards_m is None:
        return params
    ends = tuple(half + BEHIND_M + params.safety.position_error_m for half in params.boards_m)
    walls = Arena((-ends[0], -ends[1], -LARGE_M), (ends[0], ends[1], LARGE_M))
    return replace(params, arena=intersect(params.arena, walls))
