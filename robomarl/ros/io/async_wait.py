"""`wait_until`: for services that have to wait for something, without keeping their node from its other work."""

from collections.abc import Callable

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from robomarl.ros.timing.steady import AWAY_S, steady_now_s

LOOK_S = 0.02
"""From one look at the condition to the next."""


async def wait_until(node: Node, condition: Callable[[], bool], limit_s: float, group: CallbackGroup) -> bool:
    """Wait until something is so.

    Args:
        node: whose executor looks, every `LOOK_S`.
        condition: what is looked at; the first time at once.
        limit_s: no longer than this.
        group: of the waiting service; a reentrant one, or nobody looks.

    Returns:
        Whether it became so in time.
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
