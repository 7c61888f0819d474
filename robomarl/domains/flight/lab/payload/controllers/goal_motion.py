"""Motion of a goal, estimated from its distance to means of its places; array-generic.

A point that moves with velocity v, acceleration a and jerk j has gone v T - a T^2 + j T^3 from a
mean with memory T. So means over several times give v, a and j. The part common to all means is
left out: a goal that comes in messages stands still and steps, and that must not seem to be
motion. No robot has to be informed that its goal will move, and a sender of poses alone is
followed.
"""

import math

import numpy as np

from robomarl.core.geometry import norm
from robomarl.core.spec import ObservationField
from robomarl.core.types import Array

MEANS = 4
FASTEST = (3.0, 4.0, 8.0)
"""Velocity [m/s], acceleration [m/s^2] and jerk [m/s^3] above which a goal has jumped: a robot flies to such a goal,
not along with it.
"""


def goal_fields(follow_s: float, period_s: float) -> tuple[ObservationField, ...]:
    """Return the fields that `GoalMotion` reads; none if `follow_s` is 0."""
    times = [follow_s * (1 + i) for i in range(MEANS)] if follow_s else ()
    return tuple(ObservationField("goal_place", keep=math.exp(-period_s / time_s), gone=True) for time_s in times)


class GoalMotion:
    """Velocity, acceleration and jerk of the goal."""

    def __init__(self, follow_s: float, period_s: float) -> None:
        """Take the times of the fields of `goal_fields`, as they are at this period."""
        keep = np.array([item.keep for item in goal_fields(follow_s, period_s)])
        t = period_s * keep / (1 - keep)
        rates = np.linalg.inv(np.stack([t, -(t**2), t**3, t**0], 1))[:3]
        steps = np.linalg.pinv([np.diff(np.eye(MEANS), order, axis=0)[0] for order in (1, 2, 3)])
        self._from_steps = (rates @ steps).astype(np.float32)

    def __call__(self, gone: Array) -> tuple[Array, ...]:
        """How far it has gone [..., 12] to its velocity [m/s], acceleration [m/s^2] and jerk [m/s^3], [..., 3] each.

        By way of differences: they are exact, and sums of large products would not be in float32.
        """
        first, second, third, fourth = (gone[..., i : i + 3] for i in range(0, 3 * MEANS, 3))
        one, two, three = second - first, third - second, fourth - third
        steps = (one, two - one, (three - two) - (two - one))
        rates = [sum(share * step for share, step in zip(row, steps, strict=True)) for row in self._from_steps]
        speed, accel, jerk = ((norm(rate) / most)[..., None] ** 8 for rate, most in zip(rates, FASTEST, strict=True))
        return tuple(rate / (1 + speed + accel + jerk) for rate in rates)
