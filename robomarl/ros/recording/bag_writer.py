"""Recording that can be read at any time, even after its writer was killed: MCAP in the layout of
rosbag2.

Readers of MCAP want the end of the file first. So after every flush the file ends properly, without
an index. The next flush writes over that end, in one call with its own. `close` adds the index.
Each file also holds the data of metadata.yaml on fleet, bundles and nodes, so that it can be read
alone. If the last write to a file was cut in the middle (a full disk, a power cut), the file has no
end; `mcap recover` gives it one after its last whole record.
"""

import importlib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml
from mcap.data_stream import RecordBuilder
from mcap.records import DataEnd, Footer
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer

from robomarl.core.types import Figures
from robomarl.ros.io.messages import Message
from robomarl.ros.topics import Topic

STORAGE = "mcap"
OURS = "robomarl"
"""Name of the metadata record with the recorder's description of the recording; a later record replaces it."""
FOREVER = {"sec": 9223372036, "nsec": 854775807}


class Part(NamedTuple):
    """One file of a bag."""

    name: str
    first_ns: int
    last_ns: int
    count: int

    def as_metadata(self) -> Figures:
        """Return the file's entry as rosbag2 writes it."""
        return {
            "starting_time": {"nanoseconds_since_epoch": self.first_ns},
            "duration": {"nanoseconds": self.last_ns - self.first_ns},
            "message_count": self.count,
        }


class BagWriter:
    """Writes one bag, in files of a limited size. Messages come serialized (CDR), in the order of their times."""

    def __init__(self, folder: Path, about: Mapping[str, str], split_bytes: float = math.inf) -> None:
        """Make the folder and the first file.

        Args:
            folder: must not exist yet.
            about: goes into the metadata: bundle id, fleet, ...
            split_bytes: a file that has grown to this size is closed at the next flush, and a new one begun.

        Raises:
            FileExistsError: the folder exists.
        """
        folder.mkdir(parents=True)
        self.about = dict(about)
        self._folder, self._split_bytes = folder, split_bytes
        self._channels: dict[int, tuple[str, Topic, str]] = {}
        self._counts: dict[int, int] = {}
        self._parts: list[Part] = []
        self._last_ns = 0
        self._begin()
        self.flush()

    @property
    def written_bytes(self) -> int:
        """Size of the file that is being written [bytes]."""
        return self._stream.tell()

    @property
    def count(self) -> int:
        """Messages so far."""
        return sum(self._counts.values())

    def add_channel(self, name: str, topic: Topic, definition: str) -> int:
        """A topic by its absolute name, with the definition of its type; returns the channel's number."""
        channel = self._register(name, topic, definition)
        self._channels[channel], self._counts[channel] = (name, topic, definition), 0
        return channel

    def write(self, channel: int, received_ns: int, sent_ns: int, data: bytes) -> None:
        """One message. Times that run backwards are held at the latest: readers without index want them in order."""
        self._last_ns = max(self._last_ns, received_ns)
        self._counts[channel] += 1
        part = self._part
        self._part = part._replace(first_ns=part.first_ns or received_ns, last_ns=self._last_ns, count=part.count + 1)
        self._writer.add_message(channel, self._last_ns, data, sent_ns, self._counts[channel])

    def flush(self) -> None:
        """Everything that was written can be read after this, even if the process is killed."""
        self._writer.flush()
        self._tell()
        self._stream.commit(_END)
        if self._stream.tell() >= self._split_bytes:
            self._end()
            self._begin()
            self._writer.flush()
            self._stream.commit(_END)
        self._write_metadata()

    def close(self) -> None:
        """Add the index; no more messages."""
        self._end()
        self._write_metadata()

    def _begin(self) -> None:
        """Begin the next file, with all channels under their previous numbers."""
        self._part = Part(f"{self._folder.name}_{len(self._parts)}.mcap", 0, 0, 0)
        self._stream = _EndedFile(self._folder / self._part.name)
        self._writer = Writer(self._stream, chunk_size=2**20, compression=CompressionType.NONE)  # type: ignore[arg-type]
        self._writer.start(profile="ros2", library="robomarl")
        self._schemas: dict[str, int] = {}
        self._told: dict[str, str] = {}
        self._tell()
        for item in self._channels.values():
            self._register(*item)

    def _tell(self) -> None:
        """Write the description of the recording, if it has changed."""
        if self.about != self._told:
            self._told = dict(self.about)
            self._writer.add_metadata(OURS, self._told)

    def _end(self) -> None:
        self._tell()
        self._writer.finish()
        self._stream.commit(b"")
        self._stream.close()
        self._parts.append(self._part)
        self._part = self._part._replace(count=-1)

    def _register(self, name: str, topic: Topic, definition: str) -> int:
        if topic.type not in self._schemas:
            self._schemas[topic.type] = self._writer.register_schema(topic.type, "ros2msg", definition.encode())
        qos = yaml.safe_dump([offered_qos(topic)])
        schema = self._schemas[topic.type]
        return self._writer.register_channel(name, "cdr", schema, {"offered_qos_profiles": qos})

    def _write_metadata(self) -> None:
        parts = [*self._parts, *([self._part] if self._part.count >= 0 else [])]
        begun = [part for part in parts if part.count]
        whole = Part("", begun[0].first_ns if begun else 0, self._last_ns, self.count)
        info = {
            "version": 9,
            "storage_identifier": STORAGE,
            **whole.as_metadata(),
            "topics_with_message_count": [
                {"topic_metadata": _topic_metadata(name, topic), "message_count": self._counts[channel]}
                for channel, (name, topic, _) in self._channels.items()
            ],
            "compression_format": "",
            "compression_mode": "",
            "relative_file_paths": [part.name for part in parts],
            "files": [{"path": part.name, **part.as_metadata()} for part in parts],
            "custom_data": self.about,
            "ros_distro": os.environ.get("ROS_DISTRO", "unknown"),
        }
        fresh = self._folder / "metadata.yaml.new"
        fresh.write_text(yaml.safe_dump({"rosbag2_bagfile_information": info}, sort_keys=False))
        fresh.rename(self._folder / "metadata.yaml")


