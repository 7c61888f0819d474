"""What a recording is worth: what is missing is said, what ROS says is in it, and robots may insist on it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from rosbags.highlevel import AnyReader
from std_msgs.msg import String

from robomarl.ros import status_messages, topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import Mailbox, publisher
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.console import open_console
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.recording.health import Arrivals
from robomarl.ros.recording.watch import QUIET_S, RECORDED, RecordingWatch, Told
from robomarl.ros.robot.health import ERROR, OK, WARN

STEADY = ["odometry", "tick", "announce"]


def arrivals(*names: str) -> Arrivals:
    made = Arrivals(("left", "right"), "/lab", sim=False)
    for name in names:
        made.note(name, 10.0)
    return made


def test_a_recording_of_everything_is_good():
    names = [f"/lab/{robot}/{topic}" for robot in ("left", "right") for topic in STEADY]
    told = arrivals(*names, "/lab/emergency_stop").told(11.0, lambda name: True)
    assert told == Told(OK, "recording", {"left": RECORDED, "right": RECORDED})


def test_a_recording_of_nothing_is_an_error():
    """Nobody is heard; nobody is seen either, as where discovery has not come that far."""
    for seen in (False, True):
        told = arrivals("/diagnostics").told(11.0, lambda name, seen=seen: seen)
        assert (told.level, told.robots["left"]) == (ERROR, "nothing of odometry, tick, announce")
        assert "records nothing of left: odometry, tick, announce; right: " in told.text


def test_what_stops_to_come_is_missed():
    names = [f"/lab/left/{topic}" for topic in STEADY]
    held = arrivals(*names, "/lab/emergency_stop")
    absent = held.told(11.0, lambda name: "left" in name)
    assert (absent.level, absent.robots["left"]) == (WARN, RECORDED), "a robot that is not there is no error"
    assert held.told(11.0, lambda name: True).level == ERROR, "one that is there and not recorded is"
    late = held.told(10.1 + QUIET_S, lambda name: "left" in name)
    assert (late.level, late.robots["left"]) == (ERROR, "nothing of odometry, tick, announce")


def test_a_robot_that_wants_to_be_recorded_says_why_it_is_not_ready():
    assert RecordingWatch("left", False).problems(10.0) == []
    watch = RecordingWatch("left", True)
    assert str(*watch.problems(10.0)) == "recorder: nothing heard of one; start recorder_node"
    watch.hear(Told(OK, "recording", {"left": RECORDED, "right": "nothing of tick"}), 10.0)
    assert watch.problems(11.0) == []
    assert watch.problems(10.1 + QUIET_S) != []
    watch.hear(Told(ERROR, "recording stopped: disk", {}), 20.0)
    assert str(*watch.problems(20.0)) == "recorder: does not record this robot (recording stopped: disk)"


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[tuple]:
    """A recorder that runs, and an operator."""
    given = {"team": ["left"], "folder": str(tmp_path / "bag"), "extra": ["/battery std_msgs/msg/String latched"]}
    spec = NodeSpec("recorder_node", "robomarl.ros.recorder_node", "recorder", "", {**given, "min_free_mb": 0.0})
    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        shared = environment(True, domain)
        with open_console((), shared, sim=False, watch=processes.check) as console:
            processes.start([spec], child_environment(shared))
            yield console, processes, tmp_path / "bag"


@pytest.mark.ros
def test_a_recorder_says_error_until_something_arrives_and_records_what_it_was_asked_for(recorder: tuple):
    console, processes, folder = recorder
    node = console._node
    told = Mailbox(node, topics.RECORDING, "/recording", status_messages.recording_to)
    latest: list[Told] = []

    def says(level: int, text: str) -> bool:
        latest.extend(found for found, _ in told.take())
        return bool(latest) and latest[-1].level == level and text in latest[-1].text

    console.wait(lambda: says(ERROR, "records nothing of left: odometry, tick, announce"), 20, "an ERROR")
    battery = topics.topic_named("/battery std_msgs/msg/String latched")[1]
    publisher(node, battery, "/battery").publish(String(data="full"))
    steady = {
        topic: publisher(node, topic, topic.of("left")) for topic in (topics.ODOMETRY, topics.TICK, topics.ANNOUNCE)
    }
    heartbeat = publisher(node, topics.ESTOP, "/emergency_stop")
    frame = Odometry()
    frame.header.stamp.nanosec = 123_456_789

    def speak() -> bool:
        for topic, out in steady.items():
            out.publish(frame if topic is topics.ODOMETRY else out.msg_type())
        heartbeat.publish(heartbeat.msg_type())
        return says(OK, "recording")

    console.wait(speak, 20, "the recorder to be content")
    node.get_logger().info("a line in the log")
    time.sleep(1.0)
    processes.stop()
    with AnyReader([folder]) as reader:
        held: list[tuple[str, Any]] = [(c.topic, reader.deserialize(raw, c.msgtype)) for c, _, raw in reader.messages()]
    assert [message.data for topic, message in held if topic == "/battery"] == ["full"]
    assert any(message.msg == "a line in the log" for topic, message in held if topic == "/rosout")
    assert {m.header.stamp.nanosec for topic, m in held if topic == "/left/odometry"} == {123_456_789}


def test_further_topics_are_spelt_as_the_help_says():
    assert topics.topic_named("/a std_msgs/msg/String")[1].type == "std_msgs/msg/String"
    for text in ("a std_msgs/msg/String", "/a", "/a String", "/a std_msgs/msg/String sometimes"):
        with pytest.raises(ValueError, match="is not written as"):
            topics.topic_named(text)
