"""`recorder_node`: records messages of a team and of ROS into a bag that stays readable (see `bag_writer`)."""

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from robomarl.core.config import UserError
from robomarl.ros import status_messages, topics
from robomarl.ros.camera.picture_keeper import PictureKeeper
from robomarl.ros.convert import MessageError
from robomarl.ros.intake.entry import intake_entry
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.node_base import RMWError, message_class, now_s, publisher, run_node
from robomarl.ros.parameters import declare, read
from robomarl.ros.recording.bag_writer import BagWriter, definition_of
from robomarl.ros.recording.health import Arrivals
from robomarl.ros.recording.watch import Told
from robomarl.ros.robot.health import ERROR, DiagnosticEntry
from robomarl.ros.settings import RecorderSettings
from robomarl.ros.timing.failed import told
from robomarl.ros.timing.rate_timer import Beat, Ticker
from robomarl.ros.topics import Topic, recorded_topics, system_topics, topic_named

POLL_S = 0.05
MEGA = 1e6
DEPTH = 100
"""Messages of a topic that may wait while the disk is slow."""


class Channel(NamedTuple):
    """One topic that is recorded."""

    name: str
    topic: Topic
    mailbox: Mailbox
    number: int


class RecorderNode(Node):
    """Subscribes to everything, deserializes nothing, flushes often. It stays when it can't write any more: says so."""

    def __init__(self) -> None:
        """Start to record.

        Raises:
            UserError: the folder exists, can't be made, or is on a disk that is nearly full.
        """
        super().__init__("recorder")
        declare(self, RecorderSettings)
        settings = read(self, RecorderSettings)
        self._settings, self._stopped = settings, ""
        self._folder = free_folder(Path(settings.folder)) if settings.again else Path(settings.folder)
        about = {key: value for key, _, value in (item.partition("=") for item in settings.about)}
        try:
            self._bag = BagWriter(self._folder, about, settings.split_mb * MEGA)
        except OSError as error:
            raise UserError(f"{settings.folder}: can't record there ({error.strerror}); name another folder.") from None
        if (free_mb := self._free_mb()) < settings.min_free_mb:
            raise UserError(
                f"{settings.folder}: {free_mb:.0f} MB are free, min_free_mb = {settings.min_free_mb:g} must stay free; "
                "make room, name a folder on another disk, or fly unrecorded."
            )
        self._flush_every = max(round(settings.flush_s / POLL_S), 1)
        self._pictures = PictureKeeper(settings.pictures_hz, settings.pictures_mb * MEGA)
        self._arrivals = Arrivals(settings.team, settings.base, settings.sim)
        self._channels = [self._channel(name, topic) for name, topic in self._wanted()]
        self._said = publisher(self, topics.DIAGNOSTICS, topics.DIAGNOSTICS.name)
        self._told = publisher(self, topics.RECORDING, topics.RECORDING.of("", settings.base))
        self._polls = 0
        self._ticker = Ticker(POLL_S, self._tick, self._died)
        self.get_logger().info(f"records {len(self._channels)} topics into {self._folder}.")

    def destroy_node(self) -> None:
        """Write the remaining messages, and add the index."""
        if hasattr(self, "_ticker"):
            self._ticker.stop()
            self._write_safely(self._finish)
        super().destroy_node()

    def _wanted(self) -> list[tuple[str, Topic]]:
        """Return all topics to record; ROS's own topics only if their types are installed.

        Raises:
            UserError: a further topic is misspelt, or its type is not installed.
        """
        settings = self._settings
        ours = recorded_topics(settings.team, settings.sim, settings.base, settings.task)
        for name, topic in system_topics(settings.team, settings.base):
            with suppress(ImportError):
                message_class(topic.type)
                ours.append((name, topic))
        for text in filter(None, settings.extra):
            try:
                name, topic = topic_named(text)
                message_class(topic.type)
            except (ValueError, ImportError, AttributeError) as error:
                raise UserError(f"recorder: extra: {error}; mend it, or install the package of its type.") from None
            if name not in dict(ours):
                ours.append((name, topic))
        return ours

    def _channel(self, name: str, topic: Topic) -> Channel:
        number = self._bag.add_channel(name, topic, definition_of(message_class(topic.type)))
        depth = topic.depth if topic is topics.COMPRESSED else DEPTH
        return Channel(name, topic, Mailbox(self, topic, name, depth=depth), number)

    def _tick(self, beat: Beat) -> None:
        self._polls += 1
        self._write_safely(self._take)
        if self._polls % self._flush_every == 0:
            self._write_safely(self._flush)
        if self._polls % round(1 / POLL_S) == 0:
            told = self._arrivals.told(time.monotonic(), lambda name: self.count_publishers(name) > 0)
            if self._stopped:
                told = Told(ERROR, f"recording stopped: {self._stopped}", {})
            heard = intake_entry(self)
            entries = [self._status(told), *([heard] if heard else [])]
            self._said.publish(status_messages.diagnostics_from(entries, now_s(self)))
            self._told.publish(status_messages.recording_from(self.get_fully_qualified_name(), told))

    def _write_safely(self, write: Callable[[], None]) -> None:
        """A full disk ends the recording, not the node. The robots need no recorder to land."""
        if self._stopped:
            return
        try:
            write()
        except OSError as error:
            self._stop(f"{error.strerror}")
        except Exception as error:
            if self.context.ok():  # otherwise we were told to stop, and a message was on its way out
                self._stop(told(error))

    def _stop(self, why: str) -> None:
        self._stopped = why
        self.get_logger().error(f"recording stopped: {self._folder}: {why}.")

    def _flush(self) -> None:
        self._bag.flush()
        if (free_mb := self._free_mb()) < self._settings.min_free_mb:
            self._bag.close()
            self._stop(f"{free_mb:.0f} MB are free, {self._settings.min_free_mb:g} MB must stay free")

    def _finish(self) -> None:
        self._take()
        self._bag.close()

    def _free_mb(self) -> float:
        return shutil.disk_usage(self._folder).free / MEGA

    def _status(self, told: Told) -> DiagnosticEntry:
        values = {"folder": str(self._folder), "file_mb": f"{self._bag.written_bytes / MEGA:.1f}"}
        values |= {"free_mb": f"{self._free_mb():.0f}", "messages": str(self._bag.count), **told.robots}
        if self._pictures.kept or self._pictures.left_out:
            values |= {"pictures": f"{self._pictures.kept} kept, {self._pictures.left_out} left out"}
        return DiagnosticEntry(self.get_fully_qualified_name(), told.level, told.text, values)

    def _take(self) -> None:
        """Write all that has arrived, in the order in which it did."""
        arrived = []
        for channel in self._channels:
            for data, info in channel.mailbox.take():
                if channel.topic is topics.COMPRESSED and not self._keeps(channel, data):
                    continue
                self._arrivals.note(channel.name, time.monotonic())
                arrived.append((info["received_timestamp"], info["source_timestamp"], channel.number, data))
                if channel.topic is topics.ANNOUNCE:
                    self._note_bundle(channel, data)
        for received_ns, sent_ns, number, data in sorted(arrived, key=lambda item: item[0]):
            self._bag.write(number, received_ns, sent_ns, data)

    def _keeps(self, channel: Channel, data: bytes) -> bool:
        """Return True if the bag keeps a picture."""
        try:
            return self._pictures.keeps(channel.name, data)
        except MessageError as error:
            channel.mailbox.refuse(str(error))
            return False

    def _note_bundle(self, channel: Channel, data: bytes) -> None:
        """Add the bundle that a robot announces to the bag's metadata; an unreadable announcement is recorded only."""
        with suppress(RMWError, MessageError):
            said = status_messages.announcement_to(deserialize_message(data, message_class(channel.topic.type)))
            self._bag.about[f"bundle_id{channel.name.removesuffix('/announce')}"] = said.bundle_id

    def _died(self, error: BaseException) -> None:
        """Stop the recording after an unexpected error."""
        if self.context.ok():  # otherwise we were told to stop, and a message was on its way out
            self._stop(told(error))


def free_folder(folder: Path) -> Path:
    """The folder itself, or the first of FOLDER_2, FOLDER_3, ... that does not exist."""
    names = (folder, *(folder.with_name(f"{folder.name}_{number}") for number in range(2, 10_000)))
    return next(name for name in names if not name.exists())


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl recorder_node`."""
    return run_node(RecorderNode, args)


if __name__ == "__main__":
    sys.exit(main())
