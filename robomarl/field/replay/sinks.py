"""Readers and sinks of a team's topics, which receive the messages of a bag."""

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message

from robomarl.field.replay.bag import RecordedMessage
from robomarl.field.replay.decisions import RobotReplay
from robomarl.field.replay.tally import RobotTally
from robomarl.field.replay.ticks import OWN, TickTable
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.convert import MessageError
from robomarl.ros.fieldtask import FieldTask
from robomarl.ros.intake.judge import reader_of
from robomarl.ros.io import fast_messages
from robomarl.ros.io.away_frame import turned, turned_broadcast
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import message_class
from robomarl.ros.recording.tick_record import SENSED
from robomarl.ros.robot.team_agreement import Announcement
from robomarl.ros.topics import Topic

Sink = Callable[[RecordedMessage], None]
Read = Any
"""Content of a message as its reader returns it: each topic has its own class."""
Stamped = Callable[[bytes], tuple[Read, float]]
"""Function from the bytes of a message to its content and its stamp [s]."""


class ReplayedRobot(NamedTuple):
    """One robot while its recording is read."""

    index: int
    task: FieldTask
    replay: RobotReplay
    tally: RobotTally
    table: TickTable
    waiting: deque[tuple[float, np.ndarray]]
    """(when they were recorded, rows of ticks) that have not been decided yet."""
    goal: list[np.ndarray]
    """[3] the latest one, if there is any."""


class TopicSinks:
    """Sinks by topic."""

    def __init__(self, base: str, problems: list[str]) -> None:
        """No sinks.

        Args:
            base: namespace of the team.
            problems: gets a sentence for each topic with messages that can't be read.
        """
        self._base, self._problems = base, problems
        self.sinks: dict[str, list[Sink]] = {}
        self._said: dict[tuple[str, bool], Stamped] = {}
        self.announcement: Callable[[bytes], Announcement] = _once(_announcement)
        """Reader of the messages of an `announce` topic."""

    def connect(self, name: str, team: tuple[str, ...], robot: ReplayedRobot) -> None:
        """Everything that one robot listens to, and its ticks."""
        task, replay, base = robot.task, robot.replay, self._base
        own = _turned(fast_messages.odometry_reader(name), turned if task.away else None)
        self.on(topics.ODOMETRY.of(name, base), _hears(replay, OWN, own))
        for mate in (mate for mate in team if mate != name):
            topic = topics.STATE_AND_PLAN.of(mate, base)
            said = self._shared(topic, task.away, lambda mate=mate: _broadcasts(mate, task.away))
            self.on(topic, _hears(replay, mate, said))
            self.on(topics.ANNOUNCE.of(mate, base), _announces(replay, mate, self.announcement))
        for sensor in task.sensors:
            kept = sensor.recorded
            topic = kept.name(name, base)
            seen = self._shared(topic, False, lambda kept=kept: _whole(kept.topic, kept.reader.function))
            self.on(topic, _hears(replay, SENSED + sensor.topic.name, seen))
        if not task.fixed_goal:
            self.on(task.goal_name(name, base), _aims(robot))
        self.on(topics.TICK.of(name, base), _ticks(robot))

    def _shared(self, topic: str, away: bool, make: Callable[[], Stamped]) -> Stamped:
        """One reader of a topic for all that listen to it."""
        if (topic, away) not in self._said:
            self._said[topic, away] = _once(make())
        return self._said[topic, away]

    def on(self, topic: str, sink: Sink) -> None:
        """Add a sink; messages that it can't read are left out, and named once."""
        told: list[str] = []

        def put(heard: RecordedMessage) -> None:
            try:
                sink(heard)
            except (MessageError, ValueError) as error:
                if not told:
                    told.append(f"{topic}: has messages that can't be read ({error}); they are left out.")
                    self._problems.extend(told)

        self.sinks.setdefault(topic, []).append(put)


def _broadcasts(mate: str, away: bool) -> Stamped:
    return _turned(fast_messages.broadcast_reader(mate), turned_broadcast if away else None)


def _announcement(data: bytes) -> Announcement:
    return _whole(topics.ANNOUNCE, status_messages.announcement_to)(data)


def _turned(read: Stamped, turn: Callable[[Read], Read] | None) -> Stamped:
    """Turned for a robot that thinks in the turned map."""

    def both(data: bytes) -> tuple[Read, float]:
        value, stamp_s = read(data)
        return (value if turn is None else turn(value)), stamp_s

    return both


def _once(read: Callable[[bytes], Read]) -> Callable[[bytes], Read]:
    """Return a reader that reads equal bytes once, for all successive receivers."""
    last: list[Read] = [None, None]

    def remembered(data: bytes) -> Read:
        if data is not last[0]:
            last[:] = data, read(data)
        return last[1]

    return remembered


def _whole(topic: Topic, read: Callable[[Message], Read]) -> Callable[[bytes], Read]:
    kind, judged = message_class(topic.type), reader_of(topic, read)
    return read if getattr(read, "takes_bytes", False) else lambda data: judged(deserialize_message(data, kind))


def _hears(replay: RobotReplay, source: str, read: Stamped) -> Sink:
    return lambda heard: replay.hear(source, *read(heard.data), heard.received_s)


def _announces(replay: RobotReplay, mate: str, read: Callable[[bytes], Announcement]) -> Sink:
    return lambda heard: replay.tell(read(heard.data)._replace(robot=mate), heard.received_s)


def _aims(robot: ReplayedRobot) -> Sink:
    read = _whole(robot.task.goal, convert.goal_to)

    def aim(heard: RecordedMessage) -> None:
        goal = read(heard.data)
        robot.replay.tell(goal, heard.received_s)
        robot.goal[:] = [goal.pos_m]

    return aim


def _ticks(robot: ReplayedRobot) -> Sink:
    return lambda heard: robot.waiting.append((heard.received_s, robot.table.rows(heard.data)))
