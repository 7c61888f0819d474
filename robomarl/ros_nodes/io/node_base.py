"""What all nodes share: publishers and mailboxes from the topic table, and the life of a process."""

import ctypes
import gc
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import rclpy
import rclpy.utilities
from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from robomarl.config import UserError
from robomarl.ros_nodes.intake.judge import reader_of
from robomarl.ros_nodes.intake.refusals import refusals_of
from robomarl.ros_nodes.intake.sound import MessageError
from robomarl.ros_nodes.io.processes import PARENT_ENV
from robomarl.ros_nodes.io.security import check_security, is_enforced, refused
from robomarl.ros_nodes.robot.inbox import Count
from robomarl.ros_nodes.timing.priority import hurry, real_time
from robomarl.ros_nodes.timing.stamp import SECOND_NS, Stamp
from robomarl.ros_nodes.topics import Topic

RCLError, RMWError = _rclpy.RCLError, _rclpy.RMWError
_PR_SET_PDEATHSIG = 1
SPEAKS_S = 1.5
"""Who has sent nothing for so long does not speak on a topic; announcements come twice a second."""


class Polled(CallbackGroup):
    """Subscriptions that the executor leaves alone: a `Mailbox` takes their messages when it is their time.

    Waking the executor for every message costs three times as much processor as looking once a tick.
    """

    def can_execute(self, entity: Any) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: Any) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: Any) -> None:
        """Nothing to end."""


class Mailbox:
    """One subscription: messages wait until they are taken; those that were lost on the way are counted."""

    def __init__(
        self,
        node: Node,
        topic: Topic,
        name: str,
        convert: Callable[[Any], Any] | None = None,
        depth: int | None = None,
    ) -> None:
        """Subscribe.

        Args:
            node: on which.
            topic: type and quality of service.
            name: absolute name of the topic.
            convert: from the message (from its bytes, if it is one of `wire`'s readers) to what `take` yields;
                without it the message stays serialized.
            depth: messages that may wait; by default the topic's.
        """
        self.name, self.topic = name, topic
        self._read, self._node = reader_of(topic, convert), node
        self._last: dict[Any, tuple[int | None, float]] = {}
        """By sender: the number of its newest message, and when that was taken, by the steady clock."""
        self._received = self._lost = self._refused = 0
        self.refusal = ""
        """Why the last message was refused that was; "" where none was."""
        self._names: dict[Any, str] = {}
        qos, kind = qos_of(topic), message_class(topic.type)
        qos.depth = self._most = depth or qos.depth
        raw = convert is None or getattr(convert, "takes_bytes", False)
        self.subscription = node.create_subscription(kind, name, _no_callback, qos, callback_group=Polled(), raw=raw)

    @property
    def count(self) -> Count:
        """Messages so far."""
        return Count(self._received, self._lost, self._refused)

    def senders(self) -> list[str]:
        """Full names of the nodes that send: heard of late, and in the graph, where who has died stays a while."""
        since_s = time.monotonic() - SPEAKS_S
        self._last = {sender: last for sender, last in self._last.items() if last[1] > since_s}
        names = self._publishers() if len(self._last) > 1 else {}
        return sorted(names[sender] for sender in self._last if sender in names)

    def take(self) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        """What has come since the last call, oldest first, with the middleware's message info.

        Anybody on the network may send anything: what can't be read is counted, told and left out. No more are taken
        than may wait, so that a sender who is faster than the reader does not hold it.
        """
        for _ in range(self._most):
            try:
                taken = self._taken()
            except Exception as error:  # the middleware has read it, and can't make a message of it
                self.refuse(_text_of(error))
                continue
            if taken is None:
                return
            message, info = taken
            self._tally(info)
            try:
                found = self._read(message)
            except Exception as error:
                self.refuse(_text_of(error), info)
                continue
            yield found, info

    def refuse(self, why: str, info: Mapping[str, Any] | None = None) -> None:
        """A message is none, as its reader found: count it for its sender, and say so now and then."""
        if not self._node.context.ok():
            return  # we were told to stop, and nothing can be taken any more
        self._refused += 1
        self.refusal = why
        refusals_of(self._node).add(self.name, self._name_of(info), why, self._node.get_logger().error)

    def latest(self) -> Any:
        """The newest of what has come since the last call, or None."""
        return next((message for message, _ in reversed(list(self.take()))), None)

    def destroy(self) -> None:
        """Unsubscribe."""
        self._node.destroy_subscription(self.subscription)

    def _taken(self) -> Any:
        """The next message and its info; None where there is none."""
        handle = self.subscription.handle
        with handle:
            return handle.take_message(self.subscription.msg_type, self.subscription.raw)

    def _tally(self, info: Mapping[str, Any]) -> None:
        number, sender = info.get("publication_sequence_number"), sender_of(info)
        self._received += 1
        before, _ = self._last.get(sender, (None, 0.0))
        if number is not None and before is not None and number > before:
            self._lost += number - before - 1
        self._last[sender] = number, time.monotonic()

    def _name_of(self, info: Mapping[str, Any] | None) -> str:
        """Full name of the node that sent a message; "" where nobody knows."""
        if info is None:
            return ""
        sender = sender_of(info)
        if sender not in self._names:  # asked once for each: the graph is slow
            self._names = {sender: "", **self._publishers()}
        return self._names[sender]

    def _publishers(self) -> dict[Any, str]:
        """Full name of the node of every publisher in the graph."""
        infos = self._node.get_publishers_info_by_topic(self.name)
        return {bytes(i.endpoint_gid): f"{i.node_namespace.rstrip('/')}/{i.node_name}" for i in infos}


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, MessageError) else f"{type(error).__name__}: {error}"


