"""The settings of a node as its ROS parameters."""

import dataclasses
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

S = TypeVar("S")


def declare(node: Node, settings: type) -> None:
    """Declare the fields of a class of `robomarl.ros_nodes.settings` as parameters of the node."""
    for field in dataclasses.fields(settings):
        default: Any = list(field.default) if isinstance(field.default, tuple) else field.default
        node.declare_parameter(field.name, default, _descriptor(field))


def read(node: Node, settings: type[S]) -> S:
    """The parameters as they are now."""
    values = {f.name: node.get_parameter(f.name).value for f in dataclasses.fields(settings)}  # type: ignore[arg-type]
    return settings(**{k: tuple(v) if not isinstance(v, (str, int, float)) else v for k, v in values.items()})


def _descriptor(field: dataclasses.Field) -> ParameterDescriptor:
    made = ParameterDescriptor(description=field.metadata["text"])
    low, high = field.metadata["low"], field.metadata["high"]
    if low is not None and isinstance(field.default, int):
        made.integer_range = [IntegerRange(from_value=low, to_value=high)]
    elif low is not None:
        made.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return made
