"""`StateBox`: positions and velocities that a robot may have, narrowed by every estimate. Array-generic.

An estimate says within its bounds where the robot is. So do the estimate before and the commands since, within the
bounds of delay, bias and disturbance. The robot is where all of them agree (set-membership estimation: Schweppe, IEEE
Transactions on Automatic Control 13, 1968), and is taken to be in the middle of that box, which along each axis is no
farther from it than the bounds of an estimate. Estimates with errors that alternate leave a small box, so the middle
does not follow them. Walls that follow make commands jump, and a delay that varies turns jumps into a push to one side.
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
INSTANT_S = 1e-5
"""A command that could act for a shorter time than this does not: of large times it is rounding."""
MORE_COMMANDS = 2
"""Commands that are kept beyond those that are on their way where all decisions come on time."""
DIAGONAL = 1.37
"""Largest distance of the middle from the truth, of that of an estimate: its error may lie along all axes at once."""


class StateBox(NamedTuple):
    """A box of states at the stamp of the last estimate, world frame, and the commands of the last decisions."""

    low_m: Array
    """[..., 3] least position."""
    high_m: Array
    low_m_s: Array
    """[..., 3] least velocity."""
    high_m_s: Array
    at_s: Array
    """[...] that stamp, on the clock of the decisions."""
    commands: Array
    """[..., n, 3] commands, the newest last."""
    may_s: Array
    """[..., n] when each may begin to act, infinite where there was no command."""
    must_s: Array
    """[..., n] when each has begun to act for sure."""
    misfits: Array
    """[...] int: how often an estimate did not agree with those before."""


def anywhere(c: Constants, like: Array, misfits: Array, xp: ModuleType) -> StateBox:
    """Return the box of all states before the first decision; `like`: [..., 3] zeros."""
    count = c.num_acting + MORE_COMMANDS
    never = like[..., :1] + xp.full(count, xp.inf, like.dtype)
    commands = like[..., None, :] + xp.zeros((count, 1), like.dtype)
    return StateBox(*_all(like), like[..., 0], commands, never, never, misfits)


def _all(like: Array) -> tuple[Array, Array, Array, Array]:
    """Return the sides of the box of all states."""
    return like - LARGE, like + LARGE, like - LARGE, like + LARGE


def narrowed(
    c: Constants,
    box: StateBox,
    seen: tuple[Array, Array],
    stamp: tuple[Array, Array],
    known: tuple[Bias, float],
    xp: ModuleType,
) -> StateBox:
    """Return the states that agree with an estimate as well; along an axis where none does, those of the estimate.

    Args:
        c: constants of the vehicle.
        box: what is known of before.
        seen: estimated position and velocity [..., 3].
        stamp: time [...] of the estimate [s], and whether it may be used.
        known: what is known of the bias, and the bound of the estimated position's error.
        xp: numpy or jax.numpy.
    """
    (pos, vel), (at_s, usable), (learned, error_m), error_m_s = seen, stamp, known, c.velocity_error_m_s
    old = _later(c, box, at_s, learned, xp)
    told = pos - error_m, pos + error_m, vel - error_m_s, vel + error_m_s
    bounds = (xp.maximum, xp.minimum, xp.maximum, xp.minimum)
    low, high, low_v, high_v = both = tuple(bound(a, b) for bound, a, b in zip(bounds, old, told, strict=True))
    # What is no number, because a command was none, agrees with nothing.
    fits = (low <= high + ROUNDING_BOX) & (low_v <= high_v + ROUNDING_BOX)
    sides = tuple(xp.where(fits, a, b) for a, b in zip(both, told, strict=True))
    moves = 2 if c.planar else 3
    low, high, low_v, high_v = (xp.where(usable[..., None], a, b) for a, b in zip(sides, _all(pos * 0.0), strict=True))
    misfits = box.misfits + (~fits[..., :moves].all(-1) & usable)
    return box._replace(low_m=low, high_m=high, low_m_s=low_v, high_m_s=high_v, at_s=at_s, misfits=misfits)


def _later(c: Constants, box: StateBox, at_s: Array, bias: Bias, xp: ModuleType) -> tuple[Array, Array, Array, Array]:
    """Return the sides of a box at a later time [...]; of an earlier one, where a clock went back, nothing is known."""
    t, unsure = (at_s - box.at_s)[..., None], bias.doubt_m_s2 + c.accel_error_m_s2
    least, most = _acting(c, box, at_s, xp)
    least, most = least + bias.estimate_m_s2 - unsure, most + bias.estimate_m_s2 + unsure
    back = xp.where(t < 0, LARGE, 0.0)
    return (
        box.low_m + box.low_m_s * t + least * (t * t / 2) - back,
        box.high_m + box.high_m_s * t + most * (t * t / 2) + back,
        box.low_m_s + least * t - back,
        box.high_m_s + most * t + back,
    )


def _acting(c: Constants, box: StateBox, at_s: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Return the least and the largest command [..., 3] that may be in force from the box's stamp to a time [...]."""
    begin_s, reach = box.at_s[..., None] + INSTANT_S, xp.asarray(c.reach_m_s2, box.commands.dtype)
    last = xp.concatenate([box.must_s[..., 1:], xp.full_like(box.must_s[..., :1], xp.inf)], -1)
    acts = ((box.may_s < (at_s - INSTANT_S)[..., None]) & (last > begin_s))[..., None]
    least = xp.where(acts, box.commands, xp.inf).min(-2)
    most = xp.where(acts, box.commands, -xp.inf).max(-2)
    # Commands that are kept no more may act as well, or none is known.
    open_ = ~(box.must_s[..., :1] <= begin_s) | ~acts.any(-2)
    return xp.where(open_, -reach, least), xp.where(open_, reach, most)


def middle_of(box: StateBox) -> Motion:
    """Return the state in the middle of a box, components."""
    pos, vel = (box.low_m + box.high_m) / 2, (box.low_m_s + box.high_m_s) / 2
    return Motion(tuple(pos[..., i] for i in range(3)), tuple(vel[..., i] for i in range(3)))


def commanded(c: Constants, box: StateBox, command: Array, now_s: Array, xp: ModuleType) -> StateBox:
    """Return the box with a command [..., 3] that was decided at a time [...].

    Delays may count from the stamp of the estimate or from the decision: a command acts between the earlier and the
    later of what both say.
    """
    may, must = box.at_s + (c.horizon_s - c.spread_s), now_s + c.horizon_s
    return box._replace(
        commands=xp.concatenate([box.commands[..., 1:, :], command[..., None, :]], -2),
        may_s=xp.concatenate([box.may_s[..., 1:], may[..., None]], -1),
        must_s=xp.concatenate([box.must_s[..., 1:], must[..., None]], -1),
    )


def shifted(box: StateBox, by_s: float) -> StateBox:
    """Return the box after the clock was set by a time [s]."""
    return box._replace(at_s=box.at_s + by_s, may_s=box.may_s + by_s, must_s=box.must_s + by_s)
