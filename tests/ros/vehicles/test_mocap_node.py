# pyright: reportOptionalMemberAccess=false
"""`mocap_node` over DDS: poses in, odometry out, and none where there must not be any."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseStamped
from std_srvs.srv import Trigger

from robomarl.ros import convert, topics
from robomarl.ros.io.node_base import message_class
from robomarl.ros.vehicle_topics.mocap import NAMED_POSES, POSE, RESET
from tests.ros.vehicles.noderig import Peer, spec, started

pytestmark = pytest.mark.ros
NODE = "vehicles.mocap.node"
TEAM = ("robot_0", "robot_1")


class Cameras:
    """Tells the poses of a team that swings, ten millimetres for each robot's index apart from where it is told."""

    def __init__(self, peer: Peer, tell: Any) -> None:
        self.peer, self._tell, self.shift_m, self.seen = peer, tell, np.zeros(3), True
        self.stamps: set[tuple[int, int]] = set()
        self.exchanged = False
        self.heard: dict[str, list[Any]] = {name: [] for name in TEAM}
        for name in TEAM:
            peer.hear(topics.ODOMETRY, f"/{name}/odometry", self.heard[name].append)
        peer.beat = self.beat

    def beat(self) -> None:
        if self.seen:
            order = reversed(range(len(TEAM))) if self.exchanged else range(len(TEAM))
            self._tell([self.pose(k) for k in order])

    def reset(self) -> None:
        """As an operator does who has compared bodies and names."""
        for name in TEAM:
            client = self.peer.node.create_client(Trigger, f"/{name}/{RESET}")
            assert self.peer.wait(client.service_is_ready)
            answer = client.call_async(Trigger.Request())
            assert self.peer.wait(answer.done) and answer.result().success

    def pose(self, index: int) -> PoseStamped:
        made = PoseStamped()
        made.header.stamp, made.header.frame_id = self.peer.stamp(), "world"
        self.stamps.add((made.header.stamp.sec, made.header.stamp.nanosec))
        t = convert.stamp_of(made.header)
        pos = np.array([0.3 * math.sin(t), 2.0 * index, 1.0]) + self.shift_m
        convert.set_xyz(made.pose.position, pos)
        return made


def check_flight(cameras: Cameras) -> None:
    """Odometry with velocity comes; a jump, a loss, and the way back."""
    peer, heard = cameras.peer, cameras.heard
    assert peer.wait(lambda: all(len(rows) > 30 for rows in heard.values())), peer.lines
    message = heard["robot_1"][-1]
    estimate, stamp_s = convert.odometry_to(message)
    assert message.child_frame_id == "robot_1/base_link"
    assert estimate.pos_m == pytest.approx([0.3 * math.sin(stamp_s), 2.0, 1.0], abs=0.02)
    assert estimate.vel_m_s == pytest.approx([0.3 * math.cos(stamp_s), 0.0, 0.0], abs=0.1)
    stamp = message.header.stamp
    assert (stamp.sec, stamp.nanosec) in cameras.stamps, "the stamp is the pose's own"
    cameras.shift_m = np.array([0.0, 0.0, 1.0])
    assert peer.wait(lambda: "jumped: jumped by 1." in peer.says("robot_0/mocap")), peer.diagnostics
    for rows in heard.values():
        rows.clear()
    peer.run(0.3)
    assert not heard["robot_0"], "a jump is not told on"
    cameras.shift_m = np.zeros(3)
    cameras.reset()
    assert peer.wait(lambda: all(heard.values())), peer.diagnostics
    check_exchange(cameras)
    cameras.seen = False
    assert peer.wait(lambda: "lost: no pose for" in peer.says("robot_0/mocap")), peer.diagnostics


def check_exchange(cameras: Cameras) -> None:
    """Two bodies are hidden and come back under each other's names: nothing is told of them, and an operator resets."""
    peer = cameras.peer
    cameras.seen, cameras.exchanged = False, True
    peer.run(0.3)
    for rows in cameras.heard.values():
        rows.clear()
    cameras.seen = True
    peer.run(3.0)
    assert not any(cameras.heard.values()), peer.diagnostics
    cameras.exchanged = False
    cameras.reset()
    assert peer.wait(lambda: all(cameras.heard.values())), peer.diagnostics


