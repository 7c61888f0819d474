"""Room for who wants past: who leaves it, and how far it goes. Array-generic."""

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array

THERE_M = 0.3
"""Who is so near to its goal is at it, backing off included."""
YIELD = 2.0
"""How far it backs off for each metre of room that is missing."""


def kept_off(mates_m: Array, heard: Array, room_m: float) -> Array:
    """[..., 2] how far a robot goes away from mates that are nearer than `room_m`.

    Args:
        mates_m: [..., K, 2] from it to mates.
        heard: [..., K] bool: which of them there are.
        room_m: that it leaves to them.
    """
    xp, far = namespace(mates_m), norm(mates_m)
    push = xp.where(heard, xp.maximum(room_m - far, 0.0), 0.0) / xp.maximum(far, 1e-6)
    return -YIELD * (push[..., None] * mates_m).sum(-2)


def backed_off(goal_m: Array, mates_m: Array, heard: Array, room_m: float) -> Array:
    """[..., 2] the same for a robot that is at its goal, [..., 2] away; who is not there makes no room."""
    is_there = norm(goal_m)[..., None] < THERE_M
    return namespace(goal_m).where(is_there, kept_off(mates_m, heard, room_m), 0.0)
