"""Stand-in for the command `ros2`, which the wheels of ROS 2 do not include: `service call` and `topic pub --once`.

python ros2_stand_in.py service call NAME TYPE
python ros2_stand_in.py topic pub --once NAME TYPE YAML
"""

import importlib
import sys
import time

import rclpy
import yaml
from rclpy.node import Node

LIMIT_S = 60.0


def kind(name: str) -> type:
    """The class of a message or service, from `PACKAGE/msg/NAME`."""
    package, folder, cls = name.split("/")
    return getattr(importlib.import_module(f"{package}.{folder}"), cls)


def fill(message: object, values: dict) -> None:
    """Write values into a message, field by field."""
    for name, value in values.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        else:
            setattr(message, name, value)


def call(node: Node, name: str, of: str) -> int:
    """Call a service and print its answer; returns the exit status."""
    service = kind(of)
    client = node.create_client(service, name)
    assert client.wait_for_service(LIMIT_S), f"nobody serves {name}"
    answer = client.call_async(service.Request())
    rclpy.spin_until_future_complete(node, answer, timeout_sec=LIMIT_S)
    print(f"{name}: {answer.result()}", flush=True)
    result = answer.result()
    return 0 if result is not None and result.success else 1


def publish(node: Node, name: str, of: str, text: str) -> int:
    """Publish one message once somebody listens; returns the exit status."""
    message = kind(of)()
    fill(message, yaml.safe_load(text))
    message.header.stamp = node.get_clock().now().to_msg()
    out, ends_s = node.create_publisher(kind(of), name, 1), time.monotonic() + LIMIT_S
    while not out.get_subscription_count():
        assert time.monotonic() < ends_s, f"nobody listens to {name}"
        rclpy.spin_once(node, timeout_sec=0.05)
    out.publish(message)
    out.wait_for_all_acked()
    return 0


def main(words: list[str]) -> int:
    rclpy.init()
    node = Node("stand_in", start_parameter_services=False)
    try:
        match words:
            case ["service", "call", name, of]:
                return call(node, name, of)
            case ["topic", "pub", "--once", name, of, text]:
                return publish(node, name, of, text)
        raise SystemExit(f"the stand-in knows no {' '.join(words)}")
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
