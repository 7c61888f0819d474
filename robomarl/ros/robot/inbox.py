"""`Inbox`: the latest message of every source becomes one `LocalView`; missing and stale sources are
named.

No ROS here. Two clocks are kept apart. The *source age* of a message is the time since its stamp,
by the clock that all robots share. The *delivery age* is the time since one arrived, by this
machine's steady clock. A clock that is set back or a receiver that froze shows in only one of the
two ages, so the larger one counts.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.core.certificate.figures import CLOCK_OFFSET_S
from robomarl.core.view import Goal, Heard, LocalView, Own, Plan
from robomarl.ros.fieldtask import PLAIN, FieldTask
from robomarl.ros.intake.goal_slot import GoalLimits, GoalSlot
from robomarl.ros.intake.sound import fault_of, sound
from robomarl.ros.io.messages import Broadcast, Estimate, PoseHistory, TeamSnapshot, fault_in
from robomarl.ros.robot.certified.words import AddressedWord, told_to
from robomarl.ros.robot.jumps import JumpCheck, Reach
from robomarl.ros.robot.slot import NEVER, Now, Slot, from_the_future
from robomarl.ros.robot.state_machine import TeamFallback

OWN = "odometry"
"""The own estimate among the sources."""


class Count(NamedTuple):
    """Messages of one source so far."""

    received: int
    lost: int
    refused: int = 0
    """Number of received messages that could not be read."""


class Problem(NamedTuple):
    """An input that can't be used."""

    source: str
    """`odometry`, `goal`, `monitor`, a sensed topic, or the name of a team-mate."""
    text: str

    def __str__(self) -> str:
        return f"{self.source}: {self.text}"


class InputSnapshot(NamedTuple):
    """View at one moment, and its problems."""

    view: LocalView
    """Team-mates that were never heard, fly another bundle or send from the future are masked. Stale ones are
    not: the policy's features and the filter judge their age themselves."""
    own_ok: bool
    """True if the inputs for flying at all can be used: the own estimate and, without a team's fallback, goal and
    sensors.
    """
    task_ok: bool
    """Goal and the task's own sensors can be used."""
    problems: tuple[Problem, ...]
    """Everything that stands against activation."""
    source_age_s: np.ndarray
    """[1 + K] of the own estimate and of each team-mate; +inf where there is none."""
    delivery_age_s: np.ndarray
    """[1 + K] likewise."""
    jumps: int
    """Own estimates so far that lay further from the last one than the vehicle can move."""
    sensed_age_s: tuple[float, ...] = ()
    """Age [s] of each of the task's own sensors, since the stamp; +inf if there is none."""
    goals: int = 0
    """How many goals have arrived."""
    told: tuple[AddressedWord | None, ...] = ()
    """[K] words of certified team-mates to this robot; None where there are none that count."""
    gone: tuple[int, ...] = ()
    """Rows of team-mates that left in flight, and are taken to rest at their stop points."""


@dataclass(frozen=True)
class InboxLimits:
    """When an input counts as stale."""

    own_age_s: float
    mate_age_s: float
    frozen_s: float = 0.5
    """The own estimate has not changed in any bit for this long: its source hangs."""
    future_s: float = 0.05
    """A stamp may be ahead of this machine's clock by this much."""
    reach: Reach | None = None
    """How far the vehicle can move from one own estimate to the next; None: not checked."""
    goals: GoalLimits = GoalLimits()
    """Limits on the positions of goals."""


