"""Carriers that see their mates keep out of their way; array-generic."""

from typing import Any

from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array

MATE = 8
"""Elements of the feature `neighbours` for each mate: place, velocity, age, and 1 where it is heard."""


def away_from_all(gains: Any, mates: Array) -> Array:
    """[..., 3] acceleration away from mates that will be near, world [m/s^2].

    Args:
        gains: with `dodge_m_s2`, `dodge_m` and `dodge_s`.
        mates: [..., 8 k] the feature `neighbours`.
    """
    rows = (mates[..., at : at + MATE] for at in range(0, mates.shape[-1], MATE))
    return sum(away(gains, row[..., :3], row[..., 3:6]) * row[..., 7:] for row in rows)  # type: ignore[return-value]


def away(gains: Any, place: Array, velocity: Array) -> Array:
    """Return the acceleration [..., 3] away from one teammate, at [..., 3] seen from the robot, with
    relative velocity [..., 3].

    It points away from the place where the teammate will be nearest within `dodge_s` if both keep
    their velocities.
    """
    xp, square = namespace(place), (velocity * velocity).sum(-1, keepdims=True)
    nearest_s = -(place * velocity).sum(-1, keepdims=True) / (square + 1e-4)
    nearest = place + velocity * xp.clip(nearest_s, 0.0, gains.dodge_s)
    far_m = norm(nearest)[..., None] + 1e-6
    return nearest / far_m * (-gains.dodge_m_s2 * xp.clip(1 - far_m / gains.dodge_m, 0.0, 1.0))
