"""What a player's filter reads beside the latest picture: opponents that went out of sight, and boards ahead.

Array-generic; leading axes [...] are robots.
"""

import math
from dataclasses import replace
from typing import Any

from robomarl.geometry import components, namespace
from robomarl.hardware_configs.vehicle import AnyVehicle, OmniRobot
from robomarl.safety.memory import LARGE
from robomarl.safety.model.bodies import Strangers as Assumed
from robomarl.safety.model.look_ahead import heading
from robomarl.safety.model.strangers import Strangers
from robomarl.safety.params import SafetyParams
from robomarl.types import Array
from robomarl.view import LocalView

SLOWS_S = 0.8
"""Who is out of sight loses its speed with this time constant: it may have turned."""
OLDEST = 0.999
"""Share of `max_age_s` that the rows are told at most: more than that, by rounding too, would stop the robot."""
STOPS_S = 0.3
"""As long as a player needs to brake from what boards leave of its speed: 0.6 m/s at 2 m/s^2."""


def recall(
    params: SafetyParams, before: Strangers | tuple[()], view: LocalView
) -> tuple[LocalView, Strangers | tuple[()]]:
    """What the filter is to read, with opponents that were seen lately, and what is known of them now.

    The freshest sighting of each opponent counts: what a team-mate says may be older than what is remembered. For
    `strangers.max_age_s` the rows let whom they hold get as far as it can. After that one who is out of sight is
    taken to go on as it went, until `strangers.remember_s`, or until the robot looks there and sees nobody.

    Args:
        params: of the filter.
        before: what was known at the last decision.
        view: its `sensed` has a row for each opponent, the same one at all times.
    """
    limits = params.strangers
    if limits is None:
        return view, ()
    sensed: Any = view.sensed
    now = Strangers(*(getattr(sensed, f"strangers_{name}") for name in Strangers._fields))
    xp = namespace(now.pos_m)
    known = now._replace(mask=now.mask & ~(now.age_s > limits.max_age_s))  # so put that what is no number remains
    if isinstance(before, Strangers):
        old = _later(limits, before, view, params.period_s)
        newer = known.mask & ~(old.mask & (known.age_s > old.age_s))
        known = Strangers(*(xp.where(_fit(newer, a), a, b) for a, b in zip(known, old, strict=True)))
    else:
        known = Strangers(*(xp.asarray(part) for part in known))
    most = limits.max_age_s * OLDEST
    told = known._replace(age_s=xp.where(known.age_s > most, most, known.age_s))
    view = view._replace(sensed=sensed._replace(**{f"strangers_{n}": part for n, part in told._asdict().items()}))
    # What is no number stops the robot now, but not for as long as it would be remembered.
    parts = xp.concatenate([known.pos_m, known.vel_m_s, known.age_s[..., None]], -1)
    sane = known.mask & (xp.abs(parts) < LARGE).all(-1)
    return view, Strangers(sane, *(xp.where(_fit(sane, part), part, 0.0) for part in known[1:]))


def _later(limits: Assumed, before: Strangers, view: LocalView, period_s: float) -> Strangers:
    """What was known, one decision later."""
    xp, age = namespace(before.pos_m), before.age_s + period_s
    gone = age > limits.max_age_s
    went = gone[..., None] * before.vel_m_s
    pos, vel = before.pos_m + period_s * went, before.vel_m_s - period_s / SLOWS_S * went
    x, y, _ = components(pos - view.own.pos_m[..., None, :])
    ex, ey = heading(tuple(view.own.quat_wxyz[..., i, None] for i in range(4)), xp)
    hidden = x * ex + y * ey <= math.cos(limits.clear_rad) * xp.sqrt(x * x + y * y)
    lasts = age <= (limits.remember_s or limits.max_age_s)
    return Strangers(before.mask & lasts & (hidden | ~gone), pos, vel, age)


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


def at_boards(params: SafetyParams, view: LocalView) -> LocalView:
    """The view with the velocity that boards leave the robot: at most what gets it there within `STOPS_S`.

    Who backs away from an opponent across the field meets a board, and loses what took it away. The part along the
    board remains and may go towards the opponent: it has to be braked before.
    """
    if params.boards_m is None:
        return view
    pos, vel = view.own.pos_m, view.own.vel_m_s
    xp, (x, y, _), (vx, vy, vz) = namespace(vel), components(pos), components(vel)
    stopped = [
        xp.clip(v, -xp.maximum(half + p, 0.0) / STOPS_S, xp.maximum(half - p, 0.0) / STOPS_S)
        for v, p, half in ((vx, x, params.boards_m[0]), (vy, y, params.boards_m[1]))
    ]
    # An estimate that is out of all bounds stays so: the filter stops the robot for it.
    stopped = [xp.where(xp.abs(v) < LARGE, s, v) for v, s in zip((vx, vy), stopped, strict=True)]
    return view._replace(own=view.own._replace(vel_m_s=xp.stack([*stopped, vz], -1)))
