"""A right-hand rule against deadlock: it turns the nominal command of a robot that is stuck, before the filter.

Reactive filters have stable standstills, most of all between robots that want to swap places (Grover, Liu,
Sycara, arXiv 1911.09146). The rule is agreed, not negotiated: who stands still in front of the filter, far
from the goal, tries further to its right for a while. Safety is untouched, as the filter comes after.
"""

import math
from typing import NamedTuple

from robomarl.geometry import namespace, norm
from robomarl.types import Array
from robomarl.view import LocalView

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
