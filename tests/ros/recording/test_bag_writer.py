"""What was flushed can be read, whatever happens to the writer; rosbags is the reader."""

import contextlib
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("rosbags")

from geometry_msgs.msg import PoseStamped
from mcap.exceptions import EndOfFile, InvalidMagic
from mcap.records import Message
from mcap.stream_reader import StreamReader
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from robomarl.ros import topics
from robomarl.ros.io.node_base import message_class
from robomarl.ros.recording.bag_writer import BagWriter, definition_of
from robomarl.ros.topics import recorded_topics


def pose(x: float) -> bytes:
    message = PoseStamped()
    message.pose.position.x = float(x)
    return serialize_message(message)


def start(folder: Path) -> tuple[BagWriter, int]:
    bag = BagWriter(folder, {"bundle_id": "f" * 64})
    return bag, bag.add_channel("/cf1/goal", topics.GOAL, definition_of(PoseStamped))


def read_back(folder: Path) -> list[tuple[str, int, float]]:
    with AnyReader([folder], default_typestore=get_typestore(Stores.EMPTY)) as reader:
        messages = reader.messages()
        poses: Any = [(c.topic, t, reader.deserialize(raw, c.msgtype)) for c, t, raw in messages]
        return [(topic, time_ns, message.pose.position.x) for topic, time_ns, message in poses]


def test_a_closed_bag_is_read_back_with_its_own_definitions(tmp_path: Path):
    bag, channel = start(tmp_path / "bag")
    for i in range(5):
        bag.write(channel, 10**9 + i, 10**9, pose(i / 2))
    bag.close()
    assert read_back(tmp_path / "bag") == [("/cf1/goal", 10**9 + i, i / 2) for i in range(5)]


def test_the_metadata_says_what_is_in_it(tmp_path: Path):
    bag, channel = start(tmp_path / "bag")
    for i in range(5):
        bag.write(channel, 10**9 * (1 + i), 10**9, pose(i))
    bag.close()
    with Reader(tmp_path / "bag") as reader:
        assert (reader.message_count, reader.duration) == (5, 4 * 10**9 + 1)
        (connection,) = reader.connections
        qos = connection.ext.offered_qos_profiles[0]  # type: ignore[union-attr]
        assert (qos.depth, qos.reliability.name, qos.durability.name) == (1, "RELIABLE", "VOLATILE")
    content = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())
    assert content["rosbag2_bagfile_information"]["custom_data"] == {"bundle_id": "f" * 64}


def test_it_can_be_read_after_every_flush(tmp_path: Path):
    bag, channel = start(tmp_path / "bag")
    assert read_back(tmp_path / "bag") == []
    for i in range(1, 4):
        bag.write(channel, 10**9 + i, 10**9, pose(i))
        bag.flush()
        bag.write(channel, 10**9 + i, 10**9, pose(-1))
        assert [x for _, _, x in read_back(tmp_path / "bag") if x > 0] == list(range(1, i + 1))


def test_times_that_run_backwards_do_not_break_the_order(tmp_path: Path):
    bag, channel = start(tmp_path / "bag")
    for received_ns in (5, 9, 7):
        bag.write(channel, received_ns, 1, pose(received_ns))
    bag.flush()
    assert [(t, x) for _, t, x in read_back(tmp_path / "bag")] == [(5, 5.0), (9, 9.0), (9, 7.0)]


KILLED = """
import sys, time
from pathlib import Path
from tests.ros.recording.test_bag_writer import pose, start
bag, channel = start(Path(sys.argv[1]))
for i in range(10**9):
    bag.write(channel, 10**9 + i, 10**9, pose(i))
    if i % 50 == 49:
        bag.flush()
        print(i, flush=True)
"""


def test_what_was_flushed_survives_kill_9(tmp_path: Path, root: Path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "bag")]
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    flushed = [int(process.stdout.readline()) for _ in range(20)][-1]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    try:
        found = read_back(tmp_path / "bag")
        values = [x for _, _, x in found]
    except Exception:  # killed within a write: the kernel may leave half of it, and no end
        values = whole_records(tmp_path / "bag" / "bag_0.mcap")
    assert values[: flushed + 1] == list(range(flushed + 1))


def whole_records(file: Path) -> list[float]:
    """What `mcap recover` gets out of a file without an end: all messages up to the last whole record."""
    values = []
    with file.open("rb") as stream, contextlib.suppress(EndOfFile, InvalidMagic, struct.error):
        for record in StreamReader(stream).records:
            if isinstance(record, Message):
                values.append(deserialize_message(record.data, PoseStamped).pose.position.x)
    return values


@pytest.mark.parametrize("cut", [1, 20, 49, 51, 90])
def test_of_a_file_that_was_cut_off_all_whole_records_can_be_read(tmp_path: Path, cut: int):
    bag, channel = start(tmp_path / "bag")
    for i in range(40):
        bag.write(channel, 10**9 + i, 10**9, pose(i))
        bag.flush()
    path = tmp_path / "bag" / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[:-cut])
    found = whole_records(path)
    assert found == list(range(len(found))) and len(found) >= 38


def test_a_folder_that_exists_is_not_written_into(tmp_path: Path):
    with pytest.raises(FileExistsError):
        BagWriter(tmp_path, {})


@pytest.mark.parametrize("type_name", sorted({t.type for _, t in recorded_topics(("r",), True)}))
def test_definitions_are_those_of_ros(type_name: str):
    """The same fields as in the definitions that rosbags brings along."""
    made = get_types_from_msg(definition_of(message_class(type_name)), type_name)
    known = get_typestore(Stores.ROS2_KILTED).fielddefs
    for name, (_, fields) in made.items():
        assert fields == known[name][1], name


def test_a_file_that_has_grown_is_closed_and_all_files_are_read_as_one_bag(tmp_path: Path):
    bag = BagWriter(tmp_path / "bag", {"fleet": "pair"}, split_bytes=20_000)
    channel = bag.add_channel("/cf1/goal", topics.GOAL, definition_of(PoseStamped))
    for i in range(600):
        bag.write(channel, 10**9 + i, 10**9, pose(i))
        if i % 50 == 0:
            bag.flush()
            assert len(read_back(tmp_path / "bag")) == i + 1  # also while the newest file is open
    bag.close()
    files = sorted((tmp_path / "bag").glob("*.mcap"))
    assert len(files) > 2
    assert all(path.stat().st_size < 40_000 for path in files)
    assert [x for _, _, x in read_back(tmp_path / "bag")] == list(range(600))
    about = yaml.safe_load((tmp_path / "bag" / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert sum(entry["message_count"] for entry in about["files"]) == about["message_count"] == 600
    assert about["relative_file_paths"] == [f"bag_{i}.mcap" for i in range(len(files))]
