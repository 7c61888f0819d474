"""`robomarl fleet check` over DDS: a healthy team passes, and each fault that is injected is named."""

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from robomarl.core.geometry import quat_from_yaw, yaw_of
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.ros import convert, topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.messages import Estimate
from robomarl.ros.io.node_base import publisher
from robomarl.ros.io.processes import child_environment
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import TeamNodes, bring_up
from robomarl.ros.preflight.run import CheckOptions, preflight
from robomarl.ros.preflight.seen import CheckRow
from robomarl.ros.robot.state_machine import Order
from tests.ros.faultrig import ROBOTS, write_files
from tests.ros.vehicles.noderig import Peer, started

pytestmark = [pytest.mark.ros, pytest.mark.slow, pytest.mark.alone]
DOMAIN = 62


@pytest.fixture(scope="module")
def fleet_file(goto_bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("preflight"), goto_bundle).fleet


@pytest.fixture(scope="module")
def team(goto_bundle: Path, fleet_file: Path) -> Iterator[TeamNodes]:
    """A team on the simulated ground, READY."""
    folder = fleet_file.parent
    plan = PlanOptions(
        bundle=str(goto_bundle), root=str(folder), sim=True, ground=True, tell_goals=True, record=str(folder / "bag")
    )
    with patch.dict(os.environ, environment(True, DOMAIN)):
        with bring_up(load_fleet(str(fleet_file)), plan, DOMAIN, lambda name, line: None) as up:
            up.configure()
            up.console.wait_until_ready(ROBOTS, 60)
            yield up


def failed(fleet: Path | Fleet) -> dict[tuple[str, str], str]:
    """Robot and check of what is wrong, and why."""
    read = fleet if isinstance(fleet, Fleet) else load_fleet(str(fleet))
    return {(row.robot, row.check): row.why for row in rows_of(read) if row.ok is False}


def rows_of(fleet: Fleet) -> list[CheckRow]:
    return preflight(fleet, CheckOptions(seconds=2.0, domain_id=DOMAIN))


def test_a_healthy_team_passes(team: TeamNodes, fleet_file: Path, tmp_path: Path):
    """The command itself, in a process of its own."""
    command = [sys.executable, "-m", "robomarl", "fleet", "check", str(fleet_file), "--domain-id", str(DOMAIN)]
    command += ["--json", str(tmp_path / "rows.json"), "--room", "-4", "-4", "-0.1", "4", "4", "3.2"]
    done = subprocess.run(command, env=child_environment({}), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "rows.json").read_text())
    found = {(row["robot"], row["check"]): row["ok"] for row in figures["rows"]}
    assert figures["ok"] and found["left", "policy"] and found["right", "odometry"] and found["", "recorder"]
    assert found["left", "at rest"] and found["left", "clock"] and found["left", "space"] and found["", "apart"]
    assert found["left", "gravity"] is None, "the simulator publishes no accelerometer"
    assert "left   odometry" in done.stdout and "unseen" in done.stdout


def test_a_room_that_is_too_small_is_named(team: TeamNodes, fleet_file: Path):
    options = CheckOptions(2.0, domain_id=DOMAIN, room_m=((-1, -4, 0), (4, 4, 4)))
    rows = {(row.robot, row.check): row for row in preflight(load_fleet(str(fleet_file)), options)}
    assert rows["left", "space"].ok is False and "2.50 m on x beyond the room" in rows["left", "space"].why


def test_another_publisher_and_a_pressed_estop_are_named(team: TeamNodes, fleet_file: Path):
    own = topics.ODOMETRY
    other = publisher(team.console._node, own, own.of("left"))
    other.publish(convert.odometry_from(STILL, 0.0, "left"))
    assert team.console.order(Order.ESTOP, ["all"]) == {"all": ""}
    found = failed(fleet_file)
    assert "several nodes publish it" in found["left", "odometry"]
    assert ("right", "odometry") not in found
    assert "is pressed" in found["", "E-stop"]
    assert "ESTOP" in found["left", "policy"] and "ESTOP" in found["right", "policy"]
    team.console._node.destroy_publisher(other)
    team.console.order(Order.RESET, ["all"])


