"""`FilterOnceUpright`: the safety filter of vehicles that were thrown, off until they are upright.

Nobody who lies on his back can do what a filter asks for: its rows are on an acceleration that he does not have.
"""

from typing import Any, NamedTuple

import numpy as np

from robomarl.safety.filter import SafetyFilter
from robomarl.safety.memory import forget
from robomarl.types import FilterResult
from robomarl.vectors import up_axis
from robomarl.view import LocalView, Plan

UPRIGHT = 0.9
"""Cosine of the tilt of a vehicle that counts as upright ..."""
UPRIGHT_S = 0.3
"""... and for how long it must have been so. From then on it stays behind the filter."""


class UprightCarry(NamedTuple):
    """Memory of the filter, and of what came before it."""

    safety: Any
    """The filter's."""
    upright_s: np.ndarray
    """[...] how long the vehicle has been upright; no more changes once that was long enough."""
    plan: Plan
    """[..., 3] each: what the robot committed to: the state alone until the filter acts."""


class FilterOnceUpright:
    """A filter that acts on every robot from the moment when it is upright."""

    def __init__(self, safety: SafetyFilter, period_s: float) -> None:
        """Take the filter and the time between two decisions."""
        self._safety, self._period_s = safety, period_s

    def init(self, batch: tuple[int, ...] = ()) -> UprightCarry:
        """Nobody is upright yet."""
        safety = self._safety.init(batch)
        return UprightCarry(safety, np.zeros(batch), safety.plan)

    def __call__(self, carry: UprightCarry, view: LocalView, nominal: np.ndarray) -> tuple[UprightCarry, FilterResult]:
        """(carry, view, nominal [..., A]) -> (carry, result). Without the filter a command passes as it is."""
        up = up_axis(tuple(view.own.quat_wxyz[..., i] for i in range(4)))[2] >= UPRIGHT
        on = carry.upright_s >= UPRIGHT_S - 1e-9
        upright_s = np.where(on, carry.upright_s, np.where(up, carry.upright_s + self._period_s, 0.0))
        safety, result = self._safety(carry.safety, view, nominal)
        sent = np.where(on[..., None], result.command, nominal)
        passed = result._replace(command=sent, active=result.active & on, solved=result.solved | ~on)
        state = Plan(view.own.pos_m, view.own.vel_m_s, view.own.pos_m)
        plan = Plan(*(np.where(on[..., None], *pair) for pair in zip(safety.plan, state, strict=True)))
        return UprightCarry(forget(self._safety.params.bias_m_s2, safety, on), upright_s, plan), passed
