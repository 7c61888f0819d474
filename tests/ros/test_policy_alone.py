"""One policy node in this process: its loop ends and is revived, its disk fails, a stranger changes its parameters."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

import rclpy
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from robomarl.ros import status_messages, topics
from robomarl.ros.io.node_base import Mailbox, RCLError
from robomarl.ros.io.processes import claimed_domain
from robomarl.ros.policy_node import PolicyNode
from robomarl.ros.robot.state_machine import Order, State
from tests.core.bundle.sealing import copy, reseal

pytestmark = [pytest.mark.ros, pytest.mark.alone]
PATIENCE_S, TRIES = 20.0, 4


class Alone:
    """One configured policy node that runs in a thread, and an operator who listens to it.

    The operator is a DDS participant of its own, as on a robot: within one, whose nodes are made in two threads,
    clients were seen that never found their service.
    """

    def __init__(self, node: PolicyNode, operator: Node) -> None:
        self.node, self.operator = node, operator
        said, health = topics.ANNOUNCE, topics.DIAGNOSTICS
        self._said = Mailbox(operator, said, "/left/announce", status_messages.announcement_to)
        self._health = Mailbox(operator, health, "/diagnostics", lambda message: message.status[0])
        self._orders = {order: operator.create_client(Trigger, f"/{order}") for order in Order}
        self._executor = SingleThreadedExecutor(context=operator.context)
        self._executor.add_node(operator)
        self.states: list[State] = []
        self.texts: list[tuple[bytes, str]] = []

    def wait(self, condition: Any, patience_s: float = PATIENCE_S) -> None:
        for _ in range(round(patience_s / 0.02)):
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

    def ask(self, client: Client, request: Any) -> Any:
        """The answer; a node that does not know a new client yet loses its answer, and is asked again."""
        self.wait(client.service_is_ready)
        for _ in range(TRIES):
            answer = client.call_async(request)
            with suppress(AssertionError):
                self.wait(answer.done, PATIENCE_S / TRIES)
                return answer.result()
        raise AssertionError(f"{client.srv_name} did not answer {TRIES} times in {PATIENCE_S:g} s")

    def clean_up(self) -> None:
        """Clean up in the node's own thread, between two ticks.

        Not by a request: of two participants in one process, the second one's later clients are sometimes never heard.
        """
        loop, done = self.node.loop, threading.Event()
        before = loop._between

        def once() -> None:
            loop._between = before
            self.node.trigger_cleanup()
            done.set()

        loop._between = once
        assert done.wait(PATIENCE_S)


def run(node: PolicyNode) -> None:
    with suppress(ExternalShutdownException, RCLError):
        node.loop.run()


@pytest.fixture
def alone(goto_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Alone]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")
    given = {"bundle": str(goto_bundle), "team": "[left, right]", "robot_root": str(tmp_path)}
    words = [word for name, value in given.items() for word in ("-p", f"policy_node:{name}:={value}")]
    for _ in range(TRIES):
        with claimed_domain(None) as domain, together(words, domain) as made:
            # A process that has had some thirty participants may find no more of them.
            with suppress(AssertionError):
                made.wait(lambda made=made: made.states, PATIENCE_S / TRIES)
            if made.states:
                yield made
                return
    raise AssertionError(f"node and operator did not hear of each other {TRIES} times")


@contextmanager
def together(words: list[str], domain: int) -> Iterator[Alone]:
    """The node in a thread, and its operator."""
    rclpy.init(args=["--ros-args", *words], domain_id=domain)
    apart = rclpy.Context()
    rclpy.init(context=apart, domain_id=domain)
    node, operator = PolicyNode(), Node("operator", context=apart)
    assert node.trigger_configure().name == "SUCCESS"
    thread = threading.Thread(target=run, args=[node])
    thread.start()
    try:
        yield Alone(node, operator)
    finally:
        rclpy.shutdown()
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "the loop ends with its context"
        operator.destroy_node()
        rclpy.shutdown(context=apart)
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("bundle", "swap_4"), ("index", 1), ("arena_high_m", [0.1]), ("heartbeat_after_s", 10.0), ("use_sim_time", True)],
)
def test_no_parameter_is_changed_by_a_stranger(alone: Alone, name: str, value: Any):
    """Neither while it is configured nor before it is configured anew."""
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    client = alone.operator.create_client(SetParameters, "/policy_node/set_parameters")
    for _ in range(2):
        before = alone.node.get_parameter(name).value
        answer = alone.ask(client, request)
        assert not answer.results[0].successful
        assert alone.node.get_parameter(name).value == before
        if alone.node.loop._metronome is not None:
            alone.clean_up()


def test_what_no_check_foresees_is_one_line_and_the_node_stays(
    goto_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Golden observations of another shape, say."""
    folder = copy(goto_bundle, tmp_path)
    arrays = dict(np.load(folder / "golden.npz"))
    np.savez_compressed(folder / "golden.npz", **{**arrays, "obs": arrays["obs"][0, 0, 0]})
    reseal(folder)
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with claimed_domain(None) as domain:
        words = [
            w for n, v in {"bundle": folder, "team": "[left, right]"}.items() for w in ("-p", f"policy_node:{n}:={v}")
        ]
        rclpy.init(args=["--ros-args", *words], domain_id=domain)
        node = PolicyNode()
        try:
            for _ in range(2):
                assert node.trigger_configure().name == "FAILURE"
                assert node._trial.problem.count("\n") == 0 and node._trial.problem
        finally:
            node.destroy_node()
            rclpy.shutdown()
