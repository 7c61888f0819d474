"""The settings of a node as its ROS parameters."""

import dataclasses
from collections.abc import Collection
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

S = TypeVar("S")


def declare(node: Node, settings: type, changeable: Collection[str] = ()) -> None:
    """Declare the fields of a class of `robomarl.ros.settings` as parameters of the node.

    Parameters are fixed at the node's start: a change would do nothing until the node is configured
    again, and then any client on the network could have chosen bundle, limits and name of a robot.

    Args:
        node: node that gets the parameters.
        settings: the class.
        changeable: parameters that take effect while the node runs; all others are read-only.
    """
    for field in dataclasses.fields(settings):
        default: Any = list(field.default) if isinstance(field.default, tuple) else field.default
        node.declare_parameter(field.name, default, _descriptor(field, field.name not in changeable))
    node.add_on_set_parameters_callback(_keep_clock)


def read(node: Node, settings: type[S]) -> S:
    """The parameters as they are now."""
    values = {f.name: node.get_parameter(f.name).value for f in dataclasses.fields(settings)}  # type: ignore[arg-type]
    return settings(**{k: tuple(v) if not isinstance(v, (str, int, float)) else v for k, v in values.items()})


def _keep_clock(changed: list[Parameter]) -> SetParametersResult:
    """Reject changes of `use_sim_time`, which rclpy declares by itself and these nodes read at their start only."""
    if any(parameter.name == "use_sim_time" for parameter in changed):
        return SetParametersResult(successful=False, reason="use_sim_time is read when the node starts")
    return SetParametersResult(successful=True)


def _descriptor(field: dataclasses.Field, read_only: bool) -> ParameterDescriptor:
    made = ParameterDescriptor(description=field.metadata["text"], read_only=read_only)
    low, high = field.metadata["low"], field.metadata["high"]
    if low is not None and isinstance(field.default, int):
        made.integer_range = [IntegerRange(from_value=low, to_value=high)]
    elif low is not None:
        made.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return made
