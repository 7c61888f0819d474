"""Who does not hear the others brakes, and stays where it has come to rest.

Braking alone is not enough: an estimate of the velocity that is wrong by a constant lets the robot creep on for ever.
So it remembers the place, and the sides of a box about it become walls, which hold within the errors as the arena's
do. Components and `xp` are those of `motion`.
"""

from typing import NamedTuple

from robomarl.safety.model.bias import LARGE
from robomarl.safety.model.constants import LARGE_M, Constants
from robomarl.safety.model.motion import Library, Predicted, Vec3
from robomarl.types import Array

NOWHERE_M = 2 * LARGE
"""Each component of the place of a robot that does not stay anywhere (not NaN, which spoils gradients)."""


class Hold(NamedTuple):
    """Whether the robot stays, and where."""

    on: Array
    place: Vec3
    """Of its commanded point, world frame [m]; `NOWHERE_M` where it does not stay."""


def hold_of(c: Constants, before: Vec3, own: Predicted, still: tuple[Array, Array], xp: Library) -> Hold:
    """Where a robot stays: its place if it has one, else where it is once it is slow.

    Args:
        c: constants of the vehicle.
        before: place in its memory.
        own: predicted state.
        still: whether it has to stay as it does not hear the others, and whether it may find a place.
        xp: library of the components.
    """
    (deaf, may), rests, place, square = still, xp.abs(before[0]) < LARGE, [], 0.0
    for p, x, v, half in zip(before, *own.motion, c.hold_m, strict=True):
        # Who is pushed out of the box takes it along.
        place.append(xp.where(rests, xp.minimum(xp.maximum(p, x - half), x + half), x))
        square = square + v * v
    on = deaf & (rests | (may & (square <= c.slow_m_s**2)))
    return Hold(on, tuple(xp.where(on, p, NOWHERE_M) for p in place))


def room_of(c: Constants, hold: Hold, xp: Library) -> tuple[Vec3, Vec3]:
    """Lowest and highest corner that the robot must stay within: the arena, cut by the box about its place."""
    lows, highs = c.arena or ((-LARGE_M,) * 3, (LARGE_M,) * 3)
    low, high = [], []
    for i, (place, least, most) in enumerate(zip(hold.place, lows, highs, strict=True)):
        half = LARGE_M if c.planar and i == 2 else c.hold_m[i]
        low.append(xp.where(hold.on, xp.maximum(place - half, least), least))
        high.append(xp.where(hold.on, xp.minimum(place + half, most), most))
    return tuple(low), tuple(high)
