"""`SafetyFilter`: the stage between a policy and the robot.

Its inputs are the view and the nominal command. Its output is the nearest command that keeps the
robot clear of its teammates, inside the arena and below its speed limit, or the named fallback.
`docs/safety.md` has the assumptions, the derivation and the measurements.
"""

from typing import Literal

import numpy as np

from robomarl.core.filter.decision import Library, blind_batch, filter_batch
from robomarl.core.filter.kernel import usable
from robomarl.core.filter.kernel.decision import KernelFilter
from robomarl.core.filter.memory import LARGE, FilterCarry, Reason, initial_carry
from robomarl.core.filter.model.constants import Mode, constants_of
from robomarl.core.filter.params import Arena, SafetyParams, from_vehicle
from robomarl.core.filter.qp.projection import project_rows
from robomarl.core.filter.shapes import ShapeCheck
from robomarl.core.tree import Branch, as_double, both, each
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView, Own

__all__ = ["Arena", "FilterCarry", "Mode", "Reason", "SafetyFilter", "SafetyParams", "from_vehicle", "initial_carry"]

Backend = Literal["auto", "numpy", "c"]
_NUMPY = Library(np, project_rows)
_REASONS = tuple(Reason)
SAME = 1e-9
"""Difference below which two commands count as equal."""


