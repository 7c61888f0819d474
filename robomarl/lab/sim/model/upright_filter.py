"""`FilterOnceUpright`: the safety filter of vehicles that were thrown, off until they are upright.

A vehicle on its back can't follow a filter, because the filter's constraints are on an acceleration
that the vehicle does not have. But a lean is no reason to wait: a vehicle that two filtered
teammates drag along by its cable leans as long as they drag. Array-generic, so that training and
evaluation run one code.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.memory import forget
from robomarl.core.geometry import namespace
from robomarl.core.types import Array, FilterResult
from robomarl.core.vectors import up_axis
from robomarl.core.view import LocalView, Plan
from robomarl.lab.trees import Tree

if TYPE_CHECKING:
    from robomarl.lab.jax_filter.filter import JaxFilter

UPRIGHT = 0.5
"""Cosine of the tilt of a vehicle that counts as upright ..."""
UPRIGHT_S = 0.3
"""... and for how long it must have been so. From then on it stays behind the filter."""


class UprightCarry(NamedTuple):
    """Memory of the filter, and of the time before it acts."""

    safety: Tree
    """The filter's."""
    upright_s: Array
    """[...] how long the vehicle has been upright; no more changes once that was long enough."""
    plan: Plan
    """[..., 3] each: plan of the robot; its state alone until the filter acts."""


class FilterOnceUpright:
    """A filter that acts on every robot from the moment when it is upright."""

    def __init__(self, safety: "SafetyFilter | JaxFilter", period_s: float, decide: Callable | None = None) -> None:
        """Take the filter and the time between two decisions.

        Args:
            safety: a `SafetyFilter` or `JaxFilter`.
            period_s: [s].
            decide: how it decides where that is not by a call of itself, as for commands with body rates in JAX.
        """
        self._safety, self._period_s, self._decide = safety, period_s, decide or safety

    def init(self, batch: tuple[int, ...] = ()) -> UprightCarry:
        """Return the memory before the first decision, when no robot is upright yet."""
        safety = self._safety.init(batch)
        return UprightCarry(safety, safety.bias.since_s * 0.0, safety.plan)

    def __call__(self, carry: UprightCarry, view: LocalView, nominal: Array) -> tuple[UprightCarry, FilterResult]:
        """Filter: (carry, view, nominal [..., A]) -> (carry, result). Before the filter acts, commands pass
        unchanged.
        """
        xp = namespace(nominal)
        up = up_axis(tuple(view.own.quat_wxyz[..., i] for i in range(4)))[2] >= UPRIGHT
        on = carry.upright_s >= UPRIGHT_S - 1e-6
        upright_s = xp.where(on, carry.upright_s, xp.where(up, carry.upright_s + self._period_s, 0.0))
        safety, result = self._decide(carry.safety, view, nominal)
        sent = xp.where(on[..., None], result.command, nominal)
        passed = result._replace(command=sent, active=result.active & on, solved=result.solved | ~on)
        state = Plan(view.own.pos_m, view.own.vel_m_s, view.own.pos_m)
        plan = Plan(*(xp.where(on[..., None], *pair) for pair in zip(safety.plan, state, strict=True)))
        return UprightCarry(forget(self._safety.params.bias_m_s2, safety, on, xp), upright_s, plan), passed
