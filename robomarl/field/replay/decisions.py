"""`RobotReplay`: the decisions of one robot once more, on the very messages that it had used.

A row of its `tick` topic says how old each input was, so it names the message by its stamp. View, observation, policy,
rules and filter are the node's own code. Each link of the chain is compared by itself: the observation is made anew
from the messages; the policy is given the recorded observation; the filter is given the recorded nominal command.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.bundle.pilot import AnyPolicy, Pilot
from robomarl.core.spec import Memory
from robomarl.core.types import Array
from robomarl.core.view import Goal, LocalView
from robomarl.field.replay.goals import RecordedGoals
from robomarl.field.replay.ticks import OWN, TickColumns, is_sensed
from robomarl.ros.io.messages import Estimate
from robomarl.ros.recording.tick_record import SENSED
from robomarl.ros.robot.assembly import assemble
from robomarl.ros.robot.decider import Decider, NominalSource
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.inbox import Now
from robomarl.ros.robot.startup import Loaded
from robomarl.ros.robot.state_machine import MOVING, POLICY, State, TeamFallback
from robomarl.ros.robot.team_agreement import Announcement
from robomarl.ros.settings import PolicySettings

SAME_STAMP_S = 2e-6
"""Stamps that differ by less are of one message: ages are differences of doubles since the epoch."""

AHEAD_S = 1.0
"""A stamp that is further ahead of the recorder's clock is of no message that a robot used."""


class Again(NamedTuple):
    """One tick, decided again; None where a link was not in use or can't be compared."""

    policy: np.ndarray | None = None
    """[A] the policy's command on the recorded observation, minus the recorded one."""
    command: np.ndarray | None = None
    """[A] the command that is sent here, minus the recorded one."""
    observation: np.ndarray | None = None
    """[O] made of the recorded messages, minus the recorded one."""
    whole: bool = True
    """The bag has every message and every tick since the robot began to move."""


class Tick(NamedTuple):
    """One row, as far as the replay reads it."""

    row: np.ndarray
    columns: TickColumns
    at_s: float
    state: State
    reason: int

    @classmethod
    def of(cls, row: np.ndarray, columns: TickColumns) -> "Tick":
        """Make a tick of a row of the topic."""
        head = columns.head
        return cls(row, columns, float(row[head["stamp_s"]]), State(int(row[head["state"]])), int(row[head["reason"]]))

    @property
    def goals(self) -> int:
        """How many had arrived."""
        return int(self.row[self.columns.head["goals"]])

    @property
    def count(self) -> int:
        """Which tick of the node this is."""
        return int(self.row[self.columns.head["count"]])


class RecordedError(Exception):
    """Raised where the recorded policy raised an exception."""


class ShownPolicy:
    """A policy that is shown the recorded observation; keeps the one that was made of the messages."""

    def __init__(self, policy: AnyPolicy) -> None:
        """Nothing is shown."""
        self._policy, self.action, self.observation = policy, policy.action, ShownObservation(policy)
        self.raises = False
        """The policy raised an exception in the recorded tick."""

    def init(self, batch: tuple[int, ...] = ()) -> tuple:
        """Return the carry of the policy."""
        return self._policy.init(batch)

    def __call__(self, carry: tuple, obs: np.ndarray) -> tuple[tuple, np.ndarray]:
        """Return the policy's next carry and action."""
        if self.raises:
            raise RecordedError
        return self._policy(carry, obs)


class ShownObservation:
    """The observation of a `ShownPolicy`."""

    def __init__(self, policy: AnyPolicy) -> None:
        """Nothing is shown."""
        self._observer = policy.observation
        self.shown: np.ndarray | None = None
        """[O] observation that the policy sees; None: the one made of the messages."""
        self.made: np.ndarray = np.empty(0)
        """[O] observation that was made last."""

    def init(self, view: LocalView) -> Memory:
        """Return the memory of the policy's own observer."""
        return self._observer.init(view)

    def observe(self, memory: Memory, view: LocalView) -> tuple[Memory, Array]:
        """Observe as the policy's own observer, but return the observation to be shown, if there is one."""
        memory, self.made = self._observer.observe(memory, view)
        return memory, self.made if self.shown is None else self.shown