def test_poses_become_odometry_and_jumps_and_losses_do_not():
    parameters = {"team": list(TEAM), "source": "pose", "topic": "/mocap/{body}", "bodies": ["cf1", "cf2"]}
    with started(spec(NODE, "mocap_node", **parameters)) as peer:
        senders = [peer.sender(POSE, f"/mocap/{body}") for body in ("cf1", "cf2")]
        check_flight(Cameras(peer, lambda poses: [s.publish(p) for s, p in zip(senders, poses, strict=True)]))


@pytest.mark.slow
def test_named_poses_become_odometry_and_tf(foreign_messages: Path):
    kind, moved = message_class(NAMED_POSES.type), []

    twice: list[str] = []

    def told(poses: list[PoseStamped]) -> Any:
        bodies = [message_class("motion_capture_tracking_interfaces/msg/NamedPose")(name="wand")]
        for name, pose in (*zip(("cf1", "cf2"), poses, strict=True), *((name, poses[0]) for name in twice)):
            bodies.append(type(bodies[0])(name=name, pose=pose.pose))
        return kind(header=poses[0].header, poses=bodies)

    with started(spec(NODE, "mocap_node", team=list(TEAM), bodies=["cf1", "cf2"], frame="world")) as peer:
        sender = peer.sender(NAMED_POSES, "/poses")
        peer.hear(topics.TF, "/tf", moved.append)
        cameras = Cameras(peer, lambda poses: sender.publish(told(poses)))
        check_flight(cameras)
        twice.append("cf1")
        cameras.seen = True
        cameras.reset()
        assert peer.wait(lambda: "named 2 times in one message" in peer.says("robot_0/mocap")), peer.diagnostics
        for rows in cameras.heard.values():
            rows.clear()
        assert peer.wait(lambda: cameras.heard["robot_1"]), "only the body that is named twice suffers"
        assert not cameras.heard["robot_0"]
        frames = {part.child_frame_id for message in moved for part in message.transforms}
        assert frames == {"robot_0/base_link", "robot_1/base_link"}


@pytest.mark.slow
def test_tf_becomes_odometry(foreign_messages: Path):
    whole = message_class(topics.TF.type)
    part = message_class("geometry_msgs/msg/TransformStamped")

    def told(poses: list[PoseStamped]) -> Any:
        moved = []
        for name, pose in zip(TEAM, poses, strict=True):
            made = part(header=pose.header, child_frame_id=f"tracked/{name}")
            at = pose.pose.position
            convert.set_xyz(made.transform.translation, np.array([at.x, at.y, at.z]))
            moved.append(made)
        return whole(transforms=moved)

    bodies = [f"tracked/{name}" for name in TEAM]
    with started(spec(NODE, "mocap_node", team=list(TEAM), bodies=bodies, source="tf")) as peer:
        sender = peer.sender(topics.TF, "/tf")
        check_flight(Cameras(peer, lambda poses: sender.publish(told(poses))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"bodies": ["a"]}, "bodies must name each of the 2 robots once"),
        ({"source": "vicon"}, "source = 'vicon' must be one of named_poses, pose, tf"),
        ({"axes": "up"}, "axes = 'up' must be z_up or y_up"),
        ({"source": "pose", "topic": "/pose"}, "must have {body} in it"),
    ],
)
def test_parameters_that_can_not_be_are_named(parameters: dict, why: str):
    with started(spec(NODE, "mocap_node", team=list(TEAM), **parameters)) as peer:
        assert peer.wait(lambda: any(why in line for line in peer.lines)), peer.lines


@pytest.mark.slow
def test_a_frame_of_another_name_is_not_flown():
    parameters = {"team": list(TEAM), "source": "pose", "frame": "map"}
    with started(spec(NODE, "mocap_node", **parameters)) as peer:
        senders = [peer.sender(POSE, f"/{name}/pose") for name in TEAM]
        cameras = Cameras(peer, lambda poses: [s.publish(p) for s, p in zip(senders, poses, strict=True)])
        assert peer.wait(lambda: "poses are in 'world', and frame = 'map'" in peer.says("robot_0/mocap"))
        assert not any(cameras.heard.values())
