"""`BagReplay`: a recording as a stream, decided again tick by tick."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.field.replay.bag import Bag, RecordedMessage
from robomarl.field.replay.decisions import RobotReplay, Tick
from robomarl.field.replay.flights import FlightRows, RobotRow
from robomarl.field.replay.recording import bundle_folder, recording_of, vehicle_here
from robomarl.field.replay.sinks import ReplayedRobot, TopicSinks
from robomarl.field.replay.tally import RobotTally
from robomarl.field.replay.ticks import TickTable
from robomarl.ros import topics
from robomarl.ros.io.messages import Estimate
from robomarl.ros.robot.startup import Loaded, load_pilot
from robomarl.ros.robot.state_machine import MOVING

LAG_S = 0.5
"""Time for which ticks wait for messages that were recorded after them."""
JUMP_S = 1.0
"""Deviation of a tick's time from the count of ticks above which the clock has jumped, or the robot
stood still. If its message was received by more than this later or earlier than the first one, the
recorder's clock has jumped.
"""

Progress = Callable[[float], object]
"""Told the share that is done."""


class Cause(NamedTuple):
    """Why a robot held, landed or stopped."""

    at_s: float
    robot: str
    why: str


class Moment(NamedTuple):
    """One tick of a robot that moves."""

    robot: str
    index: int
    tick: Tick
    whole: bool
    """True as in `Again.whole`."""
    own: Estimate
    """The estimate that it used."""
    goal_m: np.ndarray
    """[3] NaN if the robot was given no goal."""
    sensed: tuple = ()
    """The view's."""


