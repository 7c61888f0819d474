"""`Autopilot`: one robot's decisions, from the content of its inbox to the messages that it sends. No
ROS here.

Fail closed. As long as the robot has its own state estimate, the safety filter decides, and brakes
if a teammate is stale, missing or a stranger. A policy that raises an exception has no command, as
one that answers NaN: the filter decides, and the robot holds its place. If the robot has lost its own
state, or the filter raises an exception, it brakes from the motion that the commands it sent must have
caused (`blind brake`: needs the last estimate and the own commands, nothing else). That is valid for a
short time only: then it stops, falls silent, and the vehicle does the action of its file under
`on_command_loss`. Only an operator makes it fly again. `state_machine` has all transitions.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.pilot import Pilot
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.model.bias import Bias
from robomarl.core.view import LocalView, Plan
from robomarl.ros.recording.watch import RecordingWatch
from robomarl.ros.robot import state_machine
from robomarl.ros.robot.decider import Decider, NominalSource
from robomarl.ros.robot.decision import Decision, Held, decision_of
from robomarl.ros.robot.heartbeat import Heartbeat
from robomarl.ros.robot.hover.control import HoverController
from robomarl.ros.robot.hover.touchdown import FREE_FALL_M_S2
from robomarl.ros.robot.inbox import Inbox, InputSnapshot, Now, Problem
from robomarl.ros.robot.state_machine import (
    EXPLAINED,
    MOVING,
    POLICY,
    Conditions,
    Order,
    Patience,
    State,
    Status,
    TeamFallback,
)
from robomarl.ros.robot.team_agreement import TeamAgreement
from robomarl.ros.timing.failed import told

HELD_UP_S, SINKS_M = 5.0, 0.02
"""Time [s] after which a landing ends whose reference has sunk by less than this distance [m]."""
INTO_FLIGHT = (Order.ARM, Order.PREPARE, Order.ACTIVATE)
"""Orders with a refusal that names the missing inputs."""


class TeamWatch(NamedTuple):
    """A robot's knowledge of team, E-stop, hover altitudes and recording, besides the teammates' states."""

    agreement: TeamAgreement
    heartbeat: Heartbeat
    hover: HoverController
    recording: RecordingWatch = RecordingWatch("", False)


class Autopilot:
    """Decisions of one robot; `tick` is called at the bundle's rate, `order` when an operator asks for something."""

    def __init__(
        self,
        pilot: Pilot,
        inbox: Inbox,
        team: TeamWatch,
        patience: Patience = Patience(),  # noqa: B008
        landing: SafetyFilter | None = None,
    ) -> None:
        """Start in STANDBY.

        Args:
            pilot: policy and filter.
            inbox: received messages.
            team: agreement, heartbeat, hover controller and recording.
            patience: how long to go on without an input, and the action after that.
            landing: the filter of a landing, with a floor below the ground; None: the pilot's.
        """
        self._inbox, self._patience = inbox, patience
        self._decider = Decider(pilot, landing, patience.max_gap_s)
        self._agreement, self._heartbeat, self._hover, self._recording = team
        self._layout, self._fallback = self._decider.layout, self._decider.fallback
        self._began_s = self._entered_s = self._ticked_s = math.nan
        self._sunk = math.inf, math.nan
        """Lowest height of the reference in this landing [m], and when it came there [s]."""
        self._lost: tuple[str, ...] = ()
        """Team-mates that are lost now, to this robot or to another one."""
        self.status = Status()
        self.why = ""
        """Reason, in words, why the robot went into HOLD, LAND, STOP or ESTOP; "" in other states."""
        self.ordered = False
        """An operator did."""
        self.gave_up: tuple[str, ...] = ()
        """Teammates that were lost when the robot went into HOLD or LAND without an order; the team is told."""
        self.error = ""
        """Latest error of the policy or the filter."""
        self.pilot_s = 0.0
        """Time that policy and filter took in the last tick [s]."""

    @property
    def state(self) -> State:
        """State of the robot."""
        return self.status.state

    @property
    def active(self) -> bool:
        """Commands are sent."""
        return self.state in MOVING

    @property
    def bias(self) -> Bias | None:
        """The filter's estimate of the bias; None before its first decision."""
        return self._decider.bias

    @property
    def words(self) -> np.ndarray | None:
        """[1 + 2 K, 15] words of a certified robot to its teammates; None for another robot, or before a decision."""
        return self._decider.words

    @property
    def doubts(self) -> str:
        """Reasons why a certified robot takes no new course; "" if there are none."""
        found = self._decider.doubts
        if found is None or not self.active:
            return ""
        names = [self._inbox.mates[k] for k in found.unagreed]
        agrees = [f"has agreed on no course with {', '.join(names)} yet"] if names else []
        outside = ["is outside its tube"] if found.trip and not found.waits else []
        near = [self._inbox.mates[k] for k in found.too_near]
        outside += [f"heard {', '.join(near)} later than radio range_m says"] if near else []
        brakes = {
            "a stranger is faster, or nearer, than its bounds let it be": found.strays,
            "its clock was set": found.waits,
        }
        outside += [f"brakes, because {why}" for why, does in brakes.items() if does]
        return "; ".join([*agrees, *outside])

    def clock_jumped(self, by_s: float) -> None:
        """The clock of stamps was set by this time [s]."""
        self._decider.clock_jumped(by_s)

    @property
    def observed(self) -> np.ndarray | None:
        """Observation of the policy in the last tick; None if it was not asked."""
        return self._decider.observed

    def latch(self) -> None:
        """An E-stop of before the start of this process still holds."""
        self.status = Status(State.ESTOP)

    def problems(self, now: Now) -> list[Problem]:
        """Everything that stands against arming and activation."""
        reading = self._inbox.read(now)
        return [*reading.problems, *self._others(now.steady_s)]

    def order(self, order: Order, now: Now) -> str:
        """Carry out an operator's order; return why not, "" if it was carried out."""
        conditions = self._conditions(self._inbox.read(now), now)
        status, refusal = state_machine.on_order(self.status, order, conditions)
        if not refusal:
            self._explain(status.state, f"{order} was ordered", True)
            self._enter(status, now)
            return ""
        wrong = self.problems(now) if order in INTO_FLIGHT and not conditions.ready else []
        return "; ".join([refusal, *map(str, wrong)])

    def tick(self, now: Now) -> Decision:
        """One decision."""
        self.pilot_s, self._decider.observed, self._inbox.jumps.in_flight = 0.0, None, self.active
        reading = self._inbox.read(now, now.steady_s - self._began_s if self.active else 0.0)
        self._decider.hear(reading.told, now.stamp_s, reading.gone)
        conditions = self._conditions(reading, now)
        self._ticked_s = now.steady_s
        status = state_machine.on_tick(self.status, conditions)
        self._explain(status.state, state_machine.cause(self.state, status.state, conditions), False)
        self._enter(status, now)
        if not self.active:
            self._decider.rest(reading.view)
            return self._hold(reading, Held.SILENT if self.state is State.STOP else Held.INACTIVE, None)
        if not reading.own_ok:
            return self._blind(reading, now, Held.BLIND)
        if self.state is State.LAND and self._hover.on_ground(now.steady_s):
            self._decider.rest(reading.view)
            return self._hold(reading, Held.LANDED, self._layout.padded(np.array(FREE_FALL_M_S2)))
        try:
            return self._fly(reading, now)
        except Exception as error:  # whatever it is, the robot must not fly on with it
            self.error = told(error)
            return self._blind(reading, now, Held.FAILED)

    def _others(self, at_s: float) -> list[Problem]:
        """Return the problems reported by team, operator and recorder."""
        return [w for watch in (self._agreement, self._heartbeat, self._recording) for w in watch.problems(at_s)]

    def _conditions(self, reading: InputSnapshot, now: Now) -> Conditions:
        own, mates, at_s = self._inbox.own, reading.view.heard, now.steady_s
        waits = self.state <= State.READY or self.state is State.HOLD
        flies = self.state in POLICY  # then nobody asks how high the team is, and whether the load hangs free
        in_state_s = at_s - self._entered_s
        rule, why = self._rule(reading, at_s) if self.active else (TeamFallback.CONTINUE, "")
        task = self._inbox.task
        hangs = task.hangs(reading.view)
        return Conditions(
            ready=waits and not (reading.problems or self._others(at_s)),
            link=self._heartbeat.alive(at_s),
            pressed=self._heartbeat.pressed(at_s),
            aloft=own is not None and self._hover.aloft(float(own.pos_m[2])),
            team_aloft=flies or all(map(self._hover.aloft, mates.pos_m[:, 2][mates.mask].tolist())),
            lifted=flies or task.lifted(reading.view),
            blended=in_state_s >= self._patience.blend_s,
            down=self.state is State.LAND and own is not None and self._hover.down(own, at_s),
            held_up=self._is_held_up(at_s) and not hangs,
            lost=at_s - self._decider.lost_s > self._patience.silent_after_s,
            away=at_s - self._ticked_s > self._patience.vehicle_alone_s,
            expired=self.status.armed and not self.active and in_state_s > self._patience.arm_lasts_s,
            rejoins=hangs and any(one is not None and one.word.number > 0 for one in reading.told),
            rule=rule,
            waited=self.state is State.TAKEOFF and in_state_s > self._patience.takeoff_s,
            rule_why=why,
        )

    def _is_held_up(self, at_s: float) -> bool:
        """Return True if a certified robot has not sunk for long in LAND, as beside a teammate that does not answer."""
        height_m = self._decider.height_m
        if self.state is not State.LAND or height_m is None:
            self._sunk = math.inf, at_s
        elif height_m < self._sunk[0] - SINKS_M:
            self._sunk = height_m, at_s
        return at_s - self._sunk[1] > HELD_UP_S

    def _rule(self, reading: InputSnapshot, at_s: float) -> tuple[TeamFallback, str]:
        """Return the rule for a lost teammate or, under a load, for a teammate's fallback or lost sensors; and
        the reason.

        A lost teammate is taken to rest at the stop point of its last message. One that only other robots
        have lost is still received, and is not replaced.
        """
        lost = self._agreement.lost_mates(self._inbox.silent_s(at_s), self._patience.robot_lost_after_s)
        for name in lost:
            self._inbox.stand_in(name)
        told = [f"{by} lost {name}" for name, by in self._agreement.given_up().items() if name not in lost]
        self._lost = (*lost, *(name for name in self._agreement.given_up() if name not in lost))
        why = "; ".join([f"lost {', '.join(lost)}"] * bool(lost) + told)
        asked = {self._patience.on_robot_lost: why} if why else {}
        if (team_rule := self._inbox.task.team_rule) is not TeamFallback.CONTINUE:
            if not reading.task_ok:
                asked[team_rule] = "; ".join(str(p) for p in reading.problems) or "a sense is lost"
            if (fell := self._agreement.mates_fallback()) is not None:
                asked[TeamFallback.LAND if fell is State.LAND else team_rule] = f"a team-mate is in {fell.name}"
        for rule in (TeamFallback.LAND, TeamFallback.HOLD):
            if rule in asked:
                return rule, asked[rule]
        return TeamFallback.CONTINUE, ""

    def _explain(self, after: State, why: str, ordered: bool) -> None:
        """Keep the reason of a change of state; the end of a landing keeps the reason of its beginning."""
        if after is self.state:
            return
        if why:
            self.why, self.ordered = why, ordered
            self.gave_up = self._lost if after in (State.HOLD, State.LAND) and not ordered else ()
        if after not in EXPLAINED:
            self.why, self.ordered, self.gave_up = "", False, ()

    def _enter(self, status: Status, now: Now) -> None:
        """Take up a status; some states begin with something."""
        before, self.status = self.status, status
        if before == status:
            return
        self._entered_s = now.steady_s
        if status.state not in MOVING or before.state == status.state:
            return
        if before.state not in MOVING:
            self._decider.begin()
            self._began_s, self.error = now.steady_s, ""
        if before.state not in MOVING or before.state is State.HOLD and status.state is not State.LAND:
            self._agreement.takes_off()
            self._inbox.recall()
        self._decider.renew(status.state is State.BLEND)
        if status.state is not State.ACTIVE:
            self._hover.begin()

    def _fly(self, reading: InputSnapshot, now: Now) -> Decision:
        result = self._decider.decide(reading.view, now.steady_s, self._wanted(reading.view, now))
        self.pilot_s = self._decider.pilot_s
        decision = decision_of(reading, result, Plan(*self._decider.plan))
        if self._decider.error is None:
            return decision
        self.error = told(self._decider.error)
        return decision._replace(reason=Held.RAISED)

    def _wanted(self, view: LocalView, now: Now) -> NominalSource:
        """Return the source of the command in this state, before the filter."""
        if self.state in POLICY and (waiting := self._inbox.task.waits(view)) is not None:
            return NominalSource(math.nan, waiting)
        if self.state is State.ACTIVE:
            return NominalSource(1.0)
        own, brake = self._inbox.own, self._decider.pilot.safety.params.safety.brake_m_s2
        assert own is not None
        # Nobody knows where a vehicle lies that hung from the load: straight down is where none has been.
        station = None if self._inbox.misses_mates else self._inbox.task.station(view)
        led = self._decider.reference(own, view)
        hovering = self._layout.padded(self._hover(self.state, led, (now.steady_s, brake), station))
        self._hover.note(self.state, own, now.steady_s)
        if self.state is not State.BLEND:
            return NominalSource(math.nan, hovering, self.state is State.LAND)
        return NominalSource(min((now.steady_s - self._entered_s) / max(self._patience.blend_s, 1e-9), 1.0), hovering)

    def _blind(self, reading: InputSnapshot, now: Now, reason: Held) -> Decision:
        """Brake without knowing where one is; give up when that has lasted too long."""
        last = self._inbox.own, now.stamp_s - self._inbox.own_stamp_s
        return self._hold(reading, reason, self._decider.blind(reading.view, last, now.steady_s))

    def _hold(self, reading: InputSnapshot, reason: Held, command: np.ndarray | None) -> Decision:
        nothing = np.full(self._decider.pilot.policy.action.size, np.nan)
        plan = self._fallback.plan(self._inbox.own)
        return Decision(reading, command, nothing, plan, reason, command is not None, False, 0.0, math.inf)
