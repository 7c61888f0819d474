"""`base_node` drives a base over DDS, and stops it in every way in which driving ends."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from std_srvs.srv import Trigger

from robomarl.ros import convert, topics
from robomarl.ros.io.messages import Estimate
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.vehicles.base.seat import WHEELS
from tests.ros.vehicles.noderig import Peer, spec, started

pytestmark = [pytest.mark.ros, pytest.mark.slow]
AHEAD_M = 0.1
START = [1.0, -0.5, 2.0]
PERIOD_S = 0.05


class Driver:
    """Stands where the policy is: the look-ahead point goes to a place, with what `odometry` says."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.goal_m, self.drives = peer, np.array([0.0, 0.3]), True
        self.own: Estimate | None = None
        self.true: Estimate | None = None
        self.pressed, self._sent_s = False, 0.0
        peer.hear(topics.ODOMETRY, "/robot_0/odometry", lambda m: setattr(self, "own", convert.odometry_to(m)[0]))
        peer.hear(WHEELS, "/robot_0/truth", lambda m: setattr(self, "true", convert.odometry_to(m)[0]))
        self._command = peer.sender(topics.COMMAND, "/robot_0/command")
        self._estop = peer.sender(topics.ESTOP, "/emergency_stop")
        peer.beat = self.beat

    def beat(self) -> None:
        if time.monotonic() - self._sent_s < PERIOD_S:
            return
        self._sent_s = time.monotonic()
        self._estop.publish(type_of_estop()(data=self.pressed))
        if self.own is None or not self.drives:
            return
        point, vel = ahead(self.own)
        accel = 0.6 * np.clip(self.goal_m - point, -0.15, 0.15) - 1.2 * vel
        self._command.publish(convert.command_from(np.array([*accel, 0.0, 0.0]), 0.0, "robot_0"))

    def apart_m(self) -> float:
        """True distance of the point from its goal."""
        return math.inf if self.true is None else math.dist(ahead(self.true)[0], self.goal_m)

    def moves(self) -> bool:
        return self.true is not None and float(np.linalg.norm(self.true.vel_m_s)) > 0.05

    def rests(self) -> bool:
        return self.true is not None and float(np.linalg.norm(self.true.vel_m_s)) < 0.005

    def order(self, name: str) -> None:
        client = self.peer.node.create_client(Trigger, f"/robot_0/vehicle/{name}")
        assert self.peer.wait(client.service_is_ready)
        answer = client.call_async(Trigger.Request())
        assert self.peer.wait(answer.done)


def type_of_estop() -> Any:
    from std_msgs.msg import Bool

    return Bool


def ahead(own: Estimate) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity of the look-ahead point in the plane."""
    yaw, rate = 2 * math.atan2(own.quat_wxyz[3], own.quat_wxyz[0]), own.omega_rad_s[2]
    head = np.array([math.cos(yaw), math.sin(yaw)])
    return own.pos_m[:2] + AHEAD_M * head, own.vel_m_s[:2] + AHEAD_M * rate * np.array([-head[1], head[0]])


@contextmanager
def driving(peer_parameters: dict | None = None, **parameters: Any) -> Iterator[Driver]:
    base = NodeSpec(
        "base_peer",
        "tests.ros.vehicles.base_peer",
        "base_peer",
        "/robot_0",
        {"start": START} | (peer_parameters or {}),
    )
    with started(base, spec("vehicles.base.node", "base_node", team=["robot_0"], **parameters)) as peer:
        yield Driver(peer)


def test_it_goes_to_a_place_and_stops_when_commands_do_and_when_the_estop_is_pressed():
    with driving(localization="start", starts=START) as driver:
        peer = driver.peer
        assert peer.wait(driver.moves), (peer.lines, peer.diagnostics)
        driver.drives = False
        begin_s = time.monotonic()
        assert peer.wait(driver.rests) and time.monotonic() - begin_s < 2.5, "0.5 s, and until the wheels rest"
        driver.drives = True
        assert peer.wait(driver.moves)
        driver.pressed = True
        assert peer.wait(driver.rests) and driver.drives
        assert peer.wait(lambda: "STOPPED: the E-stop is pressed" in peer.says("robot_0/base"))
        driver.pressed = False
        assert peer.wait(driver.moves)


@pytest.mark.parametrize(("localization", "stamped"), [("start", True), ("start", False), ("pose", True)])
def test_it_arrives(localization: str, stamped: bool):
    """True place: without localization the wheels' own error is in it."""
    named = {"starts": START} if localization == "start" else {}
    with driving({"stamped": stamped}, localization=localization, stamped=stamped, **named) as driver:
        most_m = 0.05 if localization == "pose" else 0.1
        assert driver.peer.wait(lambda: driver.apart_m() < most_m and driver.rests()), (
            driver.apart_m(),
            driver.peer.lines,
        )
        for goal in ((0.5, 0.5), (0.5, -0.5)):
            driver.goal_m = np.array(goal)
            assert driver.peer.wait(lambda: driver.apart_m() < most_m and driver.rests()), driver.apart_m()


