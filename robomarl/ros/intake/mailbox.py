"""`Mailbox`: one subscription of the topic table, which is looked into when it is time."""

import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar, cast

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node

from robomarl.ros.intake.judge import reader_of
from robomarl.ros.intake.quality import message_class, qos_of
from robomarl.ros.intake.refusals import refusals_of
from robomarl.ros.intake.sound import MessageError
from robomarl.ros.intake.unheard import UNKNOWN, node_named, unheard_of
from robomarl.ros.io.messages import Message, MessageInfo
from robomarl.ros.robot.inbox import Count
from robomarl.ros.topics import Topic

SPEAKS_S = 1.5
"""Time [s] without a message after which a sender no longer counts as active on a topic; announcements come twice a
second.
"""
T = TypeVar("T")
Sender = bytes | str
"""A publisher: something to compare and hash."""
NO_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
"""Event callbacks of a subscription: none. The middleware's events do not name the publisher, and do not report
another message type, so `Unheard` asks the graph instead. An executor would not run rclpy's own callbacks, which
are in the group of the subscription.
"""


class Polled(CallbackGroup):
    """Subscriptions that the executor leaves alone: a `Mailbox` takes their messages when it is their time.

    Waking the executor for every message costs three times as much processor as looking once a tick.
    """

    def can_execute(self, entity: object) -> bool:
        """Never."""
        return False

    def beginning_execution(self, entity: object) -> bool:
        """Never."""
        return False

    def ending_execution(self, entity: object) -> None:
        """Nothing to end."""


class Mailbox(Generic[T]):
    """One subscription: messages wait until they are taken; those that were lost on the way are counted."""

    def __init__(
        self,
        node: Node,
        topic: Topic,
        name: str,
        convert: Callable[[Message], T] | None = None,
        depth: int | None = None,
    ) -> None:
        """Subscribe.

        Args:
            node: node that subscribes.
            topic: type and quality of service.
            name: absolute name of the topic.
            convert: from the message (from its bytes, if it is one of the readers of `fast_messages`) to
                the value that `take` yields; without it the message stays serialized.
            depth: messages that may wait; by default the topic's.
        """
        self.name, self.topic = name, topic
        self._read, self._node = reader_of(topic, convert), node
        self._last: dict[Sender, tuple[int | None, float]] = {}
        """(number of the newest message, time at which it was taken on the steady clock [s]) by sender."""
        self._received = self._lost = self._refused = 0
        self.refusal = ""
        """Why the last message was refused that was; "" where none was."""
        self._names: dict[Sender, str] = {}
        qos, kind = qos_of(topic), message_class(topic.type)
        qos.depth = self._most = depth or qos.depth
        raw = convert is None or getattr(convert, "takes_bytes", False)
        self.subscription = node.create_subscription(
            kind, name, _no_callback, qos, callback_group=Polled(), event_callbacks=NO_EVENTS, raw=raw
        )
        self._kind = (kind, raw)
        unheard_of(node).add(name, topic)

    @property
    def count(self) -> Count:
        """Messages so far."""
        return Count(self._received, self._lost, self._refused)

    def senders(self) -> list[str]:
        """Return the full names of the nodes that send: received lately and still in the graph, which keeps dead
        nodes a while.
        """
        since_s = time.monotonic() - SPEAKS_S
        self._last = {sender: last for sender, last in self._last.items() if last[1] > since_s}
        names = self._publishers() if len(self._last) > 1 else {}
        return sorted(names[sender] for sender in self._last if sender in names)

    def take(self) -> Iterator[tuple[T, MessageInfo]]:
        """Yield the messages that have arrived since the last call, oldest first, with the middleware's
        message info.

        Any node on the network may send anything: a message that can't be read is counted, logged and left
        out. A call takes at most as many messages as may wait, so a sender that is faster than the reader
        does not block it.
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

    def refuse(self, why: str, info: MessageInfo | None = None) -> None:
        """A message is none, as its reader found: count it for its sender, and say so now and then."""
        if not self._node.context.ok():
            return  # we were told to stop, and nothing can be taken any more
        self._refused += 1
        self.refusal = why
        refusals_of(self._node).add(self.name, self.sender_name(info), why, self._node.get_logger().error)

    def latest(self) -> T | None:
        """Return the newest message that has arrived since the last call, or None."""
        return next((message for message, _ in reversed(list(self.take()))), None)

    def destroy(self) -> None:
        """Unsubscribe."""
        unheard_of(self._node).remove(self.name, self.topic)
        self._node.destroy_subscription(self.subscription)

    def _taken(self) -> tuple[Message, MessageInfo] | None:
        """The next message and its info; None where there is none."""
        handle = self.subscription.handle
        with handle:
            return cast("tuple[Message, MessageInfo] | None", handle.take_message(*self._kind))

    def _tally(self, info: MessageInfo) -> None:
        number, sender = info.get("publication_sequence_number"), sender_of(info)
        self._received += 1
        before, _ = self._last.get(sender, (None, 0.0))
        if number is not None and before is not None and number > before:
            self._lost += number - before - 1
        self._last[sender] = number, time.monotonic()

    def sender_name(self, info: MessageInfo | None) -> str:
        """Return the full name of the node that sent a message; "" if it is not known."""
        if info is None:
            return ""
        sender = sender_of(info)
        if not self._names.get(sender):  # asked once for each that has a name: the graph is slow
            self._names = {sender: "", **self._publishers()}
        return self._names[sender]

    def _publishers(self) -> dict[Sender, str]:
        """Full name of the node of every publisher in the graph."""
        infos = self._node.get_publishers_info_by_topic(self.name)
        return {bytes(i.endpoint_gid): node_named(i) for i in infos if i.node_name != UNKNOWN}


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, MessageError) else f"{type(error).__name__}: {error}"


def sender_of(info: MessageInfo) -> Sender:
    """The publisher of a message, out of the middleware's message info: something to compare and hash."""
    gid = info.get("publisher_gid")
    return gid["data"] if isinstance(gid, dict) else str(gid)


def _no_callback(message: Message) -> None:
    """Never called: see `Polled`."""
