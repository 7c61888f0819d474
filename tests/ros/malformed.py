"""Messages as nobody should send them, for every topic that a team listens to: bytes, not objects."""

import random
import struct
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point, PoseStamped, Quaternion
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from trajectory_msgs.msg import MultiDOFJointTrajectory

from robomarl.ros import topics
from robomarl.ros.convert import point_of
from robomarl.ros.io.node_base import message_class, publisher
from robomarl.ros.topics import Topic, linked

TEN = bytes(10)
LAST_NS = 2**32 - 1
COUNTS = (2, 2**16, 2**28, 2**31 - 1, 2**32 - 1)
HEADS = (b"\x00\x00", b"\x00\x03", b"\x00\x07", b"\x77\x01", b"\xff\xff")


def listened(robots: tuple[str, ...]) -> list[tuple[str, Topic]]:
    """(absolute name, topic) of everything that a node of the team, its link emulator included, listens to."""
    found = [("/emergency_stop", topics.ESTOP), ("/clock", topics.CLOCK), ("/diagnostics", topics.DIAGNOSTICS)]
    for robot in robots:
        own = (topics.ODOMETRY, topics.STATE_AND_PLAN, topics.COMMAND, topics.GOAL, topics.TICK, topics.ANNOUNCE)
        found += [(topic.of(robot), topic) for topic in own]
        found.append((linked(topics.ODOMETRY, robot, robot), topics.ODOMETRY))
        said = topics.STATE_AND_PLAN
        found += [(linked(said, robot, mate), said) for mate in robots if mate != robot]
    return found


def attackers(node: Node, robots: tuple[str, ...]) -> list[tuple[Topic, Publisher]]:
    """A publisher of the stranger's on each of them."""
    return [(topic, publisher(node, topic, name)) for name, topic in listened(robots)]


def malformed(topic: Topic, rng: random.Random) -> bytes:
    """Bytes that are no such message, or one that `ros_nodes/README.md` says is refused."""
    good = serialize_message(_plain(topic))
    kind = rng.randrange(6)
    if kind == 0:
        return rng.randbytes(rng.randrange(200))
    if kind == 1:
        return good[: rng.randrange(len(good))]
    if kind == 2:
        return rng.choice(HEADS) + good[2:]
    if kind == 3 and len(good) > 8:
        at = rng.randrange(4, len(good) - 3, 4)
        return good[:at] + struct.pack("<I", rng.choice(COUNTS)) + good[at + 4 :]
    if kind == 4:
        return good[:4] + rng.randbytes(len(good) - 4)
    return serialize_message(_plain(rng.choice((topics.ODOMETRY, topics.COMMAND, topics.SIM_GOALS, topics.ANNOUNCE))))


def stream(topic: Topic, seed: int) -> Iterator[bytes]:
    """As many as are asked for; those that may be taken for a pressed E-stop or a clock are left out."""
    rng = random.Random(f"{topic.name} {seed}")
    while True:
        data = malformed(topic, rng)
        if topic is topics.ESTOP and len(data) >= 5 or topic is topics.CLOCK and len(data) >= 12:
            continue
        yield data


def far_stamp(topic: Topic) -> bytes:
    """A message of the right layout whose stamp no clock can show: whoever copies it must not fail."""
    message = _plain(topic)
    message.header.stamp.sec, message.header.stamp.nanosec = 2**31 - 1, LAST_NS
    message.header.frame_id = topics.FRAME
    if topic is topics.ODOMETRY:
        message.pose.pose.position, message.pose.pose.orientation = Point(z=1.0), Quaternion(w=1.0)
    return serialize_message(message)


FAR = (1e7, -1e39, 1e155, -1e300, 1.7e308)


def far_away(topic: Topic, far_m: float) -> bytes:
    """A message in which all is right but one number, which is finite, and no place on earth."""
    message = _plain(topic)
    if topic is topics.GOAL:
        message.pose.position, message.pose.orientation = Point(x=far_m), Quaternion(w=1.0)
    else:
        message.points = [point_of([np.array([far_m, 0.0, 1.0])], [np.zeros(3)], 0.0) for _ in range(3)]
    now_s = time.time()
    message.header.stamp.sec, message.header.stamp.nanosec = int(now_s), int(now_s % 1 * 1e9)
    return serialize_message(message)


def _plain(topic: Topic) -> Any:
    """One that is nearly right, so that a change goes deep: only its rotation or its number of points is wrong."""
    if topic is topics.CLOCK:
        return Clock()
    made = message_class(topic.type)()
    if hasattr(made, "header"):
        made.header.frame_id = topics.FRAME
    if isinstance(made, Odometry | PoseStamped):
        place = made.pose.pose if isinstance(made, Odometry) else made.pose
        place.orientation = Quaternion(w=0.0)
    if isinstance(made, MultiDOFJointTrajectory):
        made.joint_names = ["left"]
        made.points = [point_of([np.zeros(3)], [np.zeros(3)], 0.0) for _ in range(2)]
    if isinstance(made, DiagnosticStatus):
        made.values = [KeyValue(key="bundle", value="x"), KeyValue(key="index", value="one")]
    return made
