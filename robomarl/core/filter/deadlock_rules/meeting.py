"""Mates in the way: a robot that is going to come near one moves to its right, and above or below. Array-generic."""

from typing import NamedTuple

from robomarl.core.filter.deadlock_rules.passages import right_of
from robomarl.core.filter.params import SafetyParams
from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView

AHEAD_S = 4.0
"""Approaches farther in the future than this do not count yet."""
WIDTH_M = 1.2
"""A mate that will pass farther away than this is not in the way."""
FULL_AT = 1 / 6
"""Fraction of the largest nearness, in time and in width together, from which the side step is at full speed."""
EAGER = 0.5
"""Share of the way from the own velocity to one straight to the goal at which approaches are looked at."""
BESIDE_M = 0.3
"""A mate farther beyond the goal than this is not in the way."""
FRONT = 0.3
"""Cosine of the angle to the goal's direction from which on a mate counts as in front."""
SIDE_GAIN_PER_S = 3.0
"""Acceleration per side speed that is missing."""
LIFT_M, LIFT_M_S = 0.6, 1.0
"""Height difference [m] that robots that meet aim for, and their largest vertical speed [m/s] towards it."""
LIFT_GAIN_PER_S = 4.0
"""Acceleration per vertical speed that is missing."""
LIFT_NOISE_M = 0.04
"""Height difference [m] below which it is uncertain which robot is above."""
WALL_M = 0.4
"""They stay away from floor and ceiling by this."""


class Meeting(NamedTuple):
    """How mates are in the way."""

    near: Array
    """[..., K] how much each mate is in the way, 0 to 1: the sooner and the nearer, the more."""
    below_m: Array
    """[..., K] how far it is below us."""
    right: Array
    """[..., 2] unit vector to the right of the way to the goal."""


def keep_right(params: SafetyParams, view: LocalView, nominal: Array, found: Meeting) -> Array:
    """Add an acceleration to the right of the way to the goal, and away in height, where a mate is in the way.

    Args:
        params: parameters of the filter.
        view: the robot's view; own position and velocity, the mates' and the goal's position are read.
        nominal: [..., A] command with accelerations as its first three components, world frame [m/s^2].
        found: how mates are in the way.

    Returns:
        The command [..., A].
    """
    xp = namespace(nominal, view.own.pos_m)
    share = xp.clip(found.near / FULL_AT, 0.0, 1.0)
    most, vel = share.max(-1, initial=0.0), view.own.vel_m_s
    missing = params.limits.speed_m_s * most - xp.maximum((vel[..., :2] * found.right).sum(-1), 0.0)
    push = SIDE_GAIN_PER_S * xp.where(most > 0, xp.maximum(missing, 0.0), 0.0)[..., None] * found.right
    lift = nominal[..., 2:3] * 0 if params.planar else _lift(params, view, found.below_m, share)[..., None]
    return xp.concatenate([nominal[..., :3] + xp.concatenate([push, lift], -1), nominal[..., 3:]], -1)


def meet(view: LocalView, speed_m_s: float) -> Meeting:
    """How much every mate is in the way: by the closest approach at constant velocities."""
    own, heard = view.own, view.heard
    xp = namespace(own.pos_m)
    way = view.goal.pos_m - own.pos_m
    length, far = norm(way[..., :2]) + 1e-6, norm(way)[..., None] + 1e-6
    forward = way[..., :2] / length[..., None]
    offset = heard.pos_m + heard.vel_m_s * heard.age_s[..., None] - own.pos_m[..., None, :]
    direct = way / far * xp.minimum(speed_m_s * 2 / 3, 1.5 * far)
    closing = (own.vel_m_s + EAGER * (direct - own.vel_m_s))[..., None, :] - heard.vel_m_s
    when = (offset * closing).sum(-1) / ((closing * closing).sum(-1) + 1e-3)
    distance, miss = norm(offset), norm(offset - closing * xp.clip(when, 0.0, AHEAD_S)[..., None])
    in_front = (offset[..., :2] * forward[..., None, :]).sum(-1) > FRONT * distance
    counts = heard.mask & (when > 0) & in_front & (distance < length[..., None] + BESIDE_M)
    near = xp.clip(1 - miss / WIDTH_M, 0.0, 1.0) * xp.clip(1 - when / AHEAD_S, 0.0, 1.0)
    return Meeting(xp.where(counts, near, 0.0), -offset[..., 2], right_of(forward))


def _lift(params: SafetyParams, view: LocalView, below_m: Array, share: Array) -> Array:
    """Return the vertical acceleration [...] that separates robots that meet: up from a mate below, down
    from one above."""
    xp, (z, climb) = namespace(below_m), (part[..., 2] for part in (view.own.pos_m, view.own.vel_m_s))
    short = xp.clip(1 - xp.abs(below_m) / LIFT_M, 0.0, 1.0) * share
    wanted = LIFT_M_S * xp.clip((xp.tanh(below_m / LIFT_NOISE_M) * short).sum(-1), -1.0, 1.0)
    if params.arena:
        low, high = params.arena.low_m[2] + WALL_M, params.arena.high_m[2] - WALL_M
        wanted = xp.clip(wanted, xp.minimum(low - z, 0.0), xp.maximum(high - z, 0.0))
    return xp.where(wanted == 0, 0.0, LIFT_GAIN_PER_S * (wanted - climb))
