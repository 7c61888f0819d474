"""`Pilot`: view -> observation -> policy -> rules -> filter -> command, in one place for every caller.

A number in the view or in a memory that is not finite affects only the decision that uses it. The
policy's command is then NaN, on which the filter falls back, and the policy's memory keeps its
previous value.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from robomarl.core.bundle.given.shapes import GivenCheck, PilotCarry
from robomarl.core.bundle.given.trees import all_finite, chosen, total
from robomarl.core.bundle.runtime import Policy, load_policy
from robomarl.core.config import UserError
from robomarl.core.domain.registry import commands, filter_for, onboard_of
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.give_way import GiveWay, WayCarry
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.params import SafetyParams
from robomarl.core.spec import ActionSpec, Memory
from robomarl.core.types import Array, FilterResult, PhysicalAction
from robomarl.core.view import LocalView, Plan


class Observer(Protocol):
    """Maker of observations from views: an `ObservationSpec`, or a controller's reader of a whole team."""

    def init(self, view: LocalView) -> Memory:
        """Memory before the first decision."""
        ...

    def observe(self, memory: Memory, view: LocalView) -> tuple[Memory, Array]:
        """(memory, view) -> (memory, observation [..., O])."""
        ...


class AnyPolicy(Protocol):
    """Interface of the policies that `Pilot` runs: a bundle's `Policy`, a run's `RunPolicy`, or a baseline."""

    action: ActionSpec

    @property
    def observation(self) -> Observer:
        """Maker of the policy's observations."""
        ...

    def init(self, batch: tuple[int, ...] = ()) -> tuple[Array, ...]:
        """Carry before the first decision."""
        ...

    def __call__(self, carry: tuple[Array, ...], obs: np.ndarray) -> tuple[tuple[Array, ...], np.ndarray]:
        """(carry, obs [..., O]) -> (carry, action [..., A])."""
        ...


@runtime_checkable
class Leading(Protocol):
    """A guard that leads its robot along a reference."""

    def seen(self, carry: FilterCarry, view: LocalView, /) -> LocalView:
        """Return the view that the policy decides on: its robot is where the reference is."""
        ...


