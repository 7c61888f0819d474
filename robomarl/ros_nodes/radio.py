"""`Radio`: all topics of one robot's policy node. Messages wait in mailboxes until the tick takes them."""

import time
from typing import Any

from rclpy.node import Node

from robomarl.ros_nodes import convert, topics
from robomarl.ros_nodes.inbox import Count, Inbox
from robomarl.ros_nodes.rosnode import Mailbox, publisher
from robomarl.ros_nodes.topics import Topic

SENT = (topics.COMMAND, topics.STATE_AND_PLAN, topics.TICK, topics.BUNDLE, topics.DIAGNOSTICS)


class Radio:
    """Fills an inbox from topics, and publishes."""

    def __init__(self, node: Node, robot: str, inbox: Inbox) -> None:
        """Subscribe and advertise.

        Args:
            node: in the namespace BASE/NAME of the robot.
            robot: its name.
            inbox: what is filled; its team-mates are those that are listened to.
        """
        self.robot = robot
        self._node, self._inbox = node, inbox
        base = node.get_namespace().rstrip("/").rpartition("/")[0]
        self._command = topics.COMMAND.of(robot, base)
        self._publishers = {topic: publisher(node, topic, topic.of(robot, base)) for topic in SENT}

        def mailbox(topic: Topic, name: str, read: Any) -> Mailbox:
            return Mailbox(node, topic, topic.of(name, base), read)

        self._own = mailbox(topics.ODOMETRY, robot, convert.odometry_to)
        self._goal = mailbox(topics.GOAL, robot, convert.goal_to)
        self._heard = {m: mailbox(topics.STATE_AND_PLAN, m, convert.broadcast_to) for m in inbox.mates}
        self._bundles = {m: mailbox(topics.BUNDLE, m, convert.text_to) for m in inbox.mates}

    def receive(self) -> None:
        """Put everything that has arrived into the inbox."""
        steady_s, inbox = time.monotonic(), self._inbox
        for (estimate, stamp_s), _ in self._own.take():
            inbox.put_own(estimate, stamp_s, steady_s)
        for name, mailbox in self._heard.items():
            for (said, stamp_s), _ in mailbox.take():
                inbox.put_mate(name, said, stamp_s, steady_s)
        for goal, _ in self._goal.take():
            inbox.put_goal(goal)
        for name, mailbox in self._bundles.items():
            for bundle_id, _ in mailbox.take():
                inbox.put_bundle(name, bundle_id)

    def send(self, topic: Topic, message: Any) -> None:
        """Publish."""
        self._publishers[topic].publish(message)

    def rivals(self) -> int:
        """How many others publish commands for this robot."""
        return self._node.count_publishers(self._command) - 1

    def counts(self) -> list[Count]:
        """Messages of the odometry and of each team-mate so far."""
        return [self._own.count, *(mailbox.count for mailbox in self._heard.values())]

    def close(self) -> None:
        """Unsubscribe and stop advertising."""
        for mailbox in (self._own, self._goal, *self._heard.values(), *self._bundles.values()):
            mailbox.destroy()
        for made in self._publishers.values():
            self._node.destroy_publisher(made)
