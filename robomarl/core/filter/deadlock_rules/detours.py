"""Detours: a robot that the filter holds still far from its goal tries another direction for a while. Array-generic."""

import math

from robomarl.core.filter.deadlock_rules.memory import WayCarry
from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.core.view import LocalView

SLOW_M_S = 0.15
FAR_M = 0.3
PATIENCE_S = 1.0
DETOUR_S = 1.5
CALM_S = 8.0
"""Time [s] after a detour without a new one; then the sequence of detour angles starts again."""
ANGLES_RAD = tuple(math.radians(degrees) for degrees in (-75, -150, 75, 150))
"""Angles of successive detours: to the right, back, to the left, back."""


def turn_right(carry: WayCarry, view: LocalView, nominal: Array, period_s: float) -> tuple[WayCarry, Array]:
    """Turn the nominal acceleration of robots that are stuck.

    Args:
        carry: memory; zeros at the start.
        view: the robot's view; own position and velocity and the goal's position are read.
        nominal: [..., A] command with accelerations as its first two components, world frame [m/s^2].
        period_s: time between two decisions.

    Returns:
        The memory, and the command [..., A], turned during a detour: first clockwise seen from above,
        and in another direction each time that the robot is stuck again.
    """
    xp = namespace(nominal, view.own.pos_m)
    slow = norm(view.own.vel_m_s) < SLOW_M_S
    far = norm(view.goal.pos_m - view.own.pos_m) > FAR_M
    stuck = xp.where(slow & far & carry.active & (carry.detour_s <= 0), carry.stuck_s + period_s, 0.0)
    begin = stuck > PATIENCE_S
    detour = xp.where(begin, DETOUR_S, xp.maximum(carry.detour_s - period_s, -CALM_S))
    tries = xp.where(begin, carry.tries + 1, xp.where(detour > -CALM_S, carry.tries, 0.0))
    turn = xp.asarray(ANGLES_RAD, dtype=nominal.dtype)[((tries - 1) % len(ANGLES_RAD)).astype("int32")]
    angle = xp.where(detour > 0, turn, 0.0)
    cos, sin = xp.cos(angle), xp.sin(angle)
    x, y = nominal[..., 0], nominal[..., 1]
    turned = xp.stack([cos * x - sin * y, sin * x + cos * y], -1)
    after = carry._replace(stuck_s=xp.where(begin, 0.0, stuck), detour_s=detour, tries=tries)
    return after, xp.concatenate([turned, nominal[..., 2:]], -1)
