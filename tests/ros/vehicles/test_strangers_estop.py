"""An adapter hears a press of the E-stop with any quality of service."""

from typing import Any

import pytest

pytest.importorskip("rclpy")

from rclpy.node import Node

from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import claimed_domain
from robomarl.ros.operator.console import open_console
from robomarl.vehicles.adapter_node import EStop
from tests.ros.strangers import DEFAULT, LATCHED, SENSOR, stranger

BOOL = "std_msgs/msg/Bool"


@pytest.mark.ros
@pytest.mark.parametrize("qos", [DEFAULT, SENSOR, LATCHED, ("BEST_EFFORT", "TRANSIENT_LOCAL")])
def test_an_adapter_stops_and_is_free_again(qos: tuple[str, str]):
    with claimed_domain(None) as domain:
        shared = environment(True, domain)
        with open_console((), shared, sim=False) as console:
            node: Any = Node("adapter", context=console._node.context)
            node.pressed = False
            estop = EStop(node, "")
            with stranger(shared, "button", "/emergency_stop", BOOL, qos, "{'data': True}"):
                console.wait(estop.is_pressed, 20, "the press")
                with stranger(shared, "monitor", "/emergency_stop", BOOL, LATCHED, "{'data': False}"):
                    if qos is not LATCHED:
                        console.wait(lambda: estop.is_pressed() and bool(estop._listener._beating), 20, "the monitor")
                        assert estop.is_pressed(), "a monitor that knows of no press takes none back"
            with stranger(shared, "monitor", "/emergency_stop", BOOL, LATCHED, "{'data': False}"):
                console.wait(lambda: not estop.is_pressed(), 20, "the end of the press")
            node.destroy_node()
