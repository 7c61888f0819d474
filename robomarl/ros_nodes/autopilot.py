"""`Autopilot`: one robot's decisions, from what its inbox holds to what is sent. No ROS here.

Fail closed. As long as the robot knows its own state the safety filter decides, and brakes when a team-mate is
stale, missing or a stranger. When the robot has lost its own state, or the policy fails, it brakes from where
the commands that it sent must have taken it (`blind brake`: needs the last estimate and the own commands,
nothing else). That is good for a moment only: then it falls silent and gives up, and the vehicle does what its
file says under `on_command_loss`. Only an operator makes it fly again.
"""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from robomarl.policies.pilot import Pilot, PilotCarry
from robomarl.ros_nodes.fallback import Fallback
from robomarl.ros_nodes.inbox import Inbox, Now, Problem, Reading
from robomarl.types import FilterResult
from robomarl.view import LocalView, Plan


class Held(IntEnum):
    """Why it was not the filter that decided. The filter's own reasons are 0 and above."""

    INACTIVE = -1
    """The node is not active: nothing is sent."""
    BLIND = -2
    """Own state or goal lost: blind brake."""
    FAILED = -3
    """The policy or the filter raised an error: blind brake."""
    SILENT = -4
    """Given up: nothing is sent, the vehicle looks after itself."""


class Decision(NamedTuple):
    """What one tick came to."""

    reading: Reading
    command: np.ndarray | None
    """[A] what is sent; None: nothing."""
    nominal: np.ndarray
    """[A] what the policy asked for; NaN where it was not asked."""
    plan: Plan
    """[3] each: what the team is told."""
    reason: int
    """`Reason` of the filter, or `Held`."""
    filtered: bool
    """The command is not what the policy asked for."""
    solved: bool
    slack: float
    margin_m: float


@dataclass(frozen=True)
class Patience:
    """How long to go on without what one needs."""

    max_gap_s: float = 0.1
    """Longer without a decision of the policy, and its memory starts again."""
    silent_after_s: float = 1.0
    """After so long of blind braking the robot falls silent."""


class Autopilot:
    """Decisions of one robot; `tick` is called at the bundle's rate."""

    def __init__(self, pilot: Pilot, inbox: Inbox, patience: Patience = Patience()) -> None:  # noqa: B008
        """Put together; inactive until `activate`."""
        self._pilot, self._inbox, self._patience = pilot, inbox, patience
        self._fallback = Fallback(pilot.safety.params)
        self._carry: PilotCarry | None = None
        self._began_s = self._decided_s = self._lost_s = math.nan
        self.active = self.gave_up = False
        self.error = ""
        """What the policy or the filter last raised."""

    def activate(self, now: Now) -> tuple[Problem, ...]:
        """Begin to fly, if every input is there and fresh; else nothing changes. Returns what is wrong."""
        reading = self._inbox.read(now)
        if reading.problems:
            return reading.problems
        self._carry, self.error = None, ""
        self._fallback.forget()
        self._began_s, self._lost_s = now.steady_s, math.nan
        self.active, self.gave_up = True, False
        return ()

    def deactivate(self) -> None:
        """Send nothing from now on."""
        self.active = False

    def tick(self, now: Now) -> Decision:
        """One decision."""
        reading = self._inbox.read(now, now.steady_s - self._began_s if self.active else 0.0)
        if not self.active:
            return self._hold(reading, Held.SILENT if self.gave_up else Held.INACTIVE, None)
        if not reading.own_ok:
            return self._blind(reading, now, Held.BLIND)
        try:
            decision = self._fly(reading, now)
        except Exception as error:  # whatever it is, the robot must not fly on with it
            self.error = f"{type(error).__name__}: {error}"
            return self._blind(reading, now, Held.FAILED)
        self._lost_s, self._decided_s = math.nan, now.steady_s
        return decision

    def _fly(self, reading: Reading, now: Now) -> Decision:
        if self._carry is None or now.steady_s - self._decided_s > self._patience.max_gap_s:
            self._carry = self._fresh_carry(reading.view)
        self._carry, result = self._pilot.step(self._carry, reading.view)
        command = np.asarray(result.command, float)
        if not np.isfinite(command).all():
            raise ValueError(f"the filter let a command through that is not finite: {command}")
        self._fallback.note(now.steady_s, command)
        return _decision(reading, command, Plan(*self._carry.safety.plan), result)

    def _fresh_carry(self, view: LocalView) -> PilotCarry:
        """Memory from the start; but what was really sent of late is still on its way to the rotors."""
        carry = self._pilot.init(view)
        queue = np.array(carry.safety.commands)
        if late := self._fallback.latest(len(queue)):
            queue[-len(late) :] = late
        return carry._replace(safety=carry.safety._replace(commands=queue))

    def _blind(self, reading: Reading, now: Now, reason: Held) -> Decision:
        """Brake without knowing where one is; give up when that has lasted too long."""
        self._carry = None
        self._lost_s = now.steady_s if math.isnan(self._lost_s) else self._lost_s
        if now.steady_s - self._lost_s > self._patience.silent_after_s:
            self.active, self.gave_up = False, True
            return self._hold(reading, Held.SILENT, None)
        age_s = now.stamp_s - self._inbox.own_stamp_s
        command = self._fallback.brake(self._inbox.own, age_s, now.steady_s)
        self._fallback.note(now.steady_s, command)
        return self._hold(reading, reason, command)

    def _hold(self, reading: Reading, reason: Held, command: np.ndarray | None) -> Decision:
        nothing = np.full(self._pilot.policy.action.size, np.nan)
        plan = self._fallback.plan(self._inbox.own)
        return Decision(reading, command, nothing, plan, reason, command is not None, False, 0.0, math.inf)


def _decision(reading: Reading, command: np.ndarray, plan: Plan, result: FilterResult) -> Decision:
    return Decision(
        reading=reading,
        command=command,
        nominal=np.asarray(result.nominal, float),
        plan=plan,
        reason=int(result.reason),
        filtered=bool(result.active),
        solved=bool(result.solved),
        slack=float(result.slack),
        margin_m=float(result.margin_m),
    )
