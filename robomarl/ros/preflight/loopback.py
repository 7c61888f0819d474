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
    from std_msgs.msg import String

    from robomarl.ros.intake.mailbox import Mailbox
    from robomarl.ros.io.node_base import publisher
    from robomarl.ros.topics import Topic

    began_s = time.monotonic()
    topic = Topic(TOPIC.format(os.getpid()), "std_msgs/msg/String", True, False, 1, "", "-", "loopback of the doctor")
    contexts = [rclpy.Context(), rclpy.Context()]
    for context in contexts:
        rclpy.init(context=context)
    sender, receiver = (rclpy.create_node(f"{topic.name}_{i}", context=each) for i, each in enumerate(contexts))
    out, mailbox = publisher(sender, topic, f"/{topic.name}"), Mailbox(receiver, topic, f"/{topic.name}")
    while time.monotonic() - began_s < limit_s:
        out.publish(String(data="loopback"))
        if any(True for _ in mailbox.take()):
            return time.monotonic() - began_s
        time.sleep(0.02)
    return None


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
