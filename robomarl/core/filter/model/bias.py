"""Bounded observer of the bias: an interval on each axis that the constant part of the acceleration
error lies in.

From the anchor, an earlier decision, to now the velocity must have changed by the effect of the
commands, by the bias times the time, and by at most the amount that the declared bounds leave open:
velocity errors at both ends, the rest of the acceleration error, and which of the commands was in
force. That is an interval for the bias; the observer keeps the intersection of all intervals
(set-membership estimation: Milanese and Vicino, Automatica 1991). Nothing is averaged: the bias is
inside as long as the declared bounds hold, and an empty intersection shows that a bound does not.

`narrowed` and `told_by` are the formulas on one axis, in the library `xp` of `motion`; `learn` and
`expect` are for arrays.
"""

from types import ModuleType
from typing import NamedTuple

from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Library
from robomarl.core.types import Array

WINDOW_S = 2.0
"""An anchor is this old at most: longer tells little more."""
LARGE = 1e6
"""Numbers from here on count as not finite: no position, velocity or command is that large."""
UNKNOWN_M_S = 2 * LARGE
"""Stands for a velocity that is not known (not NaN, which spoils gradients)."""
EMPTY_M_S2 = 1e-3
"""An interval that is inside out by more than this is empty; less may be rounding in single precision."""


class Bias(NamedTuple):
    """Interval of the bias, and the data to narrow it; part of the filter's memory."""

    estimate_m_s2: Array
    """[..., 3] middle of the interval, world frame."""
    doubt_m_s2: Array
    """[..., 3] half of its width: the bias is at most this far from the estimate."""
    anchor_m_s: Array
    """[..., 3] the velocity that was estimated at the anchor; `UNKNOWN_M_S` where there is none."""
    made_m_s: Array
    """[..., 3] change of the velocity since then by the commands, in the middle of the possible range."""
    unsure_m_s: Array
    """[..., 3] half of the width of that range."""
    since_s: Array
    """[...] time since the anchor."""
    misfits: Array
    """[...] int: how often the interval was empty, so that a declared bound did not hold."""


class Axis(NamedTuple):
    """An interval on one axis."""

    low: Array
    high: Array
    misfit: Array
    """It is empty."""


def narrowed(c: Constants, i: int, memory: tuple[Array, Array], told: tuple[Array, Array], xp: Library) -> Axis:
    """Return the interval that is left on axis `i`.

    Args:
        c: constants of the vehicle.
        i: number of the axis.
        memory: estimate and doubt of the last decision.
        told: middle and half of the width of the interval from the velocity; infinite if it says
            nothing.
        xp: library of the numbers.
    """
    (estimate, doubt), (middle, half), bound = memory, told, c.bias_m_s2[i]
    doubt = doubt + c.forget_m_s2[i]
    low = xp.maximum(xp.maximum(estimate - doubt, -bound), middle - half)
    high = xp.minimum(xp.minimum(estimate + doubt, bound), middle + half)
    misfit = low > high + EMPTY_M_S2
    return Axis(xp.where(misfit, -bound, low), xp.where(misfit, bound, high), misfit)


def told_by(
    c: Constants, i: int, missed_m_s: Array, unsure_m_s: Array, since: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return middle and half of the width [m/s^2] of the interval that the velocity gives for the bias on axis `i`.

    Args:
        c: constants of the vehicle.
        i: number of the axis.
        missed_m_s: change of the velocity since the anchor beyond the effect of the commands.
        unsure_m_s: uncertainty of that effect.
        since: time since the anchor, not 0, and age of the own estimate; stamps are that unevenly
            spaced.
    """
    time_s, age_s = since
    open_m_s = unsure_m_s + 2 * (c.velocity_error_m_s + c.reach_m_s2[i] * age_s)
    return missed_m_s / time_s, open_m_s / time_s + c.accel_error_m_s2 + c.forget_m_s2[i] * time_s / c.period_s


def learn(c: Constants, memory: Bias, seen: tuple[Array, Array, Array], xp: ModuleType) -> Bias:
    """The memory after an estimate; the anchor moves here where it is old, unknown, or did not fit.

    Args:
        c: constants of the vehicle.
        memory: [...].
        seen: velocity [..., 3], its age [...], and whether it may be used [...].
        xp: numpy or jax.numpy.
    """
    vel, age, usable = seen
    known = usable & (xp.abs(memory.anchor_m_s) < LARGE).all(-1) & (memory.since_s > 0)
    time = xp.where(known, memory.since_s, 1.0)
    missed = xp.where(known[..., None], vel - memory.anchor_m_s - memory.made_m_s, 0.0)
    axes: list[Axis] = []
    for i in range(3):
        middle, half = told_by(c, i, missed[..., i], memory.unsure_m_s[..., i], (time, age))
        told = middle, xp.where(known, half, xp.inf)
        axes.append(narrowed(c, i, (memory.estimate_m_s2[..., i], memory.doubt_m_s2[..., i]), told, xp))
    misfit = axes[0].misfit | axes[1].misfit | axes[2].misfit
    low, high = (xp.stack([axis[side] for axis in axes], -1) for side in (0, 1))
    anew = (~known | misfit | (memory.since_s >= WINDOW_S))[..., None]
    return Bias(
        estimate_m_s2=(low + high) / 2,
        doubt_m_s2=xp.maximum(high - low, 0.0) / 2,
        anchor_m_s=xp.where(anew, xp.where(usable[..., None], vel, UNKNOWN_M_S), memory.anchor_m_s),
        made_m_s=xp.where(anew, 0.0, memory.made_m_s),
        unsure_m_s=xp.where(anew, 0.0, memory.unsure_m_s),
        since_s=xp.where(anew[..., 0], 0.0, memory.since_s),
        misfits=memory.misfits + misfit,
    )


def expect(c: Constants, memory: Bias, commands: Array, xp: ModuleType) -> Bias:
    """The memory at the end of the period; `commands` [..., n, 3] are those that may be in force in it."""
    low, high, half = commands.min(-2), commands.max(-2), c.period_s / 2
    return memory._replace(
        made_m_s=memory.made_m_s + (high + low) * half,
        unsure_m_s=memory.unsure_m_s + (high - low) * half,
        since_s=memory.since_s + c.period_s,
    )


def unanchored(memory: Bias) -> Bias:
    """Return the memory for a time without a measured velocity: only the anchor goes, everything learned stays."""
    return memory._replace(anchor_m_s=memory.anchor_m_s * 0.0 + UNKNOWN_M_S)


def is_sane(memory: Bias, xp: ModuleType) -> Array:
    """[...] whether all numbers are, and none is absurdly large; an unknown anchor is as it should be."""
    parts = xp.concatenate([memory.estimate_m_s2, memory.doubt_m_s2, memory.made_m_s, memory.unsure_m_s], -1)
    fine = (xp.abs(parts) < LARGE).all(-1) & (memory.doubt_m_s2 >= 0).all(-1)
    return fine & (xp.abs(memory.anchor_m_s) <= UNKNOWN_M_S).all(-1) & (xp.abs(memory.since_s) < LARGE)