class BagReplay:
    """Streams a bag through one `RobotReplay` for each robot."""

    def __init__(self, bag: Bag, bundle: str = "", robots: Sequence[str] = ()) -> None:
        """Load the bundle that each robot flew.

        Args:
            bag: the recording.
            bundle: name or folder of another bundle; "" for the one that was flown.
            robots: those that decide again, all of one team; by default the whole team.

        Raises:
            UserError: no team, or a bundle that is not here.
        """
        self.bag, self.recording = bag, recording_of(bag, robots[0] if robots else "")
        self.causes: list[Cause] = []
        self._why: dict[str, str] = {}
        self._ticked: dict[int, Tick] = {}
        self._copies: Counter[str] = Counter()
        self._lags_s: dict[int, tuple[float, float]] = {}
        self._late_s: dict[int, tuple[float, float]] = {}
        self.watch: Callable[[Moment], None] = lambda moment: None
        """Told every tick of robots that move."""
        self.folders: dict[str, str] = {}
        """Folder of each robot's bundle."""
        self.vehicles: dict[str, str] = {}
        """Name or file of each robot's vehicle."""
        self._loaded: dict[str, Loaded] = {}
        self._robots = {name: self._robot(name, bundle) for name in robots or self.recording.team}
        self.rows = FlightRows(len(self.recording.team))
        sinks = TopicSinks(self.recording.base, bag.problems)
        for name, robot in self._robots.items():
            sinks.connect(name, self.recording.team, robot)
            sinks.on(topics.ANNOUNCE.of(name, self.recording.base), lambda heard, name=name: self._explain(name, heard))
        self._sinks, self._announcement = sinks.sinks, sinks.announcement
        every = (topics.TICK, topics.ODOMETRY, topics.STATE_AND_PLAN, topics.ANNOUNCE)
        team, base = self.recording.team, self.recording.base
        self._team_topics = {topic.of(name, base) for topic in every for name in team}

    @property
    def loaded(self) -> Loaded:
        """The first robot's bundle."""
        return next(iter(self._loaded.values()))

    @property
    def tallies(self) -> dict[str, RobotTally]:
        """Tally of each robot by name."""
        return {name: robot.tally for name, robot in self._robots.items()}

    def run(self, progress: Progress = lambda share: None) -> float:
        """Replay the whole recording, and return its length [s]."""
        first_s, last_s, done = np.inf, -np.inf, 0
        size = max(self.bag.data_bytes, 1)
        for heard in self.bag.messages():
            done += len(heard.data)
            progress(done / size)
            if heard.topic in self._team_topics:  # a message of others does not make a recording longer
                first_s, last_s = min(first_s, heard.received_s), heard.received_s
            # Before the message is heard, so that what has been heard by a time does not depend on other topics.
            self._decide_before(heard.received_s - LAG_S)
            for sink in self._sinks.get(heard.topic, ()):
                sink(heard)
        self._decide_before(np.inf)
        self._name_problems()
        return max(last_s - first_s, 0.0)

    def _robot(self, name: str, bundle: str) -> ReplayedRobot:
        settings = self.recording.settings.get(name)
        if settings is None:
            raise UserError(f"{self.bag.folder}: has no settings of {name}, which is in the team; record all of it.")
        self.folders[name] = folder = bundle_folder(self.recording, name, bundle)
        settings = replace(settings, robot_root="", bundle=folder, vehicle=vehicle_here(settings.vehicle, folder))
        self._loaded[name] = loaded = load_pilot(settings)
        self.vehicles[name] = settings.vehicle
        contract = load_bundle(folder).contract
        low, high = (np.array([getattr(e, end) for e in contract.observation.elements]) for end in ("low", "high"))
        tally = RobotTally(tuple(field.name for field in contract.action.fields), low, high)
        made = RobotReplay(settings, loaded)
        return ReplayedRobot(settings.index, loaded.task, made, tally, TickTable(), deque(), [])

    def _explain(self, name: str, heard: RecordedMessage) -> None:
        why, before = self._announcement(heard.data).why, self._why.get(name, "")
        self._why[name] = why
        if why and why != before:
            self.causes.append(Cause(heard.received_s, name, why))

    def _decide_before(self, received_s: float) -> None:
        for robot in self._robots.values():
            while robot.waiting and robot.waiting[0][0] <= received_s:
                heard_s, rows = robot.waiting.popleft()
                for row in rows:
                    self._decide(robot, row)
                self._watch_receiver(robot.index, heard_s)

    def _decide(self, robot: ReplayedRobot, row: np.ndarray) -> None:
        columns = robot.table.columns
        assert columns is not None
        tick = Tick.of(row, columns)
        if (before := self._ticked.get(robot.index)) and is_copy(before, tick, 1 / self.loaded.rate_hz):
            self._copies[self.recording.team[robot.index]] += 1
            return
        self._watch_clock(robot.index, tick)
        again = robot.replay.tick(tick)
        robot.tally.note(tick, again)
        own = robot.replay.own
        if tick.state not in MOVING or own is None:
            return
        goal = robot.goal[0] if robot.goal else own.pos_m * np.nan
        self.watch(
            Moment(self.recording.team[robot.index], robot.index, tick, again.whole, own, goal, robot.replay.sensed)
        )
        known = own.pos_m, own.quat_wxyz, own.vel_m_s, goal
        sent = row[columns.nominal], row[columns.command]
        filtered = bool(row[columns.head["filtered"]])
        self.rows.note(robot.index, tick.at_s, RobotRow(tick.state, *known, *sent, filtered))

    def _watch_receiver(self, index: int, received_s: float) -> None:
        """How much later than its stamp a tick was received, against the first one, or that after a jump of its own."""
        if (tick := self._ticked.get(index)) is None:
            return
        first_s, began_s = self._lags_s.setdefault(index, (received_s - tick.at_s, tick.at_s))
        late_s = received_s - tick.at_s - first_s
        if abs(late_s) > JUMP_S:
            since_s, most_s = self._late_s.get(index, (tick.at_s - began_s, 0.0))
            self._late_s[index] = since_s, max(most_s, late_s, key=abs)

    def _name_problems(self) -> None:
        """Add the problems that are known once all was read."""
        for name, count in self._copies.items():
            self.bag.problems.append(f"{name}: {count} ticks are in the recording more than once; each counts once.")
        for index, (since_s, late_s) in self._late_s.items():
            self.bag.problems.append(
                f"{self.recording.team[index]}: receive times part from its stamps by {late_s:+.1f} s, from "
                f"{since_s:.1f} s of its ticks on: the recorder's clock was set, or messages were under way for long."
            )
        for source in self.bag.sources:
            if not source.topics.keys() & self._sinks.keys():
                name = source.path
                self.bag.problems.append(f"{name}: has no topic of this team, and is left out; move it elsewhere.")

    def _watch_clock(self, index: int, tick: Tick) -> None:
        before, self._ticked[index] = self._ticked.get(index), tick
        jump_s = clock_jump_s(before, tick, 1 / self.loaded.rate_hz) if before else 0.0
        if abs(jump_s) > JUMP_S:
            name, at_s = self.recording.team[index], tick.row[tick.columns.head["time_s"]]
            why = "its clock jumps" if jump_s < 0 else "its clock jumps, or it stands still,"
            self._lags_s.pop(index, None)
            self.bag.problems.append(f"{name}: {why} by {jump_s:+.1f} s at {at_s:.1f} s of its flight.")


def is_copy(before: Tick, tick: Tick, period_s: float) -> bool:
    """Return True if a tick was there before: both its number and its stamp lie back, and by an equal time."""
    ticks, after_s = tick.count - before.count, tick.at_s - before.at_s
    return ticks <= 0 and after_s <= 0 and abs(after_s - ticks * period_s) <= JUMP_S


def clock_jump_s(before: Tick, tick: Tick, period_s: float) -> float:
    """How much later a tick came than the count of ticks says; 0 where the node began anew in between."""
    ticks = tick.count - before.count
    return tick.at_s - before.at_s - ticks * period_s if ticks > 0 else 0.0
