"""`recorder_node`: every topic of a team into a bag that can be read whatever happens (see `bagfile`)."""

import sys
from pathlib import Path
from typing import NamedTuple

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from robomarl.config import UserError
from robomarl.ros_nodes import statusmsg, topics
from robomarl.ros_nodes.bagfile import BagWriter, definition_of
from robomarl.ros_nodes.rosnode import Mailbox, declare, message_class, read, run_node
from robomarl.ros_nodes.settings import RecorderSettings
from robomarl.ros_nodes.ticker import Beat, Ticker
from robomarl.ros_nodes.topics import Topic, recorded_topics

POLL_S = 0.05
DEPTH = 100
"""Messages of a topic that may wait while the disk is slow."""


class Channel(NamedTuple):
    """One topic that is recorded."""

    name: str
    topic: Topic
    mailbox: Mailbox
    number: int


class RecorderNode(Node):
    """Subscribes to everything, deserializes nothing, flushes often."""

    def __init__(self) -> None:
        """Start to record.

        Raises:
            UserError: the folder exists, or can't be made.
        """
        super().__init__("recorder")
        self.failed = False
        declare(self, RecorderSettings)
        settings = read(self, RecorderSettings)
        about = {key: value for key, _, value in (item.partition("=") for item in settings.about)}
        try:
            self._bag = BagWriter(Path(settings.folder), about)
        except OSError as error:
            raise UserError(f"{settings.folder}: can't record there ({error.strerror}); name another folder.") from None
        self._flush_every = max(round(settings.flush_s / POLL_S), 1)
        found = recorded_topics(settings.team, settings.sim, settings.base)
        self._channels = [self._channel(name, topic) for name, topic in found]
        self._polls = 0
        self._ticker = Ticker(POLL_S, self._tick, self._died)
        self.get_logger().info(f"records {len(self._channels)} topics into {settings.folder}.")

    def destroy_node(self) -> None:
        """Take what is left, and add the index."""
        if hasattr(self, "_ticker"):
            self._ticker.stop()
            self._take()
            self._bag.close()
        super().destroy_node()

    def _channel(self, name: str, topic: Topic) -> Channel:
        number = self._bag.add_channel(name, topic, definition_of(message_class(topic.type)))
        return Channel(name, topic, Mailbox(self, topic, name, depth=DEPTH), number)

    def _tick(self, beat: Beat) -> None:
        self._take()
        self._polls += 1
        if self._polls % self._flush_every == 0:
            self._bag.flush()

    def _take(self) -> None:
        """Write all that has arrived, in the order in which it did."""
        arrived = []
        for channel in self._channels:
            for data, info in channel.mailbox.take():
                arrived.append((info["received_timestamp"], info["source_timestamp"], channel.number, data))
                if channel.topic is topics.ANNOUNCE:
                    said = statusmsg.announcement_to(deserialize_message(data, message_class(channel.topic.type)))
                    self._bag.about[f"bundle_id{channel.name.removesuffix('/announce')}"] = said.bundle_id
        for received_ns, sent_ns, number, data in sorted(arrived, key=lambda item: item[0]):
            self._bag.write(number, received_ns, sent_ns, data)

    def _died(self, error: BaseException) -> None:
        """The disk is full, perhaps. The robots need no recorder to land."""
        if not self.context.ok():
            return  # we were told to stop, and a message was on its way out
        self.get_logger().fatal(f"recording stopped: {type(error).__name__}: {error}")
        self.failed = True
        self.context.try_shutdown()


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl recorder_node`."""
    return run_node(RecorderNode, args)


if __name__ == "__main__":
    sys.exit(main())
