"""`EstopListener`: the team's E-stop as one node receives it: the monitor's heartbeat, and a press by
any publisher.

The heartbeat is reliable and latched, and so is its subscription. That subscription does not
receive a publisher with another quality of service (the default of ROS, that of sensors). A second
subscription asks for nothing, so it receives every publisher: a press by any publisher stops the
robots. Its silence and its release permit nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from rclpy.node import Node

from robomarl.ros.intake.mailbox import Mailbox, Sender, sender_of
from robomarl.ros.io.messages import MessageInfo
from robomarl.ros.topics import ESTOP

ANY_ESTOP = replace(ESTOP, reliable=False, latched=False, depth=10)
"""The topic, for a subscription that meets every publisher."""


class EstopWord(NamedTuple):
    """One message about the E-stop."""

    pressed: bool
    is_heartbeat: bool
    """True: it came reliable and latched, as a monitor's does. False: it counts as a press, or as the end of one."""
    sender: Sender
    """Publisher; something to compare and hash."""
    info: MessageInfo
    """Message info of the middleware."""


class EstopListener:
    """Both subscriptions of one node."""

    def __init__(self, node: Node, base: str) -> None:
        """Subscribe in the namespace of the team."""
        name = ESTOP.of("", base)
        self._node = node
        self._beats = Mailbox(node, ESTOP, name, lambda message: message.data)
        self._any = Mailbox(node, ANY_ESTOP, name, lambda message: message.data)
        self._beating: set[Sender] = set()
        self._pressing: set[Sender] = set()

    def take(self) -> Iterator[EstopWord]:
        """Yield the messages that have arrived since the last call, each one once."""
        for pressed, info in self._beats.take():
            self._beating.add(sender_of(info))
            yield EstopWord(pressed, True, sender_of(info), info)
        for pressed, info in self._any.take():
            if (sender := sender_of(info)) in self._beating:
                continue
            self._log(pressed, sender, info)
            yield EstopWord(pressed, False, sender, info)

    def close(self) -> None:
        """Unsubscribe."""
        self._beats.destroy()
        self._any.destroy()

    def _log(self, pressed: bool, sender: Sender, info: MessageInfo) -> None:
        """Log the name of the publisher that presses, once for each press."""
        if not pressed:
            self._pressing.discard(sender)
        elif sender not in self._pressing:
            self._pressing.add(sender)
            who = self._any.sender_name(info) or "a node whose name is not known yet"
            self._node.get_logger().error(f"E-STOP PRESSED by {who}, which is no monitor.")