class _EndedFile:
    """A stream for the MCAP writer that keeps a proper end behind everything that was committed."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        self._pending = bytearray()
        self._offset = 0

    def write(self, data: bytes) -> int:
        """Take bytes; they reach the file at the next commit."""
        self._pending += data
        return len(data)

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self._offset + len(self._pending)

    def flush(self) -> None:
        """Nothing: only `commit` does, with an end."""

    def commit(self, end: bytes) -> None:
        """Write the pending bytes, and `end` behind them, over the previous end."""
        block = memoryview(bytes(self._pending) + end)
        at = self._offset
        while block:
            written = os.pwrite(self._file, block, at)
            block, at = block[written:], at + written
        os.ftruncate(self._file, at)
        self._offset += len(self._pending)
        self._pending.clear()

    def close(self) -> None:
        """Close the file."""
        os.fsync(self._file)
        os.close(self._file)


def definition_of(message: Message) -> str:
    """The definition of a message class and of all that it contains, as rosbag2 stores it ("ros2msg").

    Made from the class, because the wheels of ROS 2 come without the `.msg` files.
    """
    parts, waiting, seen = [], [message], set()
    while waiting:
        current = waiting.pop(0)
        name = type_name(current)
        if name in seen:
            continue
        seen.add(name)
        fields = current.get_fields_and_field_types()
        body = "".join(f"{_msg_type(kind)} {field}\n" for field, kind in fields.items())
        parts.append(body if not parts else f"MSG: {name}\n{body}")
        waiting += [_class_of(kind) for kind in fields.values() if "/" in kind]
    return ("=" * 80 + "\n").join(parts)


def type_name(message: Message) -> str:
    """Such as "geometry_msgs/Pose"."""
    return f"{message.__module__.split('.')[0]}/{message.__name__}"


def offered_qos(topic: Topic) -> Figures:
    """Quality of service as rosbag2 writes it since version 9 of its metadata."""
    return {
        "history": "keep_last",
        "depth": topic.depth,
        "reliability": "reliable" if topic.reliable else "best_effort",
        "durability": "transient_local" if topic.latched else "volatile",
        "deadline": dict(FOREVER),
        "lifespan": dict(FOREVER),
        "liveliness": "automatic",
        "liveliness_lease_duration": dict(FOREVER),
        "avoid_ros_namespace_conventions": False,
    }


def _topic_metadata(name: str, topic: Topic) -> Figures:
    return {
        "name": name,
        "type": topic.type,
        "serialization_format": "cdr",
        "offered_qos_profiles": [offered_qos(topic)],
        "type_description_hash": "",
    }


def _element(kind: str) -> str:
    """The element type of a sequence, an array or a plain field."""
    return kind.removeprefix("sequence<").split(",")[0].split("[")[0].rstrip(">") if "<" in kind else kind.split("[")[0]


def _class_of(kind: str) -> type[Message]:
    package, name = _element(kind).split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def _msg_type(kind: str) -> str:
    """A type as `.msg` files spell it."""
    names = {"double": "float64", "float": "float32", "boolean": "bool", "octet": "byte"}
    element = names.get(_element(kind), _element(kind))
    if kind.startswith("sequence<"):
        bound = kind.removeprefix("sequence<").rstrip(">").partition(",")[2].strip()
        return f"{element}[<={bound}]" if bound else f"{element}[]"
    return element + kind[len(kind.split("[")[0]) :]


def _end() -> bytes:
    """Return the bytes behind the data of a file without an index."""
    builder = RecordBuilder()
    DataEnd(0).write(builder)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(builder)
    return builder.end() + MCAP0_MAGIC


_END = _end()