@pytest.mark.parametrize(
    ("fault", "why"), [("silent", "says nothing of its wheels"), ("low", "the battery is low: 9.9 V")]
)
def test_a_fault_of_the_base_stops_it(fault: str, why: str):
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    with driving(localization="start", starts=START, battery="battery_state") as driver:
        peer = driver.peer
        assert peer.wait(driver.moves)
        driver.goal_m = np.array([-3.0, 3.0])
        client = peer.node.create_client(SetParameters, "/robot_0/base_peer/set_parameters")
        assert peer.wait(client.service_is_ready)
        value = ParameterValue(type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=[fault])
        client.call_async(SetParameters.Request(parameters=[Parameter(name="faults", value=value)]))
        assert peer.wait(lambda: why in peer.says("robot_0/base")), peer.says("robot_0/base")
        assert peer.wait(driver.rests)


def test_an_operator_stops_it_and_another_who_commands_it_is_named():
    with driving(localization="start", starts=START) as driver:
        peer = driver.peer
        driver.goal_m = np.array([-3.0, 3.0])
        assert peer.wait(driver.moves)
        driver.order("stop")
        assert peer.wait(driver.rests)
        # Diagnostics come once a second.
        assert peer.wait(lambda: "an operator stopped it" in peer.says("robot_0/base"))
        assert driver.rests()
        driver.order("reset")
        assert peer.wait(driver.moves)
        other = peer.node.create_publisher(type_of_twist(), "/robot_0/cmd_vel", 1)
        assert peer.wait(lambda: "1 others publish /robot_0/cmd_vel" in peer.says("robot_0/base"))
        assert peer.wait(driver.rests)
        peer.node.destroy_publisher(other)
        assert peer.wait(driver.moves)


def test_the_base_stops_by_itself_when_its_adapter_dies():
    with driving(localization="start", starts=START) as driver:
        assert driver.peer.wait(driver.moves)
        driver.peer.processes.kill("/base_node")
        begin_s = time.monotonic()
        assert driver.peer.wait(driver.rests) and time.monotonic() - begin_s < 2.5


def type_of_twist() -> Any:
    from geometry_msgs.msg import TwistStamped

    return TwistStamped


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"starts": [0.0, 1.0]}, "starts has 2 numbers for 1 bases"),
        ({"localization": "gps"}, "localization = 'gps' must be one of start"),
        ({"vehicle": "crazyflie_21"}, "does not drive"),
    ],
)
def test_parameters_that_can_not_be_are_named(parameters: dict, why: str):
    with started(spec("vehicles.base.node", "base_node", team=["robot_0"], **parameters)) as peer:
        assert peer.wait(lambda: any(why in line for line in peer.lines)), peer.lines
