"""A recording is the same whatever legal form its files have; what is no recording is refused in a sentence."""

import json
import random
import shutil
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("rosbags")

from geometry_msgs.msg import PoseStamped
from rclpy.serialization import serialize_message

from robomarl.core.config import UserError
from robomarl.field.recorded_flights import digests
from robomarl.field.replay.bag import Bag, open_bag
from robomarl.field.replay.recording import recording_of
from robomarl.ros import topics
from robomarl.ros.recording.bag_writer import BagWriter, definition_of
from tests.ros.recording import rewritten

BEGAN_NS, STEPS = 1_700_000_000_000_000_000, 120
ABOUT = {"parameters/one/policy_node": json.dumps({"team": ["one"], "index": 0}), "bundle_id/one": "abc", "fleet": "x"}


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two topics, in several chunks; each third message of one was received at the time of the one before."""
    folder = tmp_path_factory.mktemp("bags") / "bag"
    writer = BagWriter(folder, ABOUT)
    channels = [writer.add_channel(f"/{name}/goal", topics.GOAL, definition_of(PoseStamped)) for name in ("two", "one")]
    message, noise = PoseStamped(), random.Random(1)
    for k in range(STEPS):
        message.header.frame_id = noise.randbytes(1000).hex()  # so that it is long when it is compressed, too
        for number, channel in enumerate(channels):
            message.pose.position.x = float(-k)
            at_ns = BEGAN_NS + 10**7 * (k - (k % 3 == 2 and number == 1)) + 1000 * (k % 2)
            writer.write(channel, at_ns, at_ns - 500, serialize_message(message))
        if k % 10 == 0:
            writer.flush()
    writer.close()
    return folder


def content(bag: Bag) -> list[tuple]:
    """Everything that a command reads of the messages of the team."""
    return [tuple(message) for message in bag.messages() if message.topic != "/camera/info"]


@pytest.mark.parametrize("name", rewritten.FORMS)
def test_every_form_reads_the_same(name: str, bag: Path, tmp_path: Path):
    wanted, found = open_bag(bag), open_bag(rewritten.FORMS[name](bag, tmp_path / "form"))
    messages = content(found)
    assert messages == content(wanted)
    assert len(messages) == 2 * STEPS
    assert [message[1] for message in messages] == sorted(message[1] for message in messages)
    assert (found.digest(), found.about, found.kinds) == (wanted.digest(), ABOUT, wanted.kinds)
    assert found.problems == []
    assert recording_of(found).bundles == {"one": "abc"}


def test_who_flew_is_read_of_the_metadata_record_of_rosbag2(bag: Path, tmp_path: Path):
    """rosbag2 writes its metadata.yaml into the files as well."""
    metadata = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    file = tmp_path / "converted.mcap"
    told = {"serialized_metadata": yaml.safe_dump(metadata), "ROS_DISTRO": "kilted"}
    rewritten.write(file, rewritten.read(bag)[0], told, record="rosbag2")
    assert (open_bag(file).about, content(open_bag(file))) == (ABOUT, content(open_bag(bag)))
    for text in ("[", "3", "custom_data: 3", ""):
        rewritten.write(file, rewritten.read(bag)[0], {"serialized_metadata": text}, record="rosbag2")
        assert open_bag(file).about == {}


def test_messages_of_others_change_nothing(bag: Path, tmp_path: Path):
    found = open_bag(rewritten.with_others(bag, tmp_path / "form"))
    assert content(found) == content(open_bag(bag))


def test_copies_of_messages_count_once_and_are_said(bag: Path, tmp_path: Path):
    found = open_bag(rewritten.twice(bag, tmp_path / "form"))
    assert content(found) == content(open_bag(bag))
    assert found.problems == [f"{tmp_path / 'form'}: {2 * STEPS} messages are in it more than once; each counts once."]


def test_the_same_recording_in_another_form_does_not_count_twice(bag: Path, tmp_path: Path):
    other = rewritten.packed(bag, tmp_path / "form")
    with pytest.raises(UserError, match="form: is the same recording as"):
        digests((bag, other))


@pytest.mark.parametrize("name", ["as_recorded", "zstd_file", "zstd_file_alone"])
def test_what_was_cut_short_is_read_up_to_there_and_said(name: str, bag: Path, tmp_path: Path):
    form = rewritten.FORMS[name](bag, tmp_path / "form")
    (file,) = (file for file in form.iterdir() if ".mcap" in file.suffixes)
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    found = open_bag(form)
    messages = content(found)
    assert 50 < len(messages) < 2 * STEPS
    assert messages == content(open_bag(bag))[: len(messages)]
    (problem,) = found.problems
    assert problem.startswith(f"{file}: can't be read to its end")
    assert found.about == ABOUT


def test_half_a_message_outside_of_chunks_is_no_message(bag: Path, tmp_path: Path):
    file = rewritten.one_file(bag, tmp_path / "form", use_chunking=False)
    whole = file.read_bytes()
    for size in range(len(whole) // 2, len(whole) // 2 + 200, 20):
        file.write_bytes(whole[:size])
        messages = content(open_bag(file))
        assert len(messages) > STEPS // 2
        assert set(messages) < set(content(open_bag(bag)))


def test_a_file_that_others_lie_beside_is_read_alone(bag: Path, tmp_path: Path):
    """A folder of merged files, or one whose metadata are of another recording."""
    file = rewritten.one_file(bag, tmp_path / "form")
    other = file.with_name("other.mcap")
    rewritten.write(other, rewritten.read(bag)[0][:5], {"fleet": "other"})
    assert (open_bag(file).files, open_bag(other).about) == ([file], {"fleet": "other"})
    metadata = yaml.safe_load((bag / "metadata.yaml").read_text())
    metadata["rosbag2_bagfile_information"] |= {"relative_file_paths": ["other.mcap"], "custom_data": {"fleet": "y"}}
    (tmp_path / "form" / "metadata.yaml").write_text(yaml.safe_dump(metadata))
    assert open_bag(file).about == ABOUT
    assert open_bag(other).about == {"fleet": "y"}


def test_a_file_that_the_metadata_name_and_that_is_gone_is_said(bag: Path, tmp_path: Path):
    folder = rewritten.split(bag, tmp_path / "form", told=(0, 1, 2))
    (folder / "bag_1.mcap").unlink()
    gone = folder / "bag_1.mcap"
    assert open_bag(folder).problems == [
        f"{gone}: is named in metadata.yaml and is not here; its messages are missing."
    ]


def test_an_unpacked_file_beside_the_packed_one_counts_once(bag: Path, tmp_path: Path):
    folder = rewritten.packed(bag, tmp_path / "form")
    shutil.copy(bag / "bag_0.mcap", folder)
    found = open_bag(folder)
    assert len(content(found)) == 2 * STEPS
    assert (found.problems, found.files) == ([], [folder / "bag_0.mcap"])


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("x.mcap", b"text", "can't be read to its end"),
        ("x.db3", b"text" * 999, "can't be read to its end"),
        ("x.mcap.zstd", b"text", "can't be read to its end"),
        ("x.mcap.zstd", b"\x28\xb5\x2f\xfd" + b"text" * 9, "can't be read to its end"),
    ],
)
def test_files_that_are_none_are_named(name: str, data: bytes, says: str, tmp_path: Path):
    (tmp_path / name).write_bytes(data)
    found = open_bag(tmp_path)
    assert content(found) == []
    assert len(found.problems) == 1 and says in found.problems[0]
    with pytest.raises(UserError, match=f"{says}.* name no policy_node"):
        recording_of(found)


def test_metadata_with_other_kinds_of_values_are_named(bag: Path, tmp_path: Path):
    for key, value in (("relative_file_paths", "bag_0.mcap"), ("custom_data", ["fleet"])):
        folder = rewritten.copied(bag, tmp_path / key)
        about = yaml.safe_load((folder / "metadata.yaml").read_text())
        about["rosbag2_bagfile_information"][key] = value
        (folder / "metadata.yaml").write_text(yaml.safe_dump(about))
        with pytest.raises(UserError, match="relative_file_paths must be a list, and custom_data a table"):
            open_bag(folder)


def test_a_killed_recorder_leaves_a_file_that_says_who_flew(tmp_path: Path):
    writer = BagWriter(tmp_path / "bag", ABOUT)
    channel = writer.add_channel("/one/goal", topics.GOAL, definition_of(PoseStamped))
    writer.write(channel, BEGAN_NS, BEGAN_NS, serialize_message(PoseStamped()))
    writer.about["bundle_id/one"] = "later"
    writer.flush()  # and nothing more
    (tmp_path / "bag" / "metadata.yaml").unlink()
    assert open_bag(tmp_path / "bag").about == ABOUT | {"bundle_id/one": "later"}
