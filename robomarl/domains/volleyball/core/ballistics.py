"""Flight of the ball without drag, and the blow that gives it a wanted velocity. Array-generic."""

from typing import NamedTuple

from robomarl.core.geometry import namespace
from robomarl.core.types import GRAVITY_M_S2, Array
from robomarl.core.vectors import Vec3, dot, minus

TINY = 1e-6


class WantedBlow(NamedTuple):
    """State of a racket at the contact that gives the ball a wanted velocity; its tangential velocity is free."""

    normal: Vec3
    """Unit normal of the racket."""
    speed_m_s: Array
    """Speed of the racket along its normal."""


def time_to_fall(height_m: Array, speed_m_s: Array, level_m: Array) -> Array:
    """Time [s] until a ball falls through a level; a ball that never gets so high is given the time to its apex.

    The root for a falling ball is written without a difference of numbers that are nearly equal, because runtimes
    round that difference differently.

    Args:
        height_m: height of the ball now.
        speed_m_s: vertical speed now, upwards.
        level_m: the level.
    """
    xp = namespace(height_m, speed_m_s)
    inside = speed_m_s * speed_m_s + 2 * GRAVITY_M_S2 * (height_m - level_m)
    both = xp.sqrt(xp.maximum(inside, TINY)) + xp.abs(speed_m_s)
    return xp.maximum(xp.where(speed_m_s > 0, both / GRAVITY_M_S2, 2 * (height_m - level_m) / both), 0.0)


def rise_speed(level_m: Array, apex_m: Array) -> Array:
    """Vertical speed [m/s] at a level with which a ball rises to an apex."""
    xp = namespace(level_m, apex_m)
    return xp.sqrt(xp.maximum(2 * GRAVITY_M_S2 * (apex_m - level_m), TINY))


def wanted_blow(before_m_s: Vec3, after_m_s: Vec3, restitution: Array) -> WantedBlow:
    """Return the blow that turns one velocity of the ball into another.

    The impulse is along the racket's normal n, so n = (v' - v) / |v' - v|. With the racket's normal
    speed u, (v' - u n) . n = -e (v - u n) . n, so u = (v' . n + e v . n) / (1 + e). The ball's mass is
    small against the vehicle's.
    """
    change = minus(after_m_s, before_m_s)
    size = namespace(*change).sqrt(dot(change, change) + TINY)
    normal = (change[0] / size, change[1] / size, change[2] / size)
    speed = (dot(after_m_s, normal) + restitution * dot(before_m_s, normal)) / (1 + restitution)
    return WantedBlow(normal, speed)
