# pyright: reportIndexIssue=false
"""Every topic x every number of its message x what is no number: refused, counted, named, by every reader."""

import math
import re
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.context import Context
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message

from robomarl.core.view import Plan
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.intake.judge import checked, reader_of
from robomarl.ros.intake.refusals import MOST_SENDERS, OTHERS, Refusals, refusals_of
from robomarl.ros.intake.sound import FARTHEST_M, MessageError, sound
from robomarl.ros.io import fast_messages
from robomarl.ros.io.messages import Broadcast, Estimate
from robomarl.ros.io.node_base import Mailbox, publisher
from robomarl.ros.io.processes import claimed_domain
from robomarl.ros.topics import Topic
from tests.ros.intake.messages_of_all_topics import all_topics, good, is_judged, numbers, put

BAD = (math.nan, math.inf, -math.inf, 1e39, -1e39)
DENORMAL = 5e-324
UNREAD = {
    "ros.topics.ODOMETRY": "covariances",
    "ros.topics.TICK": "rows have NaN where there was nothing; test_ticks_* judges what is read of them",
    "ros.topics.SIM_STATUS": "NaN: it has not happened",
    "ros.topics.TF": "test_transforms_are_judged_one_by_one, and the tracker of motion capture",
    "ros.topics.TF_STATIC": "recorded only",
    "ros.preflight.listen.IMU": "covariances, and an orientation that it may not have",
    "vehicles.base.seat.WHEELS": "covariances",
    "vehicles.base.seat.LOCATED": "covariances",
    "vehicles.base.seat.BATTERY": "what is not measured is NaN",
    "ros.vehicle_topics.crazyswarm.ODOMETRY": "covariances, and rates that the server leaves empty",
    "ros.vehicle_topics.mavros.ODOMETRY": "covariances",
    "ros.vehicle_topics.mavros.IMU": "covariances, orientation and rates are not read",
    "ros.vehicle_topics.mavros.BATTERY": "what is not measured is NaN",
    "vehicles.mocap.node.IMU": "covariances, and an orientation that it may not have",
    "ros.vehicle_topics.mocap.NAMED_POSES": "the tracker judges each body",
    "ros.vehicle_topics.mocap.POSE": "the tracker judges it",
    **{
        f"ros.vehicle_topics.px4_dds.{name}": why
        for why, names in {
            "no number of it is read": ("STATUS", "LAND", "TIME", "ACK"),
            "what is not measured is NaN": ("ODOMETRY", "BATTERY", "SENSORS"),
            "without a fix it has no reference; judged where it is read": ("LOCAL",),
            "simulated vehicles only: what is not controlled is NaN": ("OFFBOARD", "SETPOINT", "COMMAND"),
        }.items()
        for name in names
    },
}
"""Topics of which not every number makes the message one, and why."""


def bad_of(kind: str) -> tuple[float, ...]:
    """What such a number may hold that can't be meant: a single's largest is below 1e39."""
    return BAD if kind == "double" else (math.nan, math.inf, -math.inf, 3e38)


def over_the_wire(message: Any) -> Any:
    return deserialize_message(serialize_message(message), type(message))


@pytest.fixture(scope="module")
def every_topic(foreign_messages: Path) -> dict[str, Topic]:
    return all_topics()


def test_topics_with_numbers_that_are_not_judged_say_why(every_topic: dict[str, Topic]):
    assert len(every_topic) > 45
    assert {name for name, topic in every_topic.items() if topic.judged is not None} == set(UNREAD)


def test_every_number_of_every_topic(every_topic: dict[str, Topic]):
    judged = 0
    for name, topic in every_topic.items():
        assert checked(over_the_wire(good(topic)), topic), name
        for where, kind in numbers(good(topic)):
            message = good(topic)
            for value in bad_of(kind):
                put(message, where, value)
                if not is_judged(topic, where):
                    checked(over_the_wire(message), topic)
                    continue
                judged += 1
                with pytest.raises(MessageError, match="is not finite|absurdly large") as refused:
                    checked(over_the_wire(message), topic)
                leaf = [step for step in where if isinstance(step, str)][-1]
                assert leaf in str(refused.value), (name, where, refused.value)
            if "orientation" not in where and "rotation" not in where and "quat" not in where:
                put(message, where, DENORMAL)
                checked(over_the_wire(message), topic)
    assert judged > 700