def sender_of(info: Mapping[str, Any]) -> Any:
    """The publisher of a message, out of the middleware's message info: something to compare and hash."""
    gid = info.get("publisher_gid")
    return gid["data"] if isinstance(gid, dict) else str(gid)


def publisher(node: Node, topic: Topic, name: str) -> Publisher:
    """A publisher of the topic table."""
    return node.create_publisher(message_class(topic.type), name, qos_of(topic))


def qos_of(topic: Topic) -> QoSProfile:
    """The topic's quality of service."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=topic.depth,
        reliability=ReliabilityPolicy.RELIABLE if topic.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if topic.latched else DurabilityPolicy.VOLATILE,
    )


def message_class(type_name: str) -> Any:
    """The class of "package/msg/Name"."""
    package, kind, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


def now_s(node: Node) -> float:
    """The node's clock [s]: what message stamps are made of."""
    return Stamp.of(*divmod(node.get_clock().now().nanoseconds, SECOND_NS))


def spin(node: Node) -> None:
    """Let rclpy's executor serve a node until the context is shut down."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while node.context.ok():
        serve(executor, node)


def serve(executor: SingleThreadedExecutor, node: Node, timeout_s: float | None = None) -> None:
    """Let rclpy's executor do one thing; what fails in it is logged and left out, and the node goes on."""
    try:
        executor.spin_once(timeout_sec=timeout_s)
    except (KeyboardInterrupt, ExternalShutdownException):
        raise
    except Exception as error:
        if node.context.ok():  # otherwise we were told to stop, and something was on its way
            node.get_logger().error(f"left out: {type(error).__name__}: {error}")


def run_node(
    make: Callable[[], Any], args: list[str] | None = None, urgent: bool = False, run: Callable[[Any], None] = spin
) -> int:
    """Spin a node until it is told to stop; returns the exit status.

    Args:
        make: makes the node.
        args: command line; by default the process's own.
        urgent: go before other programs of this machine, where the system allows that.
        run: serves the node until it is told to stop.
    """
    node = None
    try:
        check_security(rclpy.utilities.get_rmw_implementation_identifier())
        secured(lambda: rclpy.init(args=args))
        die_with_parent()
        if urgent:
            hurry()
        node = secured(make)
        if urgent and run is spin:  # who has a loop of its own is in real time as long as it ticks
            real_time()
        run(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    except ParameterException as error:
        print(f"{getattr(make, '__name__', 'node')}: {error}; mend the parameter.", file=sys.stderr)
        return 1
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 1 if getattr(node, "failed", False) else 0


def secured(make: Callable[[], Any]) -> Any:
    """What `make` makes: a context, a node.

    Raises:
        UserError: security is enforced, and the middleware has none.
    """
    try:
        return make()
    except RCLError as error:
        if is_enforced():
            raise refused(error) from None
        raise


def tidy_memory() -> None:
    """After loading: what is there stays, and what was needed only to load goes back to the system (glibc)."""
    gc.collect()
    gc.freeze()  # the collector need not look at it within a tick
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def die_with_parent() -> None:
    """Ask the kernel for SIGTERM when the runner that started us is gone (Linux; nothing elsewhere)."""
    parent = os.environ.get(PARENT_ENV)
    if not parent or not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent) and not Path("/proc", parent).exists():  # it was gone before we asked
        os.kill(os.getpid(), signal.SIGTERM)


def _no_callback(message: Any) -> None:
    """Never called: see `Polled`."""
