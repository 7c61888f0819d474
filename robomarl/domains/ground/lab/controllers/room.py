"""Room for teammates that want past: which robots leave it, and how far they move. Array-generic."""

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array

THERE_M = 0.3
"""Distance to its goal [m] within which a robot counts as there, backing off included."""
YIELD = 2.0
"""How far it backs off for each metre of room that is missing."""


def kept_off(mates_m: Array, heard: Array, room_m: float) -> Array:
    """Return [..., 2] how far a robot moves away from teammates that are nearer than `room_m`.

    Args:
        mates_m: [..., K, 2] from the robot to its teammates.
        heard: [..., K] bool: the teammate is received.
        room_m: distance that the robot leaves to teammates.
    """
    xp, far = namespace(mates_m), norm(mates_m)
    push = xp.where(heard, xp.maximum(room_m - far, 0.0), 0.0) / xp.maximum(far, 1e-6)
    return -YIELD * (push[..., None] * mates_m).sum(-2)


def backed_off(goal_m: Array, mates_m: Array, heard: Array, room_m: float) -> Array:
    """Return [..., 2] this motion for a robot at its goal, [..., 2] away; a robot elsewhere makes no room."""
    is_there = norm(goal_m)[..., None] < THERE_M
    return namespace(goal_m).where(is_there, kept_off(mates_m, heard, room_m), 0.0)
