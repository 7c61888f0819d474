"""Publishers of other people: processes of their own, with a quality of service and a message type of their own."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from robomarl.ros.io.processes import child_environment

PUBLISHER = """
import importlib, sys, time
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
name, topic, kind, reliability, durability, value = sys.argv[1:]
package, _, message = kind.split("/")
Message = getattr(importlib.import_module(f"{package}.msg"), message)
rclpy.init()
node = rclpy.create_node(name)
qos = QoSProfile(depth=10, reliability=ReliabilityPolicy[reliability], durability=DurabilityPolicy[durability])
out = node.create_publisher(Message, topic, qos)
print("up", flush=True)
while rclpy.ok():
    out.publish(Message(**eval(value)))
    time.sleep(0.05)
"""
DEFAULT = ("RELIABLE", "VOLATILE")
"""What `create_publisher(kind, topic, 10)` makes."""
SENSOR = ("BEST_EFFORT", "VOLATILE")
"""What `qos_profile_sensor_data` makes."""
LATCHED = ("RELIABLE", "TRANSIENT_LOCAL")


@contextmanager
def stranger(
    environment: Mapping[str, str], name: str, topic: str, kind: str, qos: tuple[str, str], value: str = "{}"
) -> Iterator[None]:
    """A process that publishes a message 20 times a second until the end of the block.

    Args:
        environment: that the nodes of the team share.
        name: of its node.
        topic: absolute name.
        kind: message type.
        qos: reliability and durability.
        value: fields of the message, as Python.
    """
    words = [sys.executable, "-c", PUBLISHER, name, topic, kind, *qos, value]
    with subprocess.Popen(
        words, env=child_environment(dict(environment)), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stdout.readline().strip() == "up"
        try:
            yield
        finally:
            process.kill()
