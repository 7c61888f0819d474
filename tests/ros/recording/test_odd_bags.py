"""Recordings in which something is odd are replayed all the same, and the report says what it is."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap")

from robomarl.field.replay.bag import open_bag
from robomarl.field.replay.bag_replay import BagReplay
from robomarl.ros import topics
from robomarl.ros.io.fast_messages import RowsWriter
from robomarl.ros.recording.bag_writer import BagWriter
from robomarl.ros.recording.tick_record import tick_names
from robomarl.ros.topics import Topic

TEAM = ("one", "two", "three", "four")
NAMES = tick_names(["acceleration.x", "acceleration.y", "acceleration.z", "yaw_rate"], TEAM[1:])
PERIOD_S, BEGAN_S, ROWS = 0.02, 1_700_000_000.0, 5


def write_bag(folder: Path, receive_s: list[float], copies: int = 1, topic: str = topics.TICK.of("one", "")) -> Path:
    """Ticks of a robot that stands by, `ROWS` in each message, of which the recorder had one at each of these times."""
    about = {
        f"parameters/{name}/policy_node": json.dumps({"team": TEAM, "index": i, "bundle": "swap_4"})
        for i, name in enumerate(TEAM)
    }
    bag, write = BagWriter(folder, about), RowsWriter(",".join(NAMES), len(NAMES))
    channel = bag.add_channel(topic, Topic(topic, topics.TICK.type, False, False, 1, "", "", ""), "")
    for k, after_s in enumerate(receive_s):
        rows = np.zeros((ROWS, len(NAMES)))
        rows[:, NAMES.index("count")] = counts = 1 + ROWS * k + np.arange(ROWS)
        rows[:, NAMES.index("stamp_s")] = BEGAN_S + PERIOD_S * counts
        for _ in range(copies):
            received_ns = round((BEGAN_S + after_s) * 1e9)
            bag.write(channel, received_ns, received_ns, write(list(rows)))
    bag.close()
    return folder


def replayed(folder: Path) -> tuple[int, list[str]]:
    """Ticks, and what is said to be odd."""
    replay = BagReplay(open_bag(folder), robots=("one",))
    replay.run()
    return replay.tallies["one"].ticks, replay.bag.problems


REGULAR = [0.1 * k for k in range(1, 31)]


def test_nothing_is_said_of_a_regular_one(tmp_path: Path):
    assert replayed(write_bag(tmp_path / "bag", REGULAR)) == (150, [])


def test_messages_that_are_there_twice_count_once(tmp_path: Path):
    ticks, problems = replayed(write_bag(tmp_path / "bag", REGULAR, copies=2))
    assert ticks == 150
    assert problems == [f"{tmp_path / 'bag'}: 30 messages are in it more than once; each counts once."]


def test_a_node_that_began_again_is_no_copy(tmp_path: Path):
    first, again = (write_bag(tmp_path / name, REGULAR[:10]) for name in ("first", "again"))
    bag = open_bag(first)
    messages = [*bag.messages(), *open_bag(again).messages()]
    replay = BagReplay(bag, robots=("one",))
    (topic,) = replay.bag.kinds
    for number, message in enumerate(messages):
        rows = replay._robots["one"].table.rows(message.data).copy()
        rows[:, NAMES.index("stamp_s")] += 2.0 * (number >= 10)
        for row in rows:
            replay._decide(replay._robots["one"], row)
    assert replay.tallies["one"].ticks == 100


@pytest.mark.parametrize(("jump_s", "most_s"), [(40.0, "+40.0"), (-40.0, "-2.0")])
def test_receive_times_that_jump_are_said(jump_s: float, most_s: str, tmp_path: Path):
    """A recorder whose clock is set back writes the same time until it has caught up: 2 s of ticks here."""
    ticks, (problem,) = replayed(write_bag(tmp_path / "bag", [at + jump_s * (k > 9) for k, at in enumerate(REGULAR)]))
    assert ticks == 150
    assert f"one: receive times part from its stamps by {most_s} s" in problem


def test_a_file_of_another_team_is_named(tmp_path: Path):
    folder = write_bag(tmp_path / "bag", REGULAR)
    (other,) = write_bag(tmp_path / "other", REGULAR, topic="/camera/ticks").glob("*.mcap")
    shutil.copy(other, folder / "z.mcap")
    assert replayed(folder) == (
        150,
        [f"{folder / 'z.mcap'}: has no topic of this team, and is left out; move it elsewhere."],
    )
