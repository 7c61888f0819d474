"""A right-hand rule against deadlock: it changes the nominal command, before the filter.

Reactive filters have stable standstills, most of all between robots that want to swap places (Grover, Liu,
Sycara, arXiv 1911.09146). The rule is agreed, not negotiated: who is going to come near a mate on the way to its
goal keeps to the right of it, as on a roundabout; who stands still in front of the filter all the same, far from
the goal, tries further to its right for a while. Safety is untouched, as the filter comes after.
"""

import math
from typing import NamedTuple

from robomarl.geometry import namespace, norm
from robomarl.types import Array
from robomarl.view import LocalView

AHEAD_S = 4.0
"""Approaches farther in the future than this do not count yet."""
WIDTH_M = 1.2
"""A mate that will pass farther away than this is not in the way."""
FULL_AT = 1 / 6
"""From this share of the largest nearness on, in time and in width together, the side step is at full speed."""
BESIDE_M = 0.3
"""A mate farther beyond the goal than this is not in the way."""
FRONT = 0.3
"""Cosine of the angle to the goal's direction from which on a mate counts as in front."""
SIDE_GAIN_PER_S = 4.0
"""Acceleration per side speed that is missing."""
SLOW_M_S = 0.15
FAR_M = 0.3
PATIENCE_S = 1.0
DETOUR_S = 1.5
ANGLE_RAD = math.radians(75)


class DeadlockCarry(NamedTuple):
    """How long each robot has been stuck, and how much longer it will try its right."""

    stuck_s: Array
    """[...] time for which it has stood still in front of the filter."""
    detour_s: Array
    """[...] rest of the detour; 0 when none is under way."""


def keep_right(view: LocalView, nominal: Array, speed_m_s: float) -> Array:
    """Add an acceleration to the right of the way to the goal where a mate is in the way, array-generic.

    How much is in the way is the closest approach at constant velocities: the sooner and the nearer, the more.

    Args:
        view: what the robot knows; own position and velocity, the mates' and the goal's position are read.
        nominal: [..., A] command whose first two components are accelerations, world frame [m/s^2].
        speed_m_s: the vehicle's largest speed: that of the side step.

    Returns:
        The command [..., A].
    """
    xp = namespace(nominal, view.own.pos_m)
    own, heard = view.own, view.heard
    way = (view.goal.pos_m - own.pos_m)[..., :2]
    length = norm(way) + 1e-6
    forward = way / length[..., None]
    right = xp.stack([forward[..., 1], -forward[..., 0]], -1)
    offset = heard.pos_m + heard.vel_m_s * heard.age_s[..., None] - own.pos_m[..., None, :]
    closing = own.vel_m_s[..., None, :] - heard.vel_m_s
    when = (offset * closing).sum(-1) / ((closing * closing).sum(-1) + 1e-3)
    distance, miss = norm(offset), norm(offset - closing * xp.clip(when, 0.0, AHEAD_S)[..., None])
    in_front = (offset[..., :2] * forward[..., None, :]).sum(-1) > FRONT * distance
    counts = heard.mask & (when > 0) & in_front & (distance < length[..., None] + BESIDE_M)
    near = xp.clip(1 - miss / WIDTH_M, 0.0, 1.0) * xp.clip(1 - when / AHEAD_S, 0.0, 1.0)
    nearest = xp.where(counts, near, 0.0).max(-1, initial=0.0)
    wanted = speed_m_s * xp.clip(nearest / FULL_AT, 0.0, 1.0)
    missing = wanted - xp.maximum((own.vel_m_s[..., :2] * right).sum(-1), 0.0)
    push = SIDE_GAIN_PER_S * xp.where(nearest > 0, xp.maximum(missing, 0.0), 0.0)
    return xp.concatenate([nominal[..., :2] + push[..., None] * right, nominal[..., 2:]], -1)


def turn_right(
    carry: DeadlockCarry, view: LocalView, nominal: Array, active: Array, period_s: float
) -> tuple[DeadlockCarry, Array]:
    """Turn the nominal acceleration of robots that are stuck, array-generic.

    Args:
        carry: memory; zeros at the start.
        view: what the robot knows; own position and velocity and the goal's position are read.
        nominal: [..., A] command whose first two components are accelerations, world frame [m/s^2].
        active: [...] bool, the filter changed the last command (`FilterResult.active`).
        period_s: time between two decisions.

    Returns:
        The memory, and the command [..., A], turned clockwise seen from above where a detour is under way.
    """
    xp = namespace(nominal, view.own.pos_m)
    slow = norm(view.own.vel_m_s) < SLOW_M_S
    far = norm(view.goal.pos_m - view.own.pos_m) > FAR_M
    stuck = xp.where(slow & far & active, carry.stuck_s + period_s, 0.0)
    begin = stuck > PATIENCE_S
    detour = xp.where(begin, DETOUR_S, xp.maximum(carry.detour_s - period_s, 0.0))
    angle = xp.where(detour > 0, -ANGLE_RAD, 0.0)
    cos, sin = xp.cos(angle), xp.sin(angle)
    x, y = nominal[..., 0], nominal[..., 1]
    turned = xp.stack([cos * x - sin * y, sin * x + cos * y], -1)
    return DeadlockCarry(xp.where(begin, 0.0, stuck), detour), xp.concatenate([turned, nominal[..., 2:]], -1)