def test_rotations_and_times_of_every_topic(every_topic: dict[str, Topic]):
    for name, topic in every_topic.items():
        for where in {where[:-1] for where, _ in numbers(good(topic)) if {"orientation", "rotation"} & set(where)}:
            message = good(topic)
            for part in ("x", "y", "z", "w"):
                put(message, (*where, part), 0.0)
            refuses(topic, message, is_judged(topic, where), "no rotation: it has length 0", name)
        if hasattr(message := good(topic), "header"):
            message.header.stamp.sec = -1
            refuses(topic, message, is_judged(topic, ("header",)), "header.stamp is before the epoch", name)
            message.header.stamp.sec, message.header.stamp.nanosec = 1, 10**9
            refuses(topic, message, is_judged(topic, ("header",)), "1000000000 nanoseconds", name)


def refuses(topic: Topic, message: Any, judged: bool, words: str, name: str) -> None:
    if not judged:
        checked(over_the_wire(message), topic)
        return
    with pytest.raises(MessageError, match=words):
        checked(over_the_wire(message), topic)
        pytest.fail(name)


def test_nobody_subscribes_beside_the_mailbox(root: Path):
    """One place where messages come in; what is read from bytes elsewhere is of a recording."""
    found = {
        path.relative_to(root / "robomarl").as_posix()
        for path in (root / "robomarl").rglob("*.py")
        if "create_subscription(" in path.read_text()
    }
    assert found == {"ros/intake/mailbox.py"}
    text = (root / "robomarl/ros/intake/mailbox.py").read_text()
    assert len(re.findall(r"create_subscription\(", text)) == text.count("reader_of(topic, convert)") == 1
    readers = [fast_messages.odometry_reader, fast_messages.broadcast_reader, fast_messages.command_reader]
    makers = {name for name in dir(fast_messages) if name.endswith("_reader")}
    assert makers == {reader.__name__ for reader in readers}, "a reader of bytes judges itself: add it below"


