"""`python -m robomarl.ros.preflight.loopback`: print the time of a message between two contexts of ROS.

A process of its own, because a middleware that is set up wrongly may end the process or hang in it.
"""

import argparse
import os
import sys
import time

TOPIC = "robomarl_doctor_{}"
"""Topic name with the process id, so that no other process listens."""


def loopback_s(limit_s: float) -> float | None:
    """Return the time from the first node to the first message [s]; None if none arrived within the limit.

    Args:
        limit_s: longest time to wait [s].
    """
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import String

    began, arrived = time.monotonic(), []
    topic = TOPIC.format(os.getpid())
    contexts = [rclpy.Context(), rclpy.Context()]
    for context in contexts:
        rclpy.init(context=context)
    sender, receiver = (rclpy.create_node(f"{topic}_{i}", context=context) for i, context in enumerate(contexts))
    publisher = sender.create_publisher(String, topic, 1)
    receiver.create_subscription(String, topic, arrived.append, 1)
    executor = SingleThreadedExecutor(context=contexts[1])
    executor.add_node(receiver)
    while not arrived and time.monotonic() - began < limit_s:
        publisher.publish(String(data="loopback"))
        executor.spin_once(timeout_sec=0.05)
    return time.monotonic() - began if arrived else None


def main() -> int:
    """Print the time [s]; the exit status is 1 if no message arrived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit-s", type=float, default=10.0)
    took_s = loopback_s(parser.parse_args().limit_s)
    if took_s is not None:
        print(f"{took_s:.2f}", flush=True)
    # Without tearing ROS down: that takes up to seconds, and the process ends anyway.
    sys.stdout.flush()
    os._exit(0 if took_s is not None else 1)


if __name__ == "__main__":
    main()
