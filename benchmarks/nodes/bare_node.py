"""A bare rclpy node for `bench ros`: takes what a policy node takes and sends what it sends, and does nothing else."""

import json
import sys
import time
from typing import Any


def main() -> int:
    """Echo for some seconds, then print how long each echo took, and its processor time, as JSON [us]."""
    import rclpy
    from nav_msgs.msg import Odometry
    from rclpy.executors import SingleThreadedExecutor
    from trajectory_msgs.msg import MultiDOFJointTrajectory

    rclpy.init()
    node = rclpy.create_node("bare")
    team = node.declare_parameter("team", ["robot_0"]).value
    index = node.declare_parameter("index", 0).value
    end_s = node.declare_parameter("seconds", 10.0).value
    from robomarl.ros import topics
    from robomarl.ros.io.node_base import qos_of

    name, said, own = team[index], topics.STATE_AND_PLAN, topics.ODOMETRY
    out = {t: node.create_publisher(MultiDOFJointTrajectory, t.of(name), qos_of(t)) for t in (topics.COMMAND, said)}
    command, state = _messages(name)
    took: list[float] = []

    def echo(message: Any, info: Any) -> None:
        command.header.stamp = state.header.stamp = message.header.stamp
        out[topics.COMMAND].publish(command)
        took.append(time.time() * 1e6 - info["source_timestamp"] * 1e-3)
        if len(took) % 2:
            out[said].publish(state)

    node.create_subscription(Odometry, own.of(name), echo, qos_of(own))
    for mate in team[:index] + team[index + 1 :]:
        node.create_subscription(MultiDOFJointTrajectory, said.of(mate), lambda message: None, qos_of(said))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not took:
        executor.spin_once(timeout_sec=0.1)
    end_s += time.monotonic() + 2.0
    before, cpu_s = len(took), time.process_time()
    while time.monotonic() < end_s:
        executor.spin_once(timeout_sec=0.1)
    cpu_us = 1e6 * (time.process_time() - cpu_s) / max(len(took) - before, 1)
    print(json.dumps({"took_us": [round(value, 1) for value in took[200:]], "cpu_us": cpu_us}), flush=True)
    return 0


def _messages(name: str) -> tuple[Any, Any]:
    """A command, and a state and plan, as policy nodes send them."""
    import numpy as np

    from robomarl.core.view import Plan
    from robomarl.ros import convert
    from robomarl.ros.robot.inbox import Broadcast

    nothing = np.zeros(3)
    said = Broadcast(nothing, nothing, Plan(nothing, nothing, nothing))
    return convert.command_from(np.zeros(4), 0.0, name), convert.broadcast_from(said, 0.0, name, (0.2, 0.5))


if __name__ == "__main__":
    sys.exit(main())