class SafetyFilter:
    """Filter of one type of vehicle; a pure function of its arguments, without state of its own.

    Args:
        params: numbers of the vehicle. On a robot: `robot_params.tighten(bundle_params)`.
        mode: `qp`, the rows with all margins; `textbook`, the control barrier function of the
            literature without any (for comparison: it collides); `off`, only the input limits and the
            test for finite inputs.
        backend: `c`, the C kernel, which has no mode but `qp`; `numpy`, Python; `auto`, the kernel if
            it can be used. Both agree to 1e-9.
    """

    def __init__(self, params: SafetyParams, mode: Mode = "qp", backend: Backend = "auto") -> None:
        """Work out the constants.

        Raises:
            UserError: backend `c`, and the kernel was not built here.
        """
        if mode not in ("qp", "textbook", "off"):
            raise ValueError(f"filter mode {mode!r} is not known; allowed: qp, textbook, off.")
        if backend not in ("auto", "numpy", "c"):
            raise ValueError(f"filter backend {backend!r} is not known; allowed: auto, numpy, c.")
        self.params = params
        self.mode = mode
        self._constants = constants_of(params, mode)
        in_c = backend == "c" or (backend == "auto" and mode == "qp" and usable())
        self.backend: Backend = "c" if in_c else "numpy"
        """Which one it is."""
        self._kernel = KernelFilter(self._constants, params.queue_length) if in_c else None
        self._check_shapes = ShapeCheck(params)

    def init(self, batch: tuple[int, ...] = ()) -> FilterCarry:
        """The memory before the first decision, for robots with these leading axes."""
        return initial_carry(self.params, batch)

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision.

        Args:
            carry: the memory that the last decision returned, or `init`.
            view: the robot's view. Read are position, velocity and age of the own estimate (of a
                differential drive attitude and yaw rate as well), mask, position, velocity, age and plan of
                the teammates, and `sensed.strangers_*`. Leading axes [...] are robots that decide
                simultaneously.
            nominal: [..., 4] acceleration, world frame [m/s^2], and yaw rate [rad/s]. Only the acceleration
                is filtered; the yaw rate is clipped. A vehicle in the plane gets no vertical acceleration,
                and a differential drive, commanded by the acceleration of its look-ahead point, gets no yaw
                rate.
            gain_per_s: [...] class-K gain that the policy asks for, at most the configured `gain_per_s`: a
                smaller one keeps farther from every limit. Not finite, it is a fault of the policy. None:
                the configured gain.

        Returns:
            The next memory, and the result with the command to send, in double precision. The command is
            always finite and within the input limits.

        Raises:
            ValueError: an array has another shape; names it and the required shape.
        """
        nominal = np.asarray(nominal)
        for_one = self._kernel if nominal.ndim == 1 else None
        if not (for_one and (found := for_one.plain(carry, view, nominal, gain_per_s))):
            self._check_shapes(carry, view, nominal, gain_per_s)
            found = self._decide(carry, view, nominal, gain_per_s)
        reason = found[1].reason
        # Of one robot this is a bool: `np.any` of it took a third of a decision in C.
        faulty = reason in _DOUBTS if nominal.ndim == 1 else np.isin(reason, _DOUBTS).any()
        return self._without_estimate(carry, view, found) if faulty and self.mode == "qp" else found

    def blind(self, carry: FilterCarry, view: LocalView, since_s: Array) -> tuple[FilterCarry, np.ndarray]:
        """A tick without an estimate of the own state: brake, within the rows of where the robot must be.

        Where that is, the plan of the last decision says; the margins grow with the time.

        Args:
            carry: the memory of the last decision, of which there has been one.
            view: as ever; of its own state nothing is read.
            since_s: [...] age of the last estimate.

        Returns:
            The next memory, which has learned nothing and forgotten nothing, and the command [..., 4].
        """
        since, view = np.asarray(since_s, float), as_double(view)
        if since.ndim:
            after, found = blind_batch(self._constants, _NUMPY, carry, view, since)
            return after, found.command
        after, found = blind_batch(self._constants, _NUMPY, _as_batch(carry), _as_batch(view), since[None])
        return _only(after), found.command[0]

    def _without_estimate(
        self, carry: FilterCarry, view: LocalView, found: tuple[FilterCarry, FilterResult]
    ) -> tuple[FilterCarry, FilterResult]:
        """`found`, but by `blind` where the own estimate is no number or too old, and a decision was made before.

        How long a NaN has been one is not known here: its margins are those of the delay, up to which they grow.
        """
        is_none, age = _lost(view.own), np.abs(view.own.age_s)
        lost, (after, result) = (is_none | (age > self._constants.max_own_age_s)) & _has_plan(carry), found
        if not lost.any():
            return found
        before, seen = carry, as_double(view)
        if one := lost.ndim == 0:
            before, seen, after = _as_batch(before), _as_batch(seen), _as_batch(after)
        lost, since = np.atleast_1d(lost), np.atleast_1d(np.where(is_none, self._constants.horizon_s, age))
        blind, brake = blind_batch(self._constants, _NUMPY, before, seen, since)

        def pick(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.where(lost.reshape(lost.shape + (1,) * (a.ndim - lost.ndim)), a, b)

        after = both(blind, after, pick)
        command = brake.command[0] if one else pick(brake.command, result.command)
        active = ~(np.abs(command - result.nominal) <= SAME).all(-1)
        return _only(after) if one else after, result._replace(command=command, active=bool(active) if one else active)

    def _decide(
        self, carry: FilterCarry, view: LocalView, nominal: np.ndarray, gain_per_s: Array | None
    ) -> tuple[FilterCarry, FilterResult]:
        if self._kernel:
            decide = self._kernel.one if nominal.ndim == 1 else self._kernel.batch
            return decide(carry, view, nominal, gain_per_s)
        view, wanted = as_double(view), np.asarray(nominal, float)
        gain = None if gain_per_s is None else np.asarray(gain_per_s, float)
        if nominal.ndim > 1:
            return filter_batch(self._constants, _NUMPY, carry, view, wanted, gain)
        given = _as_batch(carry), _as_batch(view), wanted[None], None if gain is None else gain[None]
        memory, decided = filter_batch(self._constants, _NUMPY, *given)
        after, found = _only(memory), _only(decided)
        return after, found._replace(
            nominal=nominal,
            active=bool(found.active),
            slack=float(found.slack),
            solved=bool(found.solved),
            reason=_REASONS[int(found.reason)],
            margin_m=float(found.margin_m),
        )


_DOUBTS = [Reason.NON_FINITE, Reason.STALE, Reason.MISSING]  # which the own estimate, or another input, may cause


def _lost(own: Own) -> np.ndarray:
    """[...] bool: position, velocity or age are no numbers that can be meant."""
    state = np.concatenate([own.pos_m, own.vel_m_s, np.asarray(own.age_s)[..., None]], -1)
    return np.asarray(~(np.abs(state) < LARGE).all(-1))


def _has_plan(carry: FilterCarry) -> np.ndarray:
    """[...] bool: the memory is that of a decision, and holds numbers."""
    plan, commands = np.concatenate(carry.plan, -1), np.asarray(carry.commands)
    return np.asarray((np.abs(plan) < LARGE).all(-1)) & (plan != 0).any(-1) & (np.abs(commands) < LARGE).all((-2, -1))


def _as_batch(tree: Branch) -> Branch:
    """One robot as a batch of one."""
    return each(tree, lambda leaf: np.asarray(leaf)[None])


def _only(tree: Branch) -> Branch:
    """The one robot of a batch."""
    return each(tree, lambda leaf: leaf[0])