class RobotReplay:
    """One robot of a recording."""

    def __init__(self, settings: PolicySettings, loaded: Loaded) -> None:
        """Start in STANDBY; nothing has been received.

        Args:
            settings: settings of its node.
            loaded: the bundle, as the node loads it.
        """
        inputs = assemble(settings, loaded).inputs
        self._inbox, self._agreement = inputs.inbox, inputs.agreement
        self._policy = ShownPolicy(loaded.pilot.policy)
        pilot = Pilot(self._policy, loaded.pilot.safety, loaded.pilot.rules)
        self._decider = Decider(pilot, loaded.landing, loaded.max_gap_s)
        self._patience_s = settings.robot_lost_after_s
        self._goes_back = settings.on_robot_lost != TeamFallback.CONTINUE
        self._waiting: dict[str, deque[tuple[Any, float]]] = {}
        self._goals = RecordedGoals()
        self._said: deque[tuple[Announcement, float]] = deque()
        self._before: Tick | None = None
        self._whole = True
        self.sensed: tuple = ()
        """Data of its task's sensors in the last tick."""

    @property
    def own(self) -> Estimate | None:
        """The latest estimate that the robot used."""
        return self._inbox.own

    def hear(self, source: str, value: Any, stamp_s: float, received_s: float = math.inf) -> None:
        """A message of a source, as `TickColumns.sources` names it, with its stamp and when it was recorded."""
        if stamp_s - received_s > AHEAD_S:
            return  # the robot refused it; and all that came after it would wait behind it
        self._waiting.setdefault(source, deque()).append((value, stamp_s))

    def tell(self, what: Goal | Announcement, received_s: float) -> None:
        """Hand over a goal, or a teammate's announcement, with the time when it was recorded."""
        if isinstance(what, Goal):
            self._goals.tell(what, received_s)
        else:
            self._said.append((what, received_s))

    def tick(self, tick: Tick) -> Again:
        """Compute again the decision that this row reports."""
        complete = self._take(tick) and not self._misses(tick)
        self._enter(tick.state, tick.at_s)
        self._whole = self._whole and complete
        self._before = tick
        if tick.state not in MOVING or tick.reason in (Held.LANDED, Held.SILENT, Held.INACTIVE):
            return Again()
        view, sent = self._view(tick), tick.row[tick.columns.command]
        self.sensed = view.sensed
        self._policy.raises = tick.reason == Held.RAISED
        if tick.reason >= 0 or self._policy.raises:
            return self._decide(view, tick, sent)
        last = self._inbox.own, tick.at_s - self._inbox.own_stamp_s
        return Again(command=self._decider.blind(view, last, tick.at_s) - sent, whole=self._whole)

    def _decide(self, view: LocalView, tick: Tick, sent: np.ndarray) -> Again:
        asked = tick.state in POLICY and self._inbox.task.waits(view) is None
        nominal, seen = tick.row[tick.columns.nominal], tick.row[tick.columns.observation]
        is_shown = asked and len(seen) > 0 and bool(np.isfinite(seen).all())
        self._policy.observation.shown = seen if is_shown else None
        wanted = NominalSource(0.0 if asked else math.nan, nominal, tick.state is State.LAND)
        result = self._decider.decide(view, tick.at_s, wanted)
        return Again(
            policy=self._decider.nominal - nominal if is_shown and tick.state is State.ACTIVE else None,
            command=result.command - sent,
            observation=self._policy.observation.made - seen if is_shown else None,
            whole=self._whole,
        )

    def _misses(self, tick: Tick) -> bool:
        """Rows between this one and the last are not in the bag."""
        if self._before is None:
            return False
        return tick.count - self._before.count > 1

    def _take(self, tick: Tick) -> bool:
        """Put the messages that were used into the inbox, and return True if the bag has them all."""
        self._hear(tick)
        row, complete = tick.row.tolist(), True
        for source, at in tick.columns.sources.items():
            used_s, waiting = tick.at_s - row[at], self._waiting.get(source)
            while waiting and waiting[0][1] <= used_s + SAME_STAMP_S:
                # Of a sensor nobody told when its message had arrived.
                arrived_s = tick.at_s - (0.0 if is_sensed(source) else row[at + 1])
                self._put(source, *waiting.popleft(), arrived_s)
        # After the own estimate, as at the node: a robot stays where it is if its goal is refused.
        for goal in self._goals.had(tick.goals, tick.at_s):
            self._inbox.put_goal(goal)
        for at, has in zip(tick.columns.sources.values(), self._inbox.stamps(), strict=False):
            used_s = tick.at_s - row[at]
            complete = complete and (not math.isfinite(used_s) or abs(used_s - has) <= SAME_STAMP_S)
        return complete

    def _hear(self, tick: Tick) -> None:
        """Announcements as they were recorded."""
        while self._said and self._said[0][1] <= tick.at_s:
            said, received_s = self._said.popleft()
            self._agreement.hear(said, received_s)
            self._inbox.put_bundle(said.robot, said.bundle_id)

    def _put(self, source: str, value: Any, stamp_s: float, arrived_s: float) -> None:
        if source == OWN:
            self._inbox.put_own(value, stamp_s, arrived_s)
        elif is_sensed(source):
            self._inbox.put_sensed(source.removeprefix(SENSED), value, stamp_s, arrived_s)
        else:
            self._inbox.put_mate(source, value, stamp_s, arrived_s)

    def _enter(self, state: State, at_s: float) -> None:
        """Do the actions at the begin of a state; see `Autopilot`."""
        before = self._before.state if self._before else State.STANDBY
        self._inbox.jumps.in_flight = before in MOVING
        if before == state or state not in MOVING:
            return
        if before not in MOVING:
            self._decider.begin()
            self._whole = True
        if before not in MOVING or before is State.HOLD and state is not State.LAND:
            self._agreement.takes_off()
            self._inbox.recall()
        self._decider.renew(state is State.BLEND)

    def _view(self, tick: Tick) -> LocalView:
        """Return the view that the robot had, with the ages and the time that it had computed, to the last bit."""
        columns, row, mates = tick.columns, tick.row, self._inbox.mates
        time_s = float(row[columns.head["time_s"]])
        reading = self._inbox.read(Now(tick.at_s, tick.at_s), time_s)
        self._decider.hear(reading.told, tick.at_s, reading.gone)
        view = reading.view
        own, *ages = (max(*row[columns.sources[source] :][:2].tolist(), 0.0) for source in (OWN, *mates))
        ages = np.where(view.heard.mask & (view.heard.age_s > 0), ages, view.heard.age_s)
        self._replace_lost(tick)
        heard = view.heard._replace(age_s=ages)
        return view._replace(own=view.own._replace(age_s=np.float64(own)), heard=heard)

    def _replace_lost(self, tick: Tick) -> None:
        """Let a lost teammate stand still from the next tick on.

        A robot that still follows its policy has not noticed the loss, unless it is to go on alone.
        """
        if tick.state in POLICY and self._goes_back:
            return
        silent_s = {name: float(tick.row[tick.columns.sources[name] + 1]) for name in self._inbox.mates}
        for name in self._agreement.lost_mates(silent_s, self._patience_s):
            self._inbox.stand_in(name)