@runtime_checkable
class Ruled(Protocol):
    """A filter that has rules of its own over the policy's command."""

    def unruled(self, carry: FilterCarry, view: LocalView, nominal: Array, /) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision without those rules."""
        ...


class Pilot:
    """A policy behind a safety filter, and where robots have goals of their own, behind rules that break deadlocks.

    It has no state of its own.
    """

    def __init__(self, policy: AnyPolicy, safety: SafetyFilter, rules: GiveWay | None = None) -> None:
        """Put them together; `rules` are of the domain, see `robomarl.core.domain.onboard`."""
        self.policy = policy
        self.safety = safety
        self.rules = rules
        self._check = GivenCheck()
        self._leading = safety if isinstance(safety, Leading) else None
        self._unruled = safety.unruled if isinstance(safety, Ruled) else safety

    def init(self, view: LocalView) -> PilotCarry:
        """The memory before the first decision, for the leading axes of the view."""
        batch = np.shape(view.own.pos_m)[:-1]
        way = self.rules.init(np.zeros(batch)) if self.rules else ()
        return PilotCarry(self.policy.observation.init(view), self.policy.init(batch), self.safety.init(batch), way)

    def step(self, carry: PilotCarry, view: LocalView) -> tuple[PilotCarry, FilterResult]:
        """Make one decision for every robot of the view, [...]: return the next carry and the result with the
        command to send.

        Raises:
            ValueError: an array of the view or of the memory has another shape or type; names it and the
                required one.
        """
        carry, _, nominal = self.ask(carry, view)
        return self.guard(carry, view, nominal)

    def ask(self, carry: PilotCarry, view: LocalView) -> tuple[PilotCarry, Array, np.ndarray]:
        """Return the next memory, the observation and the policy's command [..., A], before rules and filter.

        If the command is not finite, the previous memory is returned; if that was not finite either, the
        memory starts again. Otherwise a mean or a network's state would stay non-finite for ever.

        Raises:
            ValueError: as `step`.
        """
        self._check(view, carry, lambda: self.init(view))
        view = self._leading.seen(carry.safety, view) if self._leading else view
        with np.errstate(invalid="ignore", over="ignore"):
            memory, obs = self.policy.observation.observe(carry.memory, view)
            policy, nominal = self.policy(carry.policy, obs)
            if type(nominal) is PhysicalAction:
                nominal = nominal.view(np.ndarray)  # rules and filter are faster on those
            good = np.asarray(np.isfinite(nominal).all(-1))
            if not good.all():
                before, now = (carry.memory, carry.policy), (memory, policy)
                blank = (self.policy.observation.init(view), self.policy.init(good.shape))
                memory, policy = chosen(good, now, chosen(all_finite(before, good.shape), before, blank))
        return carry._replace(memory=memory, policy=policy), obs, nominal

    def guard(
        self, carry: PilotCarry, view: LocalView, nominal: np.ndarray, ruled: bool = True
    ) -> tuple[PilotCarry, FilterResult]:
        """Apply rules and filter to a nominal command, and return the command to send.

        Args:
            carry: the memory.
            view: view of the robots.
            nominal: [..., A].
            ruled: False if another source than the policy, which knows no goal, moves the robots: no rules apply.

        Returns:
            The next memory, and the filter's result; its `nominal` is the argument, its `active` is True if
            rules or filter changed the command.
        """
        way, asked = carry.way, nominal
        with np.errstate(invalid="ignore", over="ignore"):
            if self.rules and ruled and isinstance(way, WayCarry):
                way, asked = self.rules(self._known(self.rules, way), view, nominal)
            safety, result = (self.safety if ruled else self._unruled)(carry.safety, view, asked)
        if asked is not nominal and self.rules and isinstance(way, WayCarry):
            way = self.rules.after(way, result)
            result = result._replace(nominal=nominal, active=result.active | (asked != nominal).any(-1))
        return PilotCarry(carry.memory, carry.policy, safety, way), result

    def warm_up(self, view: LocalView, decisions: int) -> None:
        """Make some decisions that nobody gets, because the first ones are slow."""
        carry = self.init(view)
        for _ in range(decisions):
            carry, _ = self.step(carry, view)

    @staticmethod
    def _known(rules: GiveWay, way: WayCarry) -> WayCarry:
        """The memory of the rules; where it is not finite, it starts again."""
        if math.isfinite(total(way)):
            return way
        lead = np.shape(way.stuck_s)
        return chosen(all_finite(way, lead), way, rules.init(np.zeros(lead)))

    def plan(self, carry: PilotCarry) -> Plan | None:
        """Return the plan that the filter committed to at the last decision, [..., 3] each, for the message;
        None without a filter."""
        return getattr(carry.safety, "plan", None)


def load_pilot(bundle: str | Path, team_size: int | None = None) -> Pilot:
    """The policy of a bundle behind the rules and the safety filter that it was sealed with.

    Args:
        bundle: name of one in `policies/`, or the path of its folder; checked as `load_policy` does.
        team_size: robots in the team, all of which have to be heard; by default those of the smallest that it is for.

    Raises:
        UserError: as `load_policy`; or the bundle is not for teams of that size, or no filter is for its commands.
    """
    policy = load_policy(bundle)
    least, most = policy.contract.team_size
    if not least <= (size := least if team_size is None else team_size) <= most:
        sizes = f"{least}" if least == most else f"{least} to {most}"
        raise UserError(f"{bundle}: is for teams of {sizes} robots, not {size}; name another team_size.")
    if (names := tuple(field.name for field in policy.action.fields)) not in [kind.elements for kind in commands()]:
        raise UserError(f"{bundle}: commands {', '.join(names)}, for which there is no filter; use load_policy.")
    safety = policy.contract.safety
    return pilot_of(policy, replace(safety, min_mates=max(safety.min_mates, size - 1)))


def pilot_of(policy: Policy, limits: SafetyParams) -> Pilot:
    """A bundle's policy behind the rules of its domain, and the filter for its commands with these parameters."""
    rules = onboard_of(policy.contract.scenario.content).rules(limits)
    return Pilot(policy, filter_for(policy.action, limits), rules)
