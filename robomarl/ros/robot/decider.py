"""`Decider`: from a robot's view to a command, with all memory between two decisions. No ROS here.

The node's autopilot and the replay of a recording both use it. It does not know why the robot
moves: `NominalSource` gives the source of the nominal command of a tick.
"""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.pilot import Pilot, PilotCarry
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.model.bias import Bias, unanchored
from robomarl.core.types import FilterResult
from robomarl.core.view import LocalView, Plan
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.blind_brake import Fallback
from robomarl.ros.robot.certified.carry import Doubts, RobotCarry
from robomarl.ros.robot.certified.guard import CertifiedRobot
from robomarl.ros.robot.certified.words import AddressedWord
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
        self._certified: CertifiedRobot | None = pilot.safety if isinstance(pilot.safety, CertifiedRobot) else None
        self._told: tuple[Sequence[AddressedWord | None], float] = (), 0.0
        self._gone: Sequence[int] = ()
        self._max_gap_s, self._renews, self._asks = max_gap_s, False, False
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

    @property
    def words(self) -> np.ndarray | None:
        """[1 + 2 K, 15] words of a certified robot to its teammates; None for another robot, or before a decision."""
        if self._certified is None or self._carry is None:
            return None
        return self._certified.said(_certified(self._carry))

    @property
    def height_m(self) -> float | None:
        """Height of a certified robot's reference at the last decision; None for another robot, or before."""
        if self._certified is None or self._carry is None:
            return None
        return float(_certified(self._carry).robot.course.pos_m[2])

    @property
    def doubts(self) -> Doubts | None:
        """Reasons why a certified robot takes no new course; None for another one, or before its first decision."""
        if self._certified is None or self._carry is None:
            return None
        return self._certified.doubts(_certified(self._carry))

    def clock_jumped(self, by_s: float) -> None:
        """The clock of stamps was set by this time [s]."""
        if self._certified is not None and self._carry is not None:
            self._carry = _with(self._carry, self._certified.clock_jumped(_certified(self._carry), by_s))

    def hear(self, told: Sequence[AddressedWord | None], stamp_s: float, gone: Sequence[int] = ()) -> None:
        """Note what teammates [K] tell this robot, the time [s] on the team's clock, and the rows of teammates that fly
        no more, for the next decision."""
        self._told, self._gone = (told, stamp_s), gone

    def begin(self) -> None:
        """The robot begins to move: nothing of before counts."""
        self._carry, self.lost_s = None, math.nan
        self.fallback.forget()

    def renew(self, is_new: bool) -> None:
        """Restart the policy's memory at the next decision if `is_new`; the filter's memory goes on."""
        self._renews = is_new

    def decide(self, view: LocalView, steady_s: float, wanted: NominalSource) -> FilterResult:
        """Make one decision; `command` [A] of the result is the command to send.

        The policy's memory begins anew where the policy is asked after a decision in which it was not: before that a
        field task waited, as between two rallies.

        Raises:
            ValueError: the filter returned a command that is not finite.
        """
        self.observed, self.error, started_s = None, None, time.perf_counter()
        asked = not math.isnan(wanted.policy)
        self._renews, self._asks = self._renews or asked > self._asks, asked
        carry = self._current(view, steady_s)
        if wanted.landing and self._certified is not None:
            carry = _with(carry, self._certified.without(_certified(carry), self._gone))
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
        self._listen()
        self.lost_s = steady_s if math.isnan(self.lost_s) else self.lost_s
        if (command := self._braked(view, last[1])) is None:
            command = self.fallback.brake(*last, steady_s)
        self.fallback.note(steady_s, command)
        return command

    def rest(self, view: LocalView) -> None:
        """A tick of a robot that sends no command: a certified one goes on to agree with its teammates."""
        self._listen()
        if self._certified is not None and self._carry is not None:
            self._carry = _with(self._carry, self._certified.rest(_certified(self._carry), view))

    def reference(self, own: Estimate, view: LocalView) -> Estimate:
        """Return the estimate, of a certified robot with the place and velocity of its reference."""
        if self._certified is None or self._carry is None:
            return own
        seen = self._certified.seen(_certified(self._carry), view).own
        return own._replace(pos_m=seen.pos_m, vel_m_s=seen.vel_m_s)

    def _listen(self) -> None:
        """Give the newest words of teammates to the certificate, for the next decision."""
        if self._certified is not None and self._carry is not None:
            self._carry = _with(self._carry, self._certified.hear(_certified(self._carry), *self._told))

    def _braked(self, view: LocalView, age_s: float) -> np.ndarray | None:
        """Return the filter's brake command [A]; None without memory, or if the filter raises an exception again."""
        if self._carry is None:
            return None
        try:
            return self.layout.padded(self._blind(self._carry, view, age_s)[:3])
        except Exception:  # the memory may be the cause, so the next decision begins with fresh memory
            self._carry = None
            return None

    def _blind(self, carry: PilotCarry, view: LocalView, age_s: float) -> np.ndarray:
        """Let the filter make a blind tick; return its command [4]."""
        if self._certified is not None:
            memory, brake = self._certified.blind(_certified(carry), view, np.array(age_s))
            self._carry = _with(carry, memory)
        else:
            safety, brake = self.pilot.safety.blind(carry.safety, view, np.array(age_s))
            self._carry = carry._replace(safety=safety)
        return brake

    def _current(self, view: LocalView, steady_s: float) -> PilotCarry:
        """The memory that this decision begins with."""
        carry, renews = self._carry, self._renews
        self._renews = False
        if carry is None or not math.isnan(self.lost_s) or steady_s - self._decided_s > self._max_gap_s:
            self._carry = self._fresh(view, carry)
        elif renews:
            self._carry = self.pilot.init(view)._replace(safety=carry.safety)
        self._listen()
        assert self._carry is not None, "one was made"
        return self._carry

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
        if self._certified is not None:
            known = carry if before is None else before
            return _with(carry, self._certified.resumed(_certified(known), queue))
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


def _certified(carry: PilotCarry) -> RobotCarry:
    """The memory of the certificate in that of a certified robot's pilot."""
    assert isinstance(carry.safety, RobotCarry), "the pilot's filter is the certificate"
    return carry.safety


def _with(carry: PilotCarry, memory: RobotCarry) -> PilotCarry:
    return carry._replace(safety=memory)  # pyright: ignore[reportArgumentType]
