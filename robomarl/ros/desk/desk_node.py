"""`desk_node`: the node of an operator's desk, with a ROS context of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robomarl.ros.enclaves.rights import DESK
from robomarl.ros.environment_check.check import check_environment
from robomarl.ros.io.node_base import secured
from robomarl.ros.io.security import is_enforced


@contextmanager
def desk_node(base: str = "") -> Iterator[Node]:
    """Yield the node; several of them may run at once.

    Args:
        base: namespace of the team.

    Raises:
        UserError: ROS refuses to start, in its own words.
    """
    check_environment()
    context = Context()
    enclave = ["--ros-args", "--enclave", f"{base}/{DESK}"] if is_enforced(os.environ) else None
    secured(lambda: rclpy.init(args=enclave, context=context, signal_handler_options=SignalHandlerOptions.NO))
    # Two operators may have a desk each: a name of its own keeps `fleet check` from finding one name twice.
    name = f"{DESK}_{os.getpid()}"
    node = secured(lambda: Node(name, context=context, namespace=base or None, start_parameter_services=False))
    try:
        yield node
    finally:
        node.destroy_node()
        context.try_shutdown()
