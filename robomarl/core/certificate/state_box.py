"""`StateBox`: positions and velocities that a robot may have, narrowed by every estimate. Array-generic.

An estimate says within its bounds where the robot is. So do the estimate before and the commands since, within the
bounds of delay, bias and disturbance. The robot is where all of them agree (set-membership estimation: Schweppe, IEEE
Transactions on Automatic Control 13, 1968), and is taken to be in the middle of that box, which is no farther from it
than the bounds of an estimate. Estimates with errors that alternate leave a small box, so the middle does not follow
them. Walls that follow make commands jump, and a delay that varies turns jumps into a push to one side.
"""

from types import ModuleType
from typing import NamedTuple

from robomarl.core.filter.memory import LARGE
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Motion
from robomarl.core.types import Array

ROUNDING_BOX = 1e-4
"""A side that is inside out by more than this [m, m/s] is empty: a declared bound does not hold. Less may be rounding
in single precision."""
ODD_SHARE = 0.5
"""Fraction of a period by which an estimate may come at another time than expected. Beyond, nothing is known of which
commands are in force, until all of before have taken effect."""


class StateBox(NamedTuple):
    """A box of states, world frame, at the stamp that the next estimate is expected to have."""

    low_m: Array
    """[..., 3] least position."""
    high_m: Array
    low_m_s: Array
    """[..., 3] least velocity."""
    high_m_s: Array
    at_s: Array
    """[...] that stamp, on the clock of the decisions."""
    odd_s: Array
    """[...] time for which any command may be in force; see `ODD_SHARE`."""
    misfits: Array
    """[...] int: how often an estimate did not agree with those before."""


def anywhere(like: Array, misfits: Array) -> StateBox:
    """Return the box of all states; `like`: [..., 3] zeros."""
    none = like[..., 0]
    return StateBox(like - LARGE, like + LARGE, like - LARGE, like + LARGE, none, none, misfits)


def narrowed(
    c: Constants, box: StateBox, seen: tuple[Array, Array], stamp: tuple[Array, Array], error_m: float, xp: ModuleType
) -> StateBox:
    """Return the states that agree with an estimate as well; along an axis where none does, those of the estimate.

    Args:
        c: constants of the vehicle.
        box: what is known of before.
        seen: estimated position and velocity [..., 3].
        stamp: time [...] of the estimate [s], and whether it may be used.
        error_m: bound of its position's error.
        xp: numpy or jax.numpy.
    """
    (pos, vel), (at_s, usable), error_m_s = seen, stamp, c.velocity_error_m_s
    off_s, each = xp.abs(at_s - box.at_s), usable[..., None]
    old = _later(c, box, off_s[..., None], xp)
    told = pos - error_m, pos + error_m, vel - error_m_s, vel + error_m_s
    bounds = (xp.maximum, xp.minimum, xp.maximum, xp.minimum)
    low, high, low_v, high_v = both = tuple(bound(a, b) for bound, a, b in zip(bounds, old, told, strict=True))
    empty = (low > high + ROUNDING_BOX) | (low_v > high_v + ROUNDING_BOX)
    sides = (xp.where(empty, a, b) for a, b in zip(told, both, strict=True))
    lost = anywhere(pos * 0.0, box.misfits)
    known = (xp.where(each, a, b) for a, b in zip(sides, lost[:4], strict=True))
    odd_s = xp.where(off_s > ODD_SHARE * c.period_s, c.horizon_s, box.odd_s)
    return StateBox(*known, at_s=at_s, odd_s=odd_s, misfits=box.misfits + (empty.any(-1) & usable))


def _later(c: Constants, box: StateBox, off_s: Array, xp: ModuleType) -> tuple[Array, Array, Array, Array]:
    """Return the sides of a box by a time [..., 1] earlier or later, with any command in force."""
    reach, bias = (xp.asarray(bound, box.low_m.dtype) for bound in (c.reach_m_s2, c.bias_m_s2))
    faster = (reach + bias + c.accel_error_m_s2) * off_s
    farther = off_s * (xp.maximum(xp.abs(box.low_m_s), xp.abs(box.high_m_s)) + faster)
    return box.low_m - farther, box.high_m + farther, box.low_m_s - faster, box.high_m_s + faster


def middle_of(box: StateBox) -> Motion:
    """Return the state in the middle of a box, components."""
    pos, vel = (box.low_m + box.high_m) / 2, (box.low_m_s + box.high_m_s) / 2
    return Motion(tuple(pos[..., i] for i in range(3)), tuple(vel[..., i] for i in range(3)))


def expected(c: Constants, box: StateBox, commands: Array, bias: Bias, xp: ModuleType) -> StateBox:
    """Return the box one period later; `commands` [..., n, 3] are those that may be in force in it."""
    t, unsure, reach = c.period_s, bias.doubt_m_s2 + c.accel_error_m_s2, xp.asarray(c.reach_m_s2, commands.dtype)
    odd = (box.odd_s > 0)[..., None]
    least, most = xp.where(odd, -reach, commands.min(-2)), xp.where(odd, reach, commands.max(-2))
    least, most = least + bias.estimate_m_s2 - unsure, most + bias.estimate_m_s2 + unsure
    return StateBox(
        box.low_m + box.low_m_s * t + least * (t * t / 2),
        box.high_m + box.high_m_s * t + most * (t * t / 2),
        box.low_m_s + least * t,
        box.high_m_s + most * t,
        box.at_s + t,
        xp.maximum(box.odd_s - t, 0.0),
        box.misfits,
    )
