"""`wait_until`: for services that have to wait for something, without keeping their node from its other work."""

from collections.abc import Callable

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from robomarl.ros.timing.steady import AWAY_S, steady_now_s

LOOK_S = 0.02
"""Interval between two checks of the condition [s]."""


async def wait_until(node: Node, condition: Callable[[], bool], limit_s: float, group: CallbackGroup) -> bool:
    """Wait until a condition is true.

    Args:
        node: node with the executor that checks every `LOOK_S`.
        condition: function to check; the first time at once.
        limit_s: maximum waiting time [s].
        group: callback group of the waiting service; it must be reentrant, or nothing is checked.

    Returns:
        True if the condition became true in time.
    """
    if condition():
        return True
    future, end_s = Future(), steady_now_s() + limit_s

    def look() -> None:
        if future.done():
            return
        if steady_now_s() > end_s + AWAY_S:  # this process stood still: what has come meanwhile is too late
            future.set_result(False)
        elif (is_so := condition()) or steady_now_s() > end_s:
            future.set_result(is_so)

    timer = node.create_timer(LOOK_S, look, callback_group=group)
    try:
        return bool(await future)
    finally:
        node.destroy_timer(timer)