def test_processes_that_are_missing_are_named(team: TeamNodes, fleet_file: Path):
    team.processes.kill("/right/policy_node")
    team.processes.kill("/monitor")
    found = failed(fleet_file)
    assert "has not announced itself" in found["right", "policy"]
    assert "E-stop" in found["", "monitor"] and "nothing is heard of it" in found["", "E-stop"]
    team.processes.kill("/sim")
    found = failed(fleet_file)
    assert "it" in found["left", "odometry"] and "STANDBY" in found["left", "policy"]


STILL = Estimate(np.array([0.0, 0.0, 0.05]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))


class Told:
    """Odometry of both robots, as somebody's estimators would tell it."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.ahead_s, self.frame = peer, {"left": 0.0, "right": 0.0}, {"left": "map", "right": "map"}
        self.own = {"left": STILL, "right": STILL._replace(pos_m=np.array([1.0, 0, 0.05]))}
        own = topics.ODOMETRY
        self._senders = {name: peer.sender(own, own.of(name)) for name in ROBOTS}
        self._rng = np.random.default_rng(0)

    def tell(self) -> None:
        for name, sender in self._senders.items():
            now_s = self.peer.node.get_clock().now().nanoseconds * 1e-9
            own = self.own[name]
            noisy = own._replace(pos_m=own.pos_m + self._rng.uniform(-0.002, 0.002, 3))
            message = convert.odometry_from(noisy, now_s + self.ahead_s[name], name)
            message.header.frame_id = self.frame[name]
            sender.publish(message)


def test_frames_and_clocks_of_others_are_named(fleet_file: Path):
    with patch.dict(os.environ, {"ROS_DOMAIN_ID": str(DOMAIN)}), started() as peer:
        told = Told(peer)
        timer = peer.node.create_timer(0.02, told.tell)
        told.frame["left"], told.ahead_s["right"] = "odom", 1.0
        with background(peer):
            found = failed(fleet_file)
        timer.cancel()
    assert "header.frame_id is 'odom', not 'map'" in found["left", "frame"]
    assert "s ahead: synchronize the clocks" in found["right", "clock"]
    assert ("right", "frame") not in found


def test_robots_are_moved_by_hand(fleet_file: Path):
    """Somebody does what is told with the left one, and turns the right one the wrong way round."""
    with patch.dict(os.environ, {"ROS_DOMAIN_ID": str(DOMAIN)}), started() as peer:
        told, texts = Told(peer), []
        peer.node.create_timer(0.02, told.tell)

        def move(text: str) -> str:
            texts.append(text)
            name = text.split(":")[0]
            begin = told.own[name]
            yaw = float(yaw_of(begin.quat_wxyz))
            nose = 0.5 * np.array([math.cos(yaw), math.sin(yaw), 0.0])
            shift = np.array([0, 0, 0.5]) if "lift" in text else nose if "nose" in text else np.zeros(3)
            turn = (1.5 if name == "left" else -1.5) if "turn" in text else 0.0
            begin_s, share = time.monotonic(), 0.0
            while share < 1:
                share = min(time.monotonic() - begin_s, 1.0)
                quat = quat_from_yaw(np.float64(yaw + share * turn))
                omega = np.array([0, 0, turn])
                told.own[name] = Estimate(begin.pos_m + share * shift, quat, shift, omega)
                time.sleep(0.02)
            told.own[name] = told.own[name]._replace(vel_m_s=np.zeros(3), omega_rad_s=np.zeros(3))
            return ""

        with background(peer):
            rows = preflight(load_fleet(str(fleet_file)), CheckOptions(1.0, domain_id=DOMAIN), move)
    found = {(row.robot, row.check): row for row in rows if row.check.startswith("by hand")}
    assert [text.split(":")[0] for text in texts] == ["left"] * 3 + ["right"] * 3
    assert all(found["left", f"by hand: {task}"].ok for task in ("up", "left", "forward")), found
    assert found["right", "by hand: left"].ok is False and "clockwise" in found["right", "by hand: left"].why


@contextmanager
def background(peer: Peer) -> Iterator[None]:
    """The peer's timers run while the preflight listens in this thread."""
    over = threading.Event()
    thread = threading.Thread(target=lambda: peer.wait(over.is_set, 120.0), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
