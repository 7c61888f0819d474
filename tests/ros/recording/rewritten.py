"""A recording in other forms that are as legal: by the `mcap` library and by `rosbags`, as merge tools write them."""

import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import yaml
import zstandard
from mcap.reader import make_reader
from mcap.writer import CompressionType, IndexType, Writer
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Rosbag2Writer
from rosbags.typesys import Stores, get_typestore


class Said(NamedTuple):
    """One message, as the `mcap` library reads it."""

    topic: str
    kind: str
    log_ns: int
    sent_ns: int
    sequence: int
    data: bytes


def read(folder: Path) -> tuple[list[Said], dict[str, str]]:
    """All messages in the order of the files, and the metadata record of our recorder."""
    found, about = [], {}
    for file in sorted(folder.glob("*.mcap")):
        with file.open("rb") as stream:
            reader = make_reader(stream)
            for schema, channel, one in reader.iter_messages(log_time_order=False):
                assert schema is not None
                found.append(Said(channel.topic, schema.name, one.log_time, one.publish_time, one.sequence, one.data))
            about |= next(iter(reader.iter_metadata())).metadata
    return found, about


def write(
    file: Path,
    messages: list[Said],
    about: dict[str, str] | None = None,
    first_id: int = 0,
    record: str = "robomarl",
    **how: Any,
) -> None:
    """An MCAP file; further options are those of the library's writer."""
    with file.open("wb") as stream:
        writer = Writer(stream, **{"chunk_size": 4096, "compression": CompressionType.NONE, **how})
        writer.start(profile="ros2", library="a merge tool")
        for _ in range(first_id):
            writer.register_channel("/nothing", "cdr", 0)
        schemas, channels = {}, {}
        for one in messages:
            if one.kind not in schemas:
                schemas[one.kind] = writer.register_schema(one.kind, "ros2msg", b"")
            if one.topic not in channels:
                channels[one.topic] = writer.register_channel(one.topic, "cdr", schemas[one.kind])
            writer.add_message(channels[one.topic], one.log_ns, one.data, one.sent_ns, one.sequence)
        if about:
            writer.add_metadata(record, about)
        writer.finish()


def shuffled(messages: list[Said]) -> list[Said]:
    """In an order that nobody would choose."""
    return random.Random(3).sample(messages, len(messages))


def by_topic(messages: list[Said]) -> list[Said]:
    """One topic after the other, as a merge of one file for each topic."""
    return sorted(messages, key=lambda one: one.topic)


def backwards(messages: list[Said]) -> list[Said]:
    """Blocks of twenty messages, the last one first."""
    blocks = [messages[i : i + 20] for i in range(0, len(messages), 20)]
    return [one for block in blocks[::-1] for one in block]


def one_file(source: Path, to: Path, order: Callable = list, **how: Any) -> Path:
    """A file alone, without metadata.yaml; returns it."""
    messages, about = read(source)
    to.mkdir()
    write(to / "merged.mcap", order(messages), about, **how)
    return to / "merged.mcap"


def copied(source: Path, to: Path) -> Path:
    """The recording as it is."""
    shutil.copytree(source, to)
    return to


def packed(source: Path, to: Path, ending: str = ".zstd", told: bool = True) -> Path:
    """Each file compressed as a whole: `compression_mode: file` of rosbag2."""
    shutil.copytree(source, to)
    for file in to.glob("*.mcap"):
        file.with_name(file.name + ending).write_bytes(zstandard.compress(file.read_bytes()))
        file.unlink()
    about = yaml.safe_load((to / "metadata.yaml").read_text())
    inside = about["rosbag2_bagfile_information"]
    inside |= {"compression_format": "zstd", "compression_mode": "FILE"}
    inside["relative_file_paths"] = [name + ending for name in inside["relative_file_paths"]]
    (to / "metadata.yaml").write_text(yaml.safe_dump(about))
    if not told:
        (to / "metadata.yaml").unlink()
    return to


def split(source: Path, to: Path, told: tuple[int, ...] = (), order: Callable = list) -> Path:
    """Three files; metadata.yaml names them in the order that is told, or is not there."""
    messages, about = read(source)
    to.mkdir()
    messages, third = order(messages), len(messages) // 3
    for i, part in enumerate((messages[:third], messages[third : 2 * third], messages[2 * third :])):
        write(to / f"bag_{i}.mcap", part, about)
    if told:
        metadata = yaml.safe_load((source / "metadata.yaml").read_text())
        metadata["rosbag2_bagfile_information"]["relative_file_paths"] = [f"bag_{i}.mcap" for i in told]
        (to / "metadata.yaml").write_text(yaml.safe_dump(metadata))
    return to


