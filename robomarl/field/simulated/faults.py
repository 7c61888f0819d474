"""The parameter `faults` of simulators behind a vehicle's own protocol: ROBOT=FAULT of each that goes wrong."""

from collections.abc import Callable, Collection, Sequence

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter


def offer_faults(
    node: Node, names: Sequence[str], allowed: Collection[str], fail: Callable[[list[set[str]]], None]
) -> None:
    """Declare `faults`, and act on every change.

    Args:
        node: has the parameter.
        names: of the robots.
        allowed: faults that there are.
        fail: is called with the faults of each robot, in the order of `names`.
    """

    def changed(parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name != "faults":
                continue
            pairs = [text.partition("=")[::2] for text in parameter.value if text]
            if wrong := [f"{name}={fault}" for name, fault in pairs if name not in names or fault not in allowed]:
                reason = f"{wrong[0]} is not ROBOT=FAULT with one of {', '.join(allowed)}"
                return SetParametersResult(successful=False, reason=reason)
            fail([{fault for robot, fault in pairs if robot == name} for name in names])
        return SetParametersResult(successful=True)

    node.declare_parameter("faults", [""])
    node.add_on_set_parameters_callback(changed)