class Inbox:
    """Messages in, view out, for the robot `index` of `team`."""

    def __init__(self, team: tuple[str, ...], index: int, limits: InboxLimits, task: FieldTask = PLAIN) -> None:
        """Start empty.

        Args:
            team: names of all robots, in the order of their indices.
            index: index of this robot in the team.
            limits: limits beyond which an input is stale.
            task: task with its sensors.
        """
        self.limits, self.task = limits, task
        self._sensed = {sensor.topic.name: Slot() for sensor in task.sensors}
        ages = {sensor.topic.name: sensor.max_age_s for sensor in task.sensors}
        self._max_age_s = {name: task.max_age_s if age is None else age for name, age in ages.items()}
        self._standing: dict[str, Broadcast] = {}
        self.mates = tuple(team[(index + 1 + k) % len(team)] for k in range(len(team) - 1))
        self.jumps = JumpCheck(limits.reach, task.put_back_s)
        """Check of own estimates for jumps."""
        self._own, self._changed_s = Slot(), NEVER
        self.now_s = math.inf
        """Time [s] on the clock of stamps at which new messages are put in; a message with a later stamp is
        rejected.
        """
        self._numbers: list[float] = []
        self._same_s = 0.0
        self._heard = {name: Slot() for name in self.mates}
        self._rows = np.zeros((5, len(self.mates), 3))
        self._said: list[Broadcast | None] = [None] * len(self.mates)
        self._name = team[index]
        self._told: list[tuple[Broadcast | None, AddressedWord | None]] = [(None, None)] * len(self.mates)
        self._waiting = [list[tuple[Broadcast | None, float]]() for _ in self.mates]
        self._goal, self._history = GoalSlot(limits.goals, task.fixed_goal), PoseHistory()
        self._arrived: Estimate | None = None
        self._arrivals = PoseHistory()
        self._bundles: dict[str, str] = {}
        self._bundle, self._unlike = "", frozenset[str]()

    def put_own(self, estimate: Estimate, stamp_s: float, steady_s: float) -> None:
        """A state estimate of this robot arrived."""
        # In plain floats: between two ticks the machine did other things, and every function of numpy is cold.
        numbers = [number for part in estimate for number in part.tolist()]
        self._own.refusal = "" if sound(numbers) else fault_of(numbers, "a number")
        if self._own.refusal:
            return  # blind braking goes on from the last one that was good
        since_s = self._own.since_s(stamp_s, steady_s, self.limits.own_age_s)
        same_s = since_s + self._same_s  # a source that hung says where the robot was then
        if since_s <= 0 or not self.jumps.trusts(self._arrived, estimate, same_s):
            return  # it comes late, and what came since then is newer; or it jumped
        if numbers != self._numbers:
            self._numbers, self._changed_s, same_s = numbers, steady_s, 0.0
        self._same_s = same_s
        self._arrived = estimate
        self._arrivals.add(estimate, stamp_s)
        estimate = self.task.placed(estimate, stamp_s)
        self._own.put(estimate, stamp_s, steady_s, self.limits.own_age_s)
        self._history.add(estimate, stamp_s)

    def put_mate(self, name: str, broadcast: Broadcast, stamp_s: float, steady_s: float) -> str:
        """A team-mate's message arrived; returns why it is none: its sender ages. "" where it is one."""
        if why := fault_in(broadcast) or self._ahead(stamp_s):
            return self.refuse(name, why)
        self._heard[name].put(broadcast, stamp_s, steady_s, self.limits.mate_age_s)
        return ""

    def put_sensed(self, name: str, value: object, stamp_s: float, steady_s: float) -> str:
        """A message of one of the task's own sensors arrived; returns as `put_mate`."""
        if why := self._ahead(stamp_s):
            return self.refuse(name, why)
        self._sensed[name].put(value, stamp_s, steady_s, self._max_age_s[name])
        if self._sensed[name].value is value:
            self.task.hear(name, value, self._arrivals)
        return ""

    def refuse(self, source: str, why: str) -> str:
        """Note that a message of a source was invalid, as its reader found; it is named with the source's age.
        Return `why`.

        The source ages as if nothing had come, but an invalid own estimate is not flown on for another
        tick.
        """
        slot = self._own if source == OWN else self._heard.get(source) or self._sensed[source]
        slot.refusal = why
        return why

    def stand_in(self, name: str) -> None:
        """A team-mate is gone: from now on it stands where its last message said that it would come to rest."""
        said = self._heard[name].value
        if said is not None and name not in self._standing:
            stop, still = said.plan.stop_m, np.zeros(3)
            self._standing[name] = Broadcast(stop, still, Plan(stop, still, stop))

    def silent_s(self, steady_s: float) -> dict[str, float]:
        """How long each team-mate has been silent [s], a silence that has just ended included; +inf if never heard."""
        return {name: slot.silence.of(steady_s) for name, slot in self._heard.items()}

    @property
    def misses_mates(self) -> bool:
        """True if a teammate that is gone is taken to rest at its stop point."""
        return bool(self._standing)

    def recall(self) -> None:
        """End the replacement of teammates that are gone."""
        self._standing.clear()

    def clock_jumped(self) -> None:
        """Note that the clock of stamps was set: the next sample counts, with any stamp."""
        for slot in (self._own, *self._heard.values(), *self._sensed.values()):
            slot.arrived_s = NEVER

    def put_goal(self, goal: Goal) -> str:
        """A goal arrived; goals do not age. Returns why it is refused, see `GoalSlot.put`; "" if it is not."""
        own = self.own
        return self._goal.put(goal, Goal(own.pos_m, own.quat_wxyz) if own and self.jumps.in_flight else None)

    def put_bundle(self, name: str, bundle_id: str) -> None:
        """A team-mate said which bundle it flies."""
        self._bundles[name] = bundle_id

    def expect_bundle(self, bundle_id: str, unlike: Iterable[str] = ()) -> None:
        """Count only teammates with this bundle as received, and those of other vehicles; "" lets all count."""
        self._bundle, self._unlike = bundle_id, frozenset(unlike)

    @property
    def own(self) -> Estimate | None:
        """The latest estimate, however old."""
        return self._own.value  # type: ignore[return-value]

    @property
    def own_stamp_s(self) -> float:
        """Its stamp; -inf if there is none."""
        return self._own.stamp_s

    def stamps(self) -> list[float]:
        """Return the stamps of the latest messages of the odometry, of each teammate and of each sensor; -inf
        without one.
        """
        return [slot.stamp_s for slot in (self._own, *self._heard.values(), *self._sensed.values())]

    def read(self, now: Now, time_s: float = 0.0) -> InputSnapshot:
        """Return this robot's current knowledge.

        Args:
            now: current time on both clocks.
            time_s: time since the policy was activated [s].
        """
        own_problems, task_problems = self._own_problems(now), [*self._goal_problems(), *self._sensed_problems(now)]
        slots = (self._own, *self._heard.values())
        source = [now.stamp_s - slot.stamp_s for slot in slots]
        delivery = [now.steady_s - slot.arrived_s for slot in slots]
        judged = {name: self._judge(name, slot, now) for name, slot in self._heard.items()}
        told = {"goal": self._goal.refused, **{name: text for name, (text, _) in judged.items()}}
        problems = [*own_problems, *task_problems, *(Problem(name, text) for name, text in told.items() if text)]
        ages = [max(pair) for pair in zip(source, delivery, strict=True)]
        view = self._view(ages, [use for _, use in judged.values()], now.stamp_s, time_s)
        own_ok = not (own_problems or task_problems and self.task.team_rule is TeamFallback.CONTINUE)
        ages = np.array(source), np.array(delivery)
        sensed = tuple(now.stamp_s - slot.stamp_s for slot in self._sensed.values())
        said = [slot.value if judged[name][1] else None for name, slot in self._heard.items()]
        told = self._told_by(said, now.steady_s)
        gone = tuple(k for k, name in enumerate(self.mates) if name in self._standing)
        seen = view, own_ok, not task_problems, tuple(problems)
        return InputSnapshot(*seen, *ages, self.jumps.count, sensed, self._goal.count, told, gone)

    def _own_problems(self, now: Now) -> list[Problem]:
        text = f"refused: {self._own.refusal}" if self._own.refusal else self.jumps.problem
        text = text or self._own.problem(now, self.limits.own_age_s, self.limits.future_s)
        still = now.steady_s - self._changed_s
        if not text and still > self.limits.frozen_s:
            text = (
                f"has not changed in any bit for {still:.2f} s; a simulator without noise needs frozen_after_s: 86400"
            )
        text = text or self.task.doubt()
        return [Problem(OWN, text)] if text else []

    def _goal_problems(self) -> list[Problem]:
        if self._goal.value is None:
            return [Problem("goal", self._goal.missing)]
        return [] if math.isfinite(self._goal.value.pos_m.sum()) else [Problem("goal", "is not finite")]

    def _sensed_problems(self, now: Now) -> list[Problem]:
        future_s, ages = self.limits.future_s, self._max_age_s
        texts = {name: slot.problem(now, ages[name], future_s) for name, slot in self._sensed.items()}
        return [Problem(name, text) for name, text in texts.items() if text]

    def _judge(self, name: str, slot: Slot, now: Now) -> tuple[str, bool]:
        """Return the problem of a teammate's message, and True if the message goes into the view."""
        theirs = self._bundles.get(name, "")
        if name in self._standing:
            return "", True
        if slot.value is None:
            return slot.nothing, False
        if (ahead := slot.stamp_s - now.stamp_s) > self.limits.future_s:
            return from_the_future(ahead), False
        if self._bundle and theirs != self._bundle and name not in self._unlike:
            return f"flies bundle {theirs[:12] or '(unknown)'}, this robot {self._bundle[:12]}", False
        return slot.problem(now, self.limits.mate_age_s, self.limits.future_s), True

    def _ahead(self, stamp_s: float) -> str:
        ahead_s = stamp_s - self.now_s
        return from_the_future(ahead_s) if ahead_s > self.limits.future_s else ""

    def _view(self, age_s: list[float], usable: list[bool], now_s: float, time_s: float) -> LocalView:
        own = self._own.value or _NOWHERE
        ages = [0.0] * len(self.mates)
        heard: list[tuple[Broadcast | None, float]] = [(None, math.inf)] * len(self.mates)
        for k, (name, slot) in enumerate(self._heard.items()):
            if usable[k]:
                said = self._standing.get(name) or slot.value
                ages[k] = 0.0 if name in self._standing else max(age_s[1 + k], 0.0)
                heard[k] = said, ages[k]
        pos, vel, *plan = self._rows_of([said for said, _ in heard])
        snapshot = TeamSnapshot(now_s, self._history, tuple(heard))
        return LocalView(
            own=Own(*own, age_s=np.float64(max(age_s[0], 0.0))),
            heard=Heard(np.array(usable, bool), pos, vel, np.array(ages), Plan(*plan)),
            sensed=self.task.sensed({name: slot.value for name, slot in self._sensed.items()}, snapshot),
            goal=self._goal.value or _NO_GOAL,
            role=self.task.role,
            time_s=np.float64(time_s),
        )

    def _told_by(self, said: list[Broadcast | None], now_s: float) -> tuple[AddressedWord | None, ...]:
        """Return what messages tell this robot; only those that are new since the last time are read.

        Words wait until they are older than clocks differ: nobody hears, by its own clock, what is not yet said. While
        the newest ones wait, those that waited before them are read.
        """
        for k, (name, newest) in enumerate(zip(self.mates, said, strict=True)):
            before, _ = self._told[k]
            if newest is before and not self._waiting[k]:
                continue
            waited = [(one, at_s) for one, at_s in self._waiting[k] if one is not newest]
            arrived = [*waited, (newest, self._heard[name].arrived_s)]
            ready = [one for one, at_s in arrived if one is None or now_s - at_s >= CLOCK_OFFSET_S]
            self._waiting[k] = [] if newest is None else [one for one in arrived if now_s - one[1] < CLOCK_OFFSET_S]
            now = ready[-1] if ready else before
            if now is not before:
                self._told[k] = now, told_to(now.words if now else None, self._name)
        return tuple(told for _, told in self._told)

    def _rows_of(self, said: list[Broadcast | None]) -> np.ndarray:
        """Return every teammate's latest message as rows [5, K, 3], zeros for none; only rows that are new since the
        last tick are written.
        """
        for k, (now, before) in enumerate(zip(said, self._said, strict=True)):
            if now is not before:
                self._rows[:, k] = 0.0 if now is None else (now.pos_m, now.vel_m_s, *now.plan)
        self._said = said
        return self._rows.copy()


_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
_NOWHERE = Estimate(np.zeros(3), _UPRIGHT, np.zeros(3), np.zeros(3))
_NO_GOAL = Goal(np.zeros(3), _UPRIGHT)