def of_version(source: Path, to: Path, version: int) -> Path:
    """With the metadata.yaml of a release of rosbag2."""
    shutil.copytree(source, to)
    about = yaml.safe_load((to / "metadata.yaml").read_text())
    inside = about["rosbag2_bagfile_information"]
    inside["version"] = version
    for topic in inside["topics_with_message_count"]:
        if version < 9:
            profiles = topic["topic_metadata"]["offered_qos_profiles"]
            topic["topic_metadata"]["offered_qos_profiles"] = yaml.safe_dump(profiles)
        if version < 7:
            del topic["topic_metadata"]["type_description_hash"]
    for key, since in (("ros_distro", 8), ("custom_data", 6), ("files", 5)):
        if version < since:
            del inside[key]
    (to / "metadata.yaml").write_text(yaml.safe_dump(about))
    return to


def rosbag2(
    source: Path, to: Path, plugin: StoragePlugin = StoragePlugin.MCAP, mode: CompressionMode = CompressionMode.NONE
) -> Path:
    """As `rosbags` writes it: without the times of publication and the numbers of messages."""
    messages, about = read(source)
    writer, types = Rosbag2Writer(to, version=9, storage_plugin=plugin), get_typestore(Stores.ROS2_JAZZY)
    if mode is not CompressionMode.NONE:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    for key, value in about.items():
        writer.set_custom_data(key, value)
    with writer:
        channels = {}
        for one in messages:
            if one.topic not in channels:
                channels[one.topic] = writer.add_connection(one.topic, one.kind, typestore=types)
            writer.write(channels[one.topic], one.log_ns, one.data)
    return to


def twice(source: Path, to: Path) -> Path:
    """Merged with itself."""
    return one_file(source, to, lambda messages: [*messages, *messages])


def with_others(source: Path, to: Path) -> Path:
    """Among messages of others, which go on for a minute more, under other numbers of channels."""

    def joined(messages: list[Said]) -> list[Said]:
        first, last = messages[0], messages[-1]
        other = [first._replace(topic="/camera/info", kind="sensor_msgs/msg/CameraInfo", data=b"\0\1\0\0")]
        ends = [first.log_ns - 10**10, last.log_ns + 6 * 10**10]
        return [*messages, *(one._replace(log_ns=at_ns) for one in other for at_ns in ends)]

    return one_file(source, to, joined, first_id=7)


UNORDERED = IndexType.NONE
FORMS: dict[str, Callable[[Path, Path], Path]] = {
    "as_recorded": copied,
    "no_metadata": lambda source, to: one_file(source, to).parent,
    "one_file": one_file,
    "chunks_backwards": partial(one_file, order=backwards),
    "topic_by_topic": partial(one_file, order=by_topic),
    "shuffled": partial(one_file, order=shuffled),
    "shuffled_in_one_chunk": partial(one_file, order=shuffled, chunk_size=2**30),
    "no_chunks": partial(one_file, order=shuffled, use_chunking=False),
    "no_index": partial(
        one_file, index_types=UNORDERED, use_statistics=False, use_summary_offsets=False, repeat_channels=False,
        repeat_schemas=False, enable_crcs=False,
    ),
    "lz4": partial(one_file, compression=CompressionType.LZ4),
    "zstd": partial(one_file, order=backwards, compression=CompressionType.ZSTD),
    "zstd_file": packed,
    "zstd_file_alone": partial(packed, told=False),
    "zst_file": partial(packed, ending=".zst"),
    "split": partial(split, told=(0, 1, 2)),
    "split_told_backwards": partial(split, told=(2, 1, 0), order=backwards),
    "split_without_metadata": partial(split, order=shuffled),
    "split_by_its_second_file": lambda source, to: split(source, to) / "bag_1.mcap",
    "rosbags": rosbag2,
    "rosbags_zstd_messages": partial(rosbag2, mode=CompressionMode.MESSAGE),
    "rosbags_zstd_file": partial(rosbag2, mode=CompressionMode.FILE),
    "sqlite": partial(rosbag2, plugin=StoragePlugin.SQLITE3),
    "sqlite_zstd_file": partial(rosbag2, plugin=StoragePlugin.SQLITE3, mode=CompressionMode.FILE),
    "sqlite_zstd_messages": partial(rosbag2, plugin=StoragePlugin.SQLITE3, mode=CompressionMode.MESSAGE),
    **{f"metadata_{version}": partial(of_version, version=version) for version in range(4, 9)},
}  # fmt: skip
"""From a recording and a folder that is to be made to the path that is given to a command."""
