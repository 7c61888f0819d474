"""Nodes of adapters as processes, and a peer in this process that talks to them over DDS."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import message_class, publisher, qos_of
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.topics import DIAGNOSTICS, Topic

PATIENCE_S = 40.0
"""A busy machine starts slowly."""
BEAT_S = 0.01


class Peer:
    """What stands on the other side of a node's topics."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor, processes: Processes, lines: list[str]) -> None:
        """Nothing is subscribed to yet."""
        self.node, self._executor, self.processes, self.lines = node, executor, processes, lines
        self.diagnostics: dict[str, Any] = {}
        self.beat: Callable[[], None] = lambda: None
        """Done a hundred times a second while `wait` waits."""
        self.hear(DIAGNOSTICS, DIAGNOSTICS.name, self._note)

    def hear(self, topic: Topic, name: str, heard: Callable[[Any], Any]) -> None:
        """Subscribe."""
        self.node.create_subscription(message_class(topic.type), name, heard, qos_of(topic))

    def sender(self, topic: Topic, name: str) -> Any:
        """A publisher."""
        return publisher(self.node, topic, name)

    def stamp(self) -> Any:
        """Now, for a header."""
        return self.node.get_clock().now().to_msg()

    def wait(self, until: Callable[[], Any], patience_s: float = PATIENCE_S) -> bool:
        """Whether it came true."""
        give_up_s = time.monotonic() + patience_s
        next_s = time.monotonic()
        while not (found := bool(until())) and time.monotonic() < give_up_s:
            self.beat()
            next_s = max(next_s + BEAT_S, time.monotonic() - BEAT_S)
            while (left_s := next_s - time.monotonic()) > 0:
                self._executor.spin_once(timeout_sec=left_s)
        return found

    def run(self, seconds: float) -> None:
        """Let time pass."""
        self.wait(lambda: False, seconds)

    def says(self, name: str) -> str:
        """The message of a diagnostics entry; "" where there is none."""
        return self.diagnostics[name].message if name in self.diagnostics else ""

    def value(self, name: str, key: str) -> str:
        """A value of a diagnostics entry."""
        return {v.key: v.value for v in self.diagnostics[name].values}[key]

    def _note(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.diagnostics[status.name] = status


@contextmanager
def started(*specs: NodeSpec) -> Iterator[Peer]:
    """Processes of the nodes, in a ROS domain of their own, and their peer."""
    lines: list[str] = []
    with ExitStack() as stack:
        given = os.environ.get("ROS_DOMAIN_ID")
        domain = stack.enter_context(claimed_domain(int(given) if given else None))
        plan = environment(True, domain)
        stack.enter_context(patch.dict(os.environ, plan))
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        stack.callback(rclpy.try_shutdown, context=context)
        node = rclpy.create_node("peer", context=context)
        stack.callback(node.destroy_node)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        processes = stack.enter_context(Processes(lambda name, line: lines.append(f"{name}: {line}")))
        processes.start(specs, child_environment(plan))
        yield Peer(node, executor, processes, lines)


def spec(module: str, name: str, **parameters: Any) -> NodeSpec:
    """A node with its parameters."""
    return NodeSpec(name, f"robomarl.{module}", name, "", parameters)
