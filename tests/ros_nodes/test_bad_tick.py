"""A policy node whose loop has ended says so, and an operator's reset lets it tick again. One node, in this process."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from robomarl.ros_nodes import status_messages, topics
from robomarl.ros_nodes.policy_node import PolicyNode
from robomarl.ros_nodes.processes import claimed_domain
from robomarl.ros_nodes.rosnode import Mailbox, RCLError
from robomarl.ros_nodes.state_machine import Order, State

pytestmark = pytest.mark.ros
PATIENCE_S = 20.0


class Alone:
    """One configured policy node that runs in a thread, and an operator who listens to it."""

    def __init__(self, node: PolicyNode, operator: Node) -> None:
        self.node, self.operator = node, operator
        said, health = topics.ANNOUNCE, topics.DIAGNOSTICS
        self._said = Mailbox(operator, said, "/left/announce", status_messages.announcement_to)
        self._health = Mailbox(operator, health, "/diagnostics", lambda message: message.status[0])
        self._orders = {order: operator.create_client(Trigger, f"/{order}") for order in Order}
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(operator)
        self.states: list[State] = []
        self.texts: list[tuple[bytes, str]] = []

    def wait(self, condition: Any) -> None:
        for _ in range(round(PATIENCE_S / 0.02)):
            self._executor.spin_once(timeout_sec=0.02)
            self.states += [said.state for said, _ in self._said.take()]
            self.texts += [(status.level, status.message) for status, _ in self._health.take()]
            if condition():
                return
        raise AssertionError((self.states, self.texts))

    def order(self, order: Order) -> Any:
        self.wait(self._orders[order].service_is_ready)
        answer = self._orders[order].call_async(Trigger.Request())
        self.wait(answer.done)
        return answer.result()


def run(node: PolicyNode) -> None:
    with suppress(ExternalShutdownException, RCLError):
        node.loop.run()


@pytest.fixture
def alone(goto_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Alone]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")
    with claimed_domain(None) as domain:
        rclpy.init(domain_id=domain)
        node, operator = PolicyNode(), Node("operator")
        given = {"bundle": str(goto_bundle), "team": ["left", "right"], "robot_root": str(tmp_path)}
        node.set_parameters([Parameter(name, value=value) for name, value in given.items()])
        assert node.trigger_configure().name == "SUCCESS"
        thread = threading.Thread(target=run, args=[node])
        thread.start()
        yield Alone(node, operator)
        rclpy.shutdown()
        thread.join()
        operator.destroy_node()
        node.destroy_node()


def test_a_loop_that_ended_says_so_and_is_revived(alone: Alone, monkeypatch: pytest.MonkeyPatch):
    alone.wait(lambda: State.STANDBY in alone.states)

    def broken(*_: Any) -> float:
        raise RuntimeError("nobody expected this")

    with monkeypatch.context() as patch:
        patch.setattr(alone.node._reporter, "send", broken)
        alone.wait(lambda: State.STOP in alone.states)
        alone.texts.clear()
        alone.wait(lambda: len(alone.texts) > 1)  # it goes on to say so
        assert all(level == b"\x02" and "nobody expected this" in text for level, text in alone.texts)
    alone.states.clear()
    assert alone.order(Order.RESET).success
    alone.texts.clear()
    alone.wait(lambda: State.STANDBY in alone.states and any(text.startswith("STANDBY") for _, text in alone.texts))


def test_an_e_stop_that_the_disk_does_not_keep_stops_all_the_same(alone: Alone, tmp_path: Path):
    """The disk fails after the start."""
    alone.wait(lambda: State.STANDBY in alone.states)
    (tmp_path / "estop").unlink()
    (tmp_path / "estop").symlink_to("/dev/full")
    assert alone.order(Order.ESTOP).success
    alone.wait(lambda: State.ESTOP in alone.states)
    alone.texts.clear()
    alone.wait(lambda: any("E-stop can't be kept" in text for _, text in alone.texts))
    assert alone.order(Order.RESET).success
    alone.wait(lambda: alone.states[-1] is State.STANDBY)
    assert "E-stop can't be kept" in alone.order(Order.ARM).message
