"""The ball on the carpet: it slides until its surface keeps up with it, then it rolls. Array-generic.

A homogeneous sphere: friction that brakes it by mu g while it slides turns it by 5/2 mu g / R, so that the slip,
velocity less the speed of the surface, falls at 7/2 mu g and a ball kicked without spin rolls at 5/7 of its speed.
"""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.domains.soccer.lab.scenario import SoccerScenario

SPIN_GAIN = 2.5
"""Change of the surface's speed over the change of velocity by friction: mass times radius squared over inertia."""


class Ball(NamedTuple):
    """The ball. The surface's velocity is its radius times its spin: equal to the velocity where it rolls."""

    x: Array
    """[m] world."""
    y: Array
    vx: Array
    """[m/s] world."""
    vy: Array
    ux: Array
    """[m/s] of the surface, world."""
    uy: Array


Way = tuple[Array, Array]
"""How far the ball gets in a sub-step [m]."""


def brake(scenario: SoccerScenario, ball: Ball, rolling: Array) -> tuple[Ball, Way]:
    """Friction over one sub-step: the ball with its new velocities, not yet moved, and its way without contacts.

    Args:
        scenario: fixed numbers.
        ball: before.
        rolling: deceleration while it rolls [m/s^2].
    """
    xp, dt_s, slide = namespace(ball.x), scenario.physics_dt_s, scenario.ball.sliding_m_s2
    sx, sy = ball.vx - ball.ux, ball.vy - ball.uy
    slip = xp.sqrt(sx * sx + sy * sy + 1e-12)
    sliding_s = xp.minimum(slip / ((1 + SPIN_GAIN) * slide), dt_s)
    loss = slide * sliding_s / slip
    vx, vy = ball.vx - loss * sx, ball.vy - loss * sy
    ux, uy = ball.ux + SPIN_GAIN * loss * sx, ball.uy + SPIN_GAIN * loss * sy
    left_s = dt_s - sliding_s
    speed = xp.sqrt(vx * vx + vy * vy + 1e-12)
    keep = 1 - xp.minimum(rolling * left_s / speed, 1.0)
    wx, wy = vx * keep, vy * keep
    part = left_s > 0
    way = (
        sliding_s / 2 * (ball.vx + vx) + left_s / 2 * (vx + wx),
        sliding_s / 2 * (ball.vy + vy) + left_s / 2 * (vy + wy),
    )
    return ball._replace(vx=wx, vy=wy, ux=xp.where(part, wx, ux), uy=xp.where(part, wy, uy)), way
