"""`Subscriptions`: all topics of one robot's policy node. Messages wait in mailboxes until the tick takes them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from rclpy.node import Node

from robomarl.ros import convert, status_messages, topics
from robomarl.ros.intake.estop_listener import EstopListener
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.intake.refusals import Refusals, refusals_of
from robomarl.ros.intake.unheard import unheard_of
from robomarl.ros.io import fast_messages
from robomarl.ros.io.away_frame import turned, turned_broadcast
from robomarl.ros.io.messages import Message, MessageInfo
from robomarl.ros.io.node_base import publisher
from robomarl.ros.robot.assembly import Inputs
from robomarl.ros.robot.inbox import OWN, Count, Now, Problem
from robomarl.ros.settings import PolicySettings
from robomarl.ros.timing.steady import Absence, steady_now_s
from robomarl.ros.topics import Topic, linked

SENT = (topics.STATE_AND_PLAN, topics.TICK, topics.ANNOUNCE, topics.DIAGNOSTICS)
T = TypeVar("T")
Stamped = tuple[T, float]
"""A value, and its stamp [s]."""
Put = Callable[[str, T, float, float], str]
"""Function (source, value, its stamp [s], arrival time [s] by the steady clock) -> why it is no message, or ""."""
SELDOM_S = 0.1
"""Goals, announcements and the like are looked for so often."""


class Subscriptions:
    """Fills inbox, agreement and heartbeat from topics, and publishes."""

    def __init__(self, node: Node, settings: PolicySettings, inputs: Inputs) -> None:
        """Subscribe and advertise.

        Args:
            node: in the namespace BASE/NAME of the robot.
            settings: the robot's name, and the properties of its radio.
            inputs: inputs to fill; the teammates of the inbox are subscribed to.
        """
        self.robot, self._settings = settings.name, settings
        self._node, self._inputs, self._seldom_s = node, inputs, -math.inf
        self._base, self._absence = node.get_namespace().rstrip("/").rpartition("/")[0], Absence()
        self.sent_s = math.nan
        """When the newest odometry was published, by the system clock."""
        task = self._task = inputs.inbox.task
        self._kept = {sensor.topic.name: sensor.kept for sensor in task.sensors if sensor.kept}
        sent = (*task.commands, *SENT, *(kept.topic for kept in self._kept.values()))
        self._publishers = {topic.name: publisher(node, self._shaped(topic), self._name(topic)) for topic in sent}
        own = self._name(topics.ODOMETRY, settings.name)
        self.own = Mailbox(node, topics.ODOMETRY, own, fast_messages.odometry_reader(self.robot))
        told = [] if task.fixed_goal else [task.goal_name(self.robot, self._base)]
        self._goals = [Mailbox(node, task.goal, name, convert.goal_to) for name in told]
        mates, said = inputs.inbox.mates, topics.STATE_AND_PLAN
        self._heard = {m: self._mailbox(self._shaped(said), m, fast_messages.broadcast_reader(m)) for m in mates}
        self._announced = {m: self._mailbox(topics.ANNOUNCE, m, status_messages.announcement_reader(m)) for m in mates}
        self._estop = EstopListener(node, self._base)
        told = topics.RECORDING
        self._recording = Mailbox(node, told, told.of("", self._base), status_messages.recording_to)
        self._sensed = [
            Mailbox(node, sensor.topic, sensor.name(self.robot, self._base), sensor.reader.function)
            for sensor in task.sensors
        ]

    def receive(self, now: Now, pictures: bool = True) -> None:
        """Put everything that has arrived by now where it belongs.

        Args:
            now: the moment.
            pictures: False leaves pictures to the next tick: only ticks are recorded, and a memory of what was seen
                depends on the order of pictures and odometry.
        """
        steady_s, inbox, self.sent_s = now.steady_s, self._inputs.inbox, math.nan
        self._absence.look(steady_s)
        inbox.now_s = now.stamp_s
        for (estimate, stamp_s), info in self._taken(self.own, OWN):
            inbox.put_own(turned(estimate) if self._task.away else estimate, stamp_s, steady_s)
            self.sent_s = info["source_timestamp"] * 1e-9
        for name, mailbox in self._heard.items():
            turn = turned_broadcast if self._task.away else None
            self._fill(mailbox, name, inbox.put_mate, turn)
        for mailbox in self._sensed:
            if mailbox.topic.name in self._kept and not pictures:
                continue
            self._fill(mailbox, mailbox.topic.name, self._put_sensed)
        self._receive_estop(steady_s)
        if steady_s - self._seldom_s >= SELDOM_S:
            self._seldom_s = steady_s
            self._receive_seldom(steady_s)

    def send(self, topic: Topic, message: Message) -> None:
        """Publish a message or its bytes; bytes are published without rclpy's own check of their type."""
        made = self._publishers[topic.name]
        if not isinstance(message, bytes):
            made.publish(message)
            return
        handle = made.handle
        with handle:
            handle.publish_raw(message)

    def rivals(self) -> list[Problem]:
        """Topics that this robot relies on, and on which several speak."""
        heard = [("odometry", self.own), *((box.topic.name, box) for box in self._sensed)]
        heard += [(mate, box) for boxes in (self._heard, self._announced) for mate, box in boxes.items()]
        return [problem for source, box in heard if (problem := _several(source, box))]

    def goal_rivals(self) -> list[Problem]:
        """Return a problem if several nodes send goals to this robot: it goes to the last one."""
        return [problem for box in self._goals if (problem := _several("goal", box))]

    def doubles(self) -> list[Problem]:
        """Return problems for topics of this robot with several publishers, received or not: another node uses its
        name.
        """
        found = []
        for topic in (*self._task.commands, topics.STATE_AND_PLAN, topics.ANNOUNCE):
            name = topic.of(self.robot, self._base)
            if self._node.count_publishers(name) > 1:
                infos = self._node.get_publishers_info_by_topic(name)
                who = sorted(f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in infos)
                found.append(Problem("this robot", _told(name, who)))
        return found

    def unheard(self) -> list[Problem]:
        """Publishers that this robot does not receive, by topic: another quality of service or message type."""
        return [Problem(name, why) for name, why in unheard_of(self._node).look(self._node).items()]

    def counts(self) -> list[Count]:
        """Messages of the odometry and of each team-mate so far."""
        return [self.own.count, *(mailbox.count for mailbox in self._heard.values())]

    @property
    def refusals(self) -> Refusals:
        """Messages that this node has rejected so far."""
        return refusals_of(self._node)

    def close(self) -> None:
        """Unsubscribe and stop advertising."""
        taken = (
            self.own,
            *self._goals,
            self._recording,
            *self._sensed,
            *self._heard.values(),
            *self._announced.values(),
        )
        for mailbox in taken:
            mailbox.destroy()
        self._estop.close()
        for made in self._publishers.values():
            self._node.destroy_publisher(made)

    def _fill(
        self, mailbox: Mailbox[Stamped[T]], source: str, put: Put[T], turn: Callable[[T], T] | None = None
    ) -> None:
        """Put new messages of a source into the inbox, which may find that one is invalid."""
        steady_s = steady_now_s()
        for (value, stamp_s), info in self._taken(mailbox, source):
            if why := put(source, turn(value) if turn else value, stamp_s, steady_s):
                mailbox.refuse(why, info)

    def _put_sensed(self, name: str, value: object, stamp_s: float, steady_s: float) -> str:
        """Put a sensor's value into the inbox; tell the recorder what it was where its own topic is too large."""
        why = self._inputs.inbox.put_sensed(name, value, stamp_s, steady_s)
        if not why and (kept := self._kept.get(name)):
            self.send(kept.topic, kept.writer(value, self.robot))
        return why

    def _taken(self, mailbox: Mailbox[T], source: str) -> Iterator[tuple[T, MessageInfo]]:
        """Yield new messages of a source; if the last one was invalid, report the reason to the inbox."""
        refused = mailbox.count.refused
        for taken in mailbox.take():
            refused = mailbox.count.refused
            yield taken
        if mailbox.count.refused > refused:
            self._inputs.inbox.refuse(source, mailbox.refusal)

    def _receive_estop(self, steady_s: float) -> None:
        heartbeat = self._inputs.heartbeat
        for word in self._estop.take():
            if word.is_heartbeat:
                heartbeat.hear(str(word.sender), word.pressed, steady_s, self._absence.waited_s(word.info))
            else:
                heartbeat.hear_press(str(word.sender), word.pressed, steady_s)

    def _receive_seldom(self, steady_s: float) -> None:
        for told, _ in self._recording.take():
            self._inputs.recording.hear(told, steady_s)
        for mailbox in self._goals:
            for goal, info in mailbox.take():
                if why := self._inputs.inbox.put_goal(goal):
                    mailbox.refuse(why, info)
        for name, mailbox in self._announced.items():
            for said, _ in mailbox.take():
                self._inputs.agreement.hear(said, steady_s)
                self._inputs.inbox.put_bundle(name, said.bundle_id)

    def _mailbox(self, topic: Topic, robot: str, read: Callable[[Message], T]) -> Mailbox[T]:
        return Mailbox(self._node, topic, self._name(topic, robot), read)

    def _name(self, topic: Topic, robot: str = "") -> str:
        """Return the name under which this robot receives a robot's topic, or publishes its own."""
        by_link = topic.name in (topics.ODOMETRY.name, topics.STATE_AND_PLAN.name)
        if self._settings.via_link and robot and by_link:
            return linked(topic, self.robot, robot, self._base)
        return topic.of(robot or self.robot, self._base)

    def _shaped(self, topic: Topic) -> Topic:
        """The topic with the quality of service that the operator chose."""
        if topic is not topics.STATE_AND_PLAN:
            return topic
        settings = self._settings
        return replace(topic, reliable=settings.radio_reliable, depth=settings.radio_depth)


def _several(source: str, box: Mailbox) -> Problem | None:
    who = box.senders()
    return Problem(source, _told(box.name, who)) if len(who) > 1 else None


def _told(name: str, who: list[str]) -> str:
    return f"{name} has several publishers: {', '.join(who)}; stop all but one"
