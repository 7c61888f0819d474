"""What the filter remembers, and why it fell back."""

from enum import IntEnum
from types import ModuleType
from typing import NamedTuple

import numpy as np

from robomarl.safety.params import SafetyParams
from robomarl.types import Array
from robomarl.view import Plan

LARGE = 1e6
"""Numbers from here on count as not finite: no position, velocity or command is that large."""
UNKNOWN_M_S = 2 * LARGE
"""Stands for a velocity that was not predicted (not NaN, which spoils gradients)."""


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
    """The filter's memory, passed from decision to decision. The certificate will add its fields at the end."""

    commands: Array
    """[..., Q, 4] commands that have not taken effect yet, oldest first."""
    plan: Plan
    """[..., 3] each: the committed plan that the radio sends: state after the queue and this decision, stop point."""
    drift_m_s2: Array
    """[..., 3] estimate of the acceleration beyond the command, world frame."""
    expected_m_s: Array
    """[..., 3] velocity that the next estimate should show; `UNKNOWN_M_S` where there is none."""
    ok: Array
    """[...] int: decisions since the last fallback."""


def forget(carry: FilterCarry, keep: Array | None = None, xp: ModuleType = np) -> FilterCarry:
    """The memory without what spoils every decision that is made from it: no commands on their way, no drift.

    Args:
        carry: [...].
        keep: [...] bool: whose memory stays; by default nobody's.
        xp: numpy or jax.numpy.
    """
    commands, drift = carry.commands, carry.drift_m_s2
    stays = xp.zeros(drift.shape[:-1], bool) if keep is None else keep
    return carry._replace(
        commands=xp.where(stays[..., None, None], commands, 0.0), drift_m_s2=xp.where(stays[..., None], drift, 0.0)
    )


def initial_carry(
    params: SafetyParams, batch: tuple[int, ...] = (), xp: ModuleType = np, dtype: str = "float64"
) -> FilterCarry:
    """The memory before the first decision: no command is on its way, nothing is known about the drift."""
    zero = xp.zeros((*batch, 3), dtype)
    return FilterCarry(
        commands=xp.zeros((*batch, params.queue_length, 4), dtype),
        plan=Plan(zero, zero, zero),
        drift_m_s2=zero,
        expected_m_s=zero + UNKNOWN_M_S,
        ok=xp.zeros(batch, "int32"),
    )
