"""`Decider`: from a robot's view to a command, with all memory between two decisions. No ROS here.

The node's autopilot and the replay of a recording both use it. It does not know why the robot
moves: `NominalSource` gives the source of the nominal command of a tick.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.pilot import Pilot, PilotCarry
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.model.bias import Bias, unanchored
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.blind_brake import Fallback
from robomarl.ros.robot.command_layout import CommandLayout


class NominalSource(NamedTuple):
    """Source of the nominal command of a tick."""

    policy: float
    """Share of the policy's command; NaN: the policy is not asked."""
    other: np.ndarray | None = None
    """Command [A] that supplies the rest of the nominal command; None: the policy's command is used alone."""
    landing: bool = False
    """True if the filter of a landing decides, which has its floor below the ground."""


class Decider:
    """Policy, rules and filter of one robot, and the blind brake where those can't decide."""

    def __init__(self, pilot: Pilot, landing: SafetyFilter | None, max_gap_s: float) -> None:
        """Nothing has been decided.

        Args:
            pilot: policy and filter.
            landing: the filter of a landing; None: the pilot's.
            max_gap_s: a longer time between two decisions makes every memory start again.
        """
        self.pilot, self._landing = pilot, Pilot(pilot.policy, landing or pilot.safety)
        self.layout = CommandLayout(tuple(field.name for field in pilot.policy.action.sent))
        self.fallback = Fallback(pilot.safety.params, self.layout)
        self._max_gap_s, self._renews = max_gap_s, False
        self._carry: PilotCarry | None = None
        self._decided_s = self.lost_s = math.nan
        self.observed: np.ndarray | None = None
        """Observation of the policy in the last decision; None if it was not asked."""
        self.nominal = np.empty(0)
        """[A] the policy's own command in the last decision that it was asked for."""
        self.error: Exception | None = None
        """Exception of the policy in the last decision; None if it answered."""
        self.pilot_s = 0.0
        """Time that policy and filter took in the last decision [s]."""

    @property
    def bias(self) -> Bias | None:
        """The filter's estimate of the bias; None before its first decision."""
        return None if self._carry is None else self._carry.safety.bias

    @property
    def plan(self) -> Plan:
        """Plan, [3] each, to which the filter committed at the last decision."""
        assert self._carry is not None
        return self._carry.safety.plan

    def begin(self) -> None:
        """The robot begins to move: nothing of before counts."""
        self._carry, self.lost_s = None, math.nan
        self.fallback.forget()

    def renew(self, is_new: bool) -> None:
        """Restart the policy's memory at the next decision if `is_new`; the filter's memory goes on."""
        self._renews = is_new

    def decide(self, view: LocalView, steady_s: float, wanted: NominalSource) -> FilterResult:
        """Make one decision; `command` [A] of the result is the command to send.

        Raises:
            ValueError: the filter returned a command that is not finite.
        """
        self.observed, self.error, started_s = None, None, time.perf_counter()
        carry = self._current(view, steady_s)
        asked = not math.isnan(wanted.policy)
        nominal = wanted.other
        if asked:
            carry, nominal = self._ask(carry, view, wanted)
        assert nominal is not None
        # The rules lead to the goal, and only a policy goes there.
        pilot = self._landing if wanted.landing else self.pilot
        self._carry, result = pilot.guard(carry, view, nominal, asked)
        self.pilot_s = time.perf_counter() - started_s
        command = np.asarray(result.command, float)
        if not math.isfinite(command.sum()):
            raise ValueError(f"the filter let a command through that is not finite: {command}")
        self.fallback.note(steady_s, command)
        self.lost_s, self._decided_s = math.nan, steady_s
        return result._replace(command=command)

    def blind(self, view: LocalView, last: tuple[Estimate | None, float], steady_s: float) -> np.ndarray:
        """Return the filter's brake command [A] from the predicted state; without memory, one against the
        predicted velocity.

        Args:
            view: knowledge of the teammates.
            last: the last estimate, and its age [s].
            steady_s: current time [s].
        """
        self.observed = None
        self.lost_s = steady_s if math.isnan(self.lost_s) else self.lost_s
        if (command := self._braked(view, last[1])) is None:
            command = self.fallback.brake(*last, steady_s)
        self.fallback.note(steady_s, command)
        return command

    def _braked(self, view: LocalView, age_s: float) -> np.ndarray | None:
        """Return the filter's brake command [A]; None without memory, or if the filter raises an exception again."""
        if self._carry is None:
            return None
        try:
            safety, brake = self.pilot.safety.blind(self._carry.safety, view, np.array(age_s))
        except Exception:  # the memory may be the cause, so the next decision begins with fresh memory
            self._carry = None
            return None
        self._carry = self._carry._replace(safety=safety)
        return self.layout.padded(brake[:3])

    def _current(self, view: LocalView, steady_s: float) -> PilotCarry:
        """The memory that this decision begins with."""
        carry, renews = self._carry, self._renews
        self._renews = False
        if carry is None or not math.isnan(self.lost_s) or steady_s - self._decided_s > self._max_gap_s:
            return self._fresh(view, carry)
        return self.pilot.init(view)._replace(safety=carry.safety) if renews else carry

    def _fresh(self, view: LocalView, before: PilotCarry | None) -> PilotCarry:
        """Return fresh memory, but with the commands sent lately, which are still on their way to the rotors.

        A gap or a blind tick does not erase the filter's estimate of the bias, nor the hold position: a
        robot without communication and with an intermittent estimate would find a new position each time,
        and creep on.
        """
        carry = self.pilot.init(view)
        queue = np.array(carry.safety.commands)
        if late := self.fallback.latest(len(queue)):
            queue[-len(late) :] = late
        safety = carry.safety._replace(commands=queue)
        if before is not None:
            safety = safety._replace(bias=unanchored(before.safety.bias), place_m=before.safety.place_m)
        return carry._replace(safety=safety)

    def _ask(self, carry: PilotCarry, view: LocalView, wanted: NominalSource) -> tuple[PilotCarry, np.ndarray]:
        try:
            carry, self.observed, self.nominal = self.pilot.ask(carry, view)
        except Exception as error:  # like NaN: no command, and no reason for the filter to lose its memory
            self.error, self.nominal = error, np.full(self.pilot.policy.action.size, math.nan)
        if wanted.other is None:
            return carry, self.nominal
        count = len(wanted.other)  # what comes after it nobody but a policy says
        mixed = wanted.policy * self.nominal[:count] + (1 - wanted.policy) * wanted.other
        return carry, np.append(mixed, self.nominal[count:])