STILL = Estimate(np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
SAID = Broadcast(np.zeros(3), np.zeros(3), Plan(np.zeros(3), np.zeros(3), np.zeros(3)))
FAST: dict[str, tuple[Topic, Callable, Callable, Callable]] = {
    "odometry": (
        *(topics.ODOMETRY, fast_messages.odometry_reader, convert.odometry_to),
        lambda: convert.odometry_from(STILL, 7.5, "left"),
    ),
    "state_and_plan": (
        *(topics.STATE_AND_PLAN, fast_messages.broadcast_reader, convert.broadcast_to),
        lambda: convert.broadcast_from(SAID, 7.5, "left", (0.1, 0.2)),
    ),
    "command": (
        *(topics.COMMAND, fast_messages.command_reader, convert.command_to),
        lambda: convert.command_from(np.zeros(4), 7.5, "left"),
    ),
}


def ready(reader: Callable, first: Any) -> Any:
    """A reader that has seen a message of this layout, and reads the next one in place."""
    made = reader("left")
    made(serialize_message(first))
    assert made._laid is not None
    return made


def outcome(read: Callable[[Any], Any], given: Any) -> Any:
    """What is read, as nested lists, or "refused"."""
    try:
        return plain(read(given))
    except MessageError:
        return "refused"


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", FAST)
def test_the_reader_of_bytes_and_that_of_objects_refuse_the_same(name: str):
    topic, reader, converted, make = FAST[name]
    refused = 0
    read = reader_of(topic, lambda message: converted(message, "left"))
    for where, _ in numbers(make()):
        for value in (*BAD, DENORMAL, 0.25):
            message = make()
            put(message, where, value)
            data = serialize_message(message)
            found = [outcome(ready(reader, make()), data), outcome(reader("left"), data)]
            found.append(outcome(read, over_the_wire(message)))
            assert found[0] == found[1] == found[2], (where, value, found)
            is_bad = is_judged(topic, where) and (value in BAD or math.isnan(value) or off_unit(where, value))
            assert (found[0] == "refused") == is_bad, (where, value)
            refused += found[0] == "refused"
    assert refused >= 5 * 6


def off_unit(where: tuple, value: float) -> bool:
    """Whether a rotation that was (1, 0, 0, 0) is none any more."""
    if not {"orientation", "rotation"} & set(where):
        return False
    length = abs(value) if where[-1] == "w" else math.hypot(1.0, value)
    return abs(length - 1) > convert.UNIT_TOLERANCE


@pytest.mark.parametrize("name", FAST)
def test_stamps_and_names_of_the_readers(name: str):
    topic, reader, _, make = FAST[name]
    message = make()
    message.header.stamp.sec = -1
    with pytest.raises(MessageError, match="before the epoch"):
        ready(reader, make())(serialize_message(message))
    stranger = make()
    if topic is topics.ODOMETRY:
        stranger.child_frame_id = "right/base_link"
    else:
        stranger.joint_names = ["right"]
    for read in (ready(reader, make()), reader("left")):
        with pytest.raises(MessageError, match="right"):
            read(serialize_message(stranger))
    reader()(serialize_message(stranger))  # nobody said whose it is to be


def test_array_lengths():
    said = convert.broadcast_from(SAID, 7.5, "left", (0.1, 0.2))
    said.points = said.points[:2]
    with pytest.raises(MessageError, match="three points"):
        fast_messages.broadcast_reader("left")(serialize_message(said))
    command = convert.command_from(np.zeros(4), 7.5, "left")
    command.points[0].velocities = [*command.points[0].velocities, *command.points[0].velocities]
    with pytest.raises(MessageError, match="one velocity at most, not 2"):
        fast_messages.command_reader("left")(serialize_message(command))


def test_a_plan_counts_like_the_state():
    """The state of its sender is sound: the message is none all the same."""
    for part in Plan._fields:
        plan = SAID.plan._replace(**{part: np.array([0.0, math.nan, 0.0])})
        message = convert.broadcast_from(SAID._replace(plan=plan), 7.5, "left", (0.1, 0.2))
        with pytest.raises(MessageError, match=r"points\[.\].* is not finite: nan"):
            ready(fast_messages.broadcast_reader, FAST["state_and_plan"][3]())(serialize_message(message))


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e39"])
def test_numbers_that_are_told_as_text(text: str):
    from robomarl.domains.soccer.ros.referee_messages import match_to

    values = {"bundle": "b", "contract": "c", "vehicle": "v", "index": "0", "handover_m": text}
    with pytest.raises(MessageError, match="handover_m"):
        status_messages.announcement_to(status_messages.status_from("left", 0, "READY", values))
    match = {"first": "0", "second": "0", "time_s": text, "kick_offs": "1"}
    with pytest.raises(MessageError, match="time_s"):
        match_to(status_messages.status_from("referee", 0, "PLAYING", match))


def test_an_announcement_in_the_name_of_another_robot():
    values = {"bundle": "b", "contract": "c", "vehicle": "v", "index": "0"}
    message = status_messages.status_from("right", 0, "READY", values)
    assert status_messages.announcement_reader("right")(message).robot == "right"
    with pytest.raises(MessageError, match="name is 'right', on the topic of 'left'"):
        status_messages.announcement_reader("left")(message)


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.5])
def test_ticks_have_whole_numbers_where_they_are_read_as_such(value: float):
    from robomarl.ros.recording.tick_record import HEAD, WHOLE

    row = np.full(len(HEAD) + 1, 1.0)
    row[-1] = math.nan  # of what is told beside, some is not known
    names = ",".join([*HEAD, "more"])
    assert len(status_messages.ticks_to(convert.rows_from(names, row[None]))) == 1
    for name in WHOLE:
        bad = row.copy()
        bad[HEAD.index(name)] = value
        with pytest.raises(MessageError, match=f"{name!r} is not a whole number"):
            status_messages.ticks_to(convert.rows_from(names, bad[None]))


def test_transforms_are_judged_one_by_one(foreign_messages: Path):
    from robomarl.vehicles.base.seat import anchors_of

    message = good(topics.TF)
    (ours,) = message.transforms
    ours.header.frame_id, ours.child_frame_id = topics.FRAME, "robot_0/odom"
    other = good(topics.TF).transforms[0]
    other.transform.translation.x = math.nan
    message.transforms = [other, ours]
    assert len(anchors_of(message, "robot_0/odom")) == 1
    ours.transform.rotation.w = math.nan
    with pytest.raises(MessageError, match="quaternion"):
        anchors_of(message, "robot_0/odom")
    ours.transform.rotation.w, ours.transform.translation.y = 0.5, math.inf
    with pytest.raises(MessageError, match="is not finite: inf"):
        anchors_of(message, "robot_0/odom")


