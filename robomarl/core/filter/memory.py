"""Memory of the filter, and the reasons of its fallbacks."""

from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import NamedTuple, TypeVar

import numpy as np

from robomarl.core.filter.model.bias import LARGE, UNKNOWN_M_S, Bias
from robomarl.core.filter.params import SafetyParams
from robomarl.core.hardware.sections import Vector3
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import Plan

__all__ = ["LARGE", "UNKNOWN_M_S", "Bias", "Decide", "FilterCarry", "Memory", "Reason", "forget", "initial_carry"]
Memory = TypeVar("Memory")
"""Memory of the filter that decides."""
Decide = Callable[..., tuple[Memory, FilterResult]]


class Reason(IntEnum):
    """Which fallback acted. Every reason but `OK` means: the vehicle brakes (`docs/safety.md`)."""

    OK = 0
    """None: the command is the nominal one, or the nearest that all rows allow."""
    INFEASIBLE = 1
    """No acceleration holds all rows."""
    STALE = 2
    """A team-mate's message or the own estimate is too old."""
    NON_FINITE = 3
    """An input is NaN, infinite or absurdly large."""
    SOLVER = 4
    """The solver gave up, or its answer broke a row."""
    MISSING = 5
    """Fewer team-mates are heard than must be. One that is heard twice is one."""


class FilterCarry(NamedTuple):
    """The filter's memory, passed from decision to decision."""

    commands: Array
    """[..., Q, 4] commands that have not taken effect for sure yet, oldest first."""
    plan: Plan
    """[..., 3] each: the committed plan that the radio sends: state after the queue and this decision, and where the
    vehicle comes to rest at the latest."""
    place_m: Array
    """[..., 3] place where a robot stays that does not receive its teammates, world frame; `hold.NOWHERE_M` else."""
    bias: Bias
    """Estimate of the constant part of the acceleration error."""
    ok: Array
    """[...] int: decisions since the last fallback."""


def forget(bound_m_s2: Vector3, carry: FilterCarry, keep: Array | None = None, xp: ModuleType = np) -> FilterCarry:
    """Return the memory without the parts that spoil every later decision: no commands on their way, no bias known.

    Args:
        bound_m_s2: bound of the bias along each axis.
        carry: [...].
        keep: [...] bool: robots that keep their memory; by default none.
        xp: numpy or jax.numpy.
    """
    commands, bias = carry.commands, carry.bias
    stays = xp.zeros(bias.since_s.shape, bool) if keep is None else keep
    each = stays[..., None]
    blank = bias._replace(
        estimate_m_s2=xp.where(each, bias.estimate_m_s2, 0.0),
        doubt_m_s2=xp.where(each, bias.doubt_m_s2, xp.asarray(bound_m_s2, bias.doubt_m_s2.dtype)),
        anchor_m_s=xp.where(each, bias.anchor_m_s, UNKNOWN_M_S),
        made_m_s=xp.where(each, bias.made_m_s, 0.0),
        unsure_m_s=xp.where(each, bias.unsure_m_s, 0.0),
        since_s=xp.where(stays, bias.since_s, 0.0),
    )
    return carry._replace(commands=xp.where(each[..., None], commands, 0.0), bias=blank)


def initial_carry(
    params: SafetyParams, batch: tuple[int, ...] = (), xp: ModuleType = np, dtype: str = "float64"
) -> FilterCarry:
    """The memory before the first decision: no command is on its way, the bias may be anything within its bound."""
    zero, none = xp.zeros((*batch, 3), dtype), xp.zeros(batch, dtype)
    bias = Bias(zero, zero + xp.asarray(params.bias_m_s2, dtype), zero + UNKNOWN_M_S, zero, zero, none, none)
    return FilterCarry(
        commands=xp.zeros((*batch, params.queue_length, 4), dtype),
        plan=Plan(zero, zero, zero),
        place_m=zero + UNKNOWN_M_S,
        bias=bias._replace(misfits=xp.zeros(batch, "int32")),
        ok=xp.zeros(batch, "int32"),
    )
