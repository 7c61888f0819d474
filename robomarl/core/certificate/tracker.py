"""The tracker: keeps the robot in a box about a point that moves, whatever it asks for. Array-generic.

In coordinates of the error, robot minus point, the sides of the box are walls, with the rows of
`filter.model.barriers` for every error that the vehicle file declares. The walls are along the axes,
so each axis is a matter of its own.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.model import stacked
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion, Predicted, Vec3
from robomarl.core.types import Array

PLACE_PER_S2, SPEED_PER_S = 2.0, 2.5
"""Gains towards the point inside the box: low, because errors of the estimate come through them."""


class Point(NamedTuple):
    """The point that is tracked, at the end of the robot's prediction, components."""

    pos: Vec3
    vel: Vec3
    accel: Vec3
    """Its acceleration in the period that the decision is for."""


def track(
    c: Constants, own: Predicted, point: Point, half_m: Vec3, has_own: Array, xp: ModuleType
) -> tuple[Array, Array]:
    """Return the command [3, ...] [m/s^2] that keeps a robot in its box, and its predicted error [3, ...] [m].

    Inside the box the robot makes the point's acceleration, cancels the estimated bias, and drifts
    towards the point. Where opposite walls contradict each other it takes the middle. Without an
    estimate of the own state there are no walls.

    Args:
        c: constants of the vehicle.
        own: predicted state of the robot.
        point: the tracked point.
        half_m: half sides of the box, components.
        has_own: [...] bool: the own state is known.
        xp: numpy or jax.numpy.
    """
    error, speed, last = (
        tuple(a - b for a, b in zip(mine, its, strict=True))
        for mine, its in zip((*own.motion, own.last), point, strict=True)
    )
    walls = tuple(x * 0.0 + half for x, half in zip(error, half_m, strict=True))
    seen = own._replace(motion=Motion(error, speed), last=last)
    bound = stacked.faces(c, seen, (tuple(-half for half in walls), walls), xp)
    assert bound is not None, "a room was given"
    most = xp.maximum(bound.most, bound.floor)
    high, low = most[::2], -most[1::2]
    middle, unknown = (low + high) / 2, -xp.stack(own.bias)
    free = unknown - PLACE_PER_S2 * xp.stack(error) - SPEED_PER_S * xp.stack(speed)
    inside = xp.where(low > high, middle, xp.minimum(xp.maximum(free, low), high))
    command = xp.where(has_own, inside, unknown) + xp.stack(point.accel)
    least, greatest = (stacked.along(np.array(side), command[0]) for side in (c.low, c.high))
    return xp.clip(command, least, greatest), xp.stack(error)