@pytest.mark.parametrize("value", [0.0, -0.0, DENORMAL, -DENORMAL, FARTHEST_M, -FARTHEST_M])
def test_what_is_sound(value: float):
    assert sound([value, value, value])
    single = struct.unpack("<f", struct.pack("<f", 1e-45))[0]
    assert sound([single])


@pytest.mark.parametrize("value", [*BAD, math.nextafter(FARTHEST_M, math.inf)])
def test_what_is_not_sound(value: float):
    assert not any(sound(row) for row in ([value], [0.0, value], [value, -value], [-FARTHEST_M, value]))


def test_refusals_are_counted_by_topic_and_sender_and_do_not_fill_the_log():
    lines: list[str] = []
    refused = Refusals()
    for number in range(MOST_SENDERS + 30):
        refused.add("/left/goal", f"/node{number}", "x is not finite: nan", lines.append)
    refused.add("/left/goal", "/node0", "y is not finite: nan", lines.append)
    refused.add("/clock", "", "is before the epoch", lines.append)
    assert lines == [
        "/left/goal: message of /node0 refused (1 so far): x is not finite: nan",
        "/clock: message refused (1 so far): is before the epoch",
    ]
    assert refused.total == refused.news() == MOST_SENDERS + 32
    assert refused.news() == 0
    told = refused.values()
    assert told["refused /left/goal"].startswith("2 of /node0, 1 of /node1, ")
    assert told["refused /left/goal"].endswith(f"30 of {OTHERS}; last: y is not finite: nan")
    assert told["refused /clock"] == "1; last: is before the epoch"


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with claimed_domain(None) as domain:
        context = Context()
        context.init(domain_id=domain)
        made = Node("listens", context=context, start_parameter_services=False)
        yield made
        made.destroy_node()
        context.try_shutdown()


def wait(condition: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end_s, what
        time.sleep(0.002)


@pytest.mark.ros
def test_every_type_over_dds(every_topic: dict[str, Topic], node: Node):
    """One topic of each type: the good message comes, the others are counted for their sender, and named."""
    by_type = {topic.type: topic for topic in sorted(every_topic.values(), key=lambda topic: topic.judged is None)}
    for at, topic in enumerate(by_type.values()):
        name, told = f"/t{at}", replace(topic, reliable=True, latched=False, depth=500)
        box, out = Mailbox(node, told, name, lambda message: message), publisher(node, told, name)
        wait(lambda out=out: out.get_subscription_count() > 0, f"the reader of {topic.type}")
        out.publish(good(topic))
        judged = [(where, kind) for where, kind in numbers(good(topic)) if is_judged(topic, where)]
        for where, kind in judged:
            message = good(topic)
            put(message, where, math.nan if kind == "double" else math.inf)
            out.publish(message)
        out.publish(good(topic))
        came: list[Any] = []
        wait(lambda box=box, came=came: came.extend(box.take()) or len(came) >= 2, f"both of {topic.type}")
        assert (len(came), box.count.refused) == (2, len(judged)), topic.type
        if judged:
            said = refusals_of(node).values()[f"refused {name}"]
            assert said.startswith(f"{len(judged)} of /listens; last: "), said
            assert "is not finite" in said
        box.destroy()
        node.destroy_publisher(out)


@pytest.mark.ros
def test_the_readers_of_bytes_over_dds(node: Node):
    for name, (topic, reader, _, make) in FAST.items():
        told = replace(topic, reliable=True, depth=500)
        box, out = Mailbox(node, told, f"/left/{name}", reader("left")), publisher(node, told, f"/left/{name}")
        wait(lambda out=out: out.get_subscription_count() > 0, f"the reader of {name}")
        judged = [where for where, _ in numbers(make()) if is_judged(topic, where)]
        for where in judged:
            message = make()
            put(message, where, math.nan)
            out.publish(make())
            out.publish(message)
        came: list[Any] = []
        all_of = 2 * len(judged)
        wait(lambda box=box, came=came, n=all_of: came.extend(box.take()) or box.count.received >= n, name)
        assert (len(came), box.count.refused) == (len(judged), len(judged))
        assert f"{len(judged)} of /listens" in refusals_of(node).values()[f"refused /left/{name}"]
        box.destroy()
        node.destroy_publisher(out)
