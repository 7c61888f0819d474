"""A base like a TurtleBot as a process: a unicycle that takes a Twist, with wheels that lag and a time-out of its own.

Half a second without a twist stops it, as `cmd_vel_timeout` of ros2_control does; that of a real one is not known here.
Its odometry begins at 0 where it is switched on, and turns by one in a hundred too far. `amcl_pose` is late and seldom.
"""

import math
import sys

import numpy as np
from geometry_msgs.msg import PoseWithCovarianceStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import BatteryState

from robomarl.ros.convert import set_xyz
from robomarl.ros.io.node_base import run_node

DT_S = 0.01
TIMEOUT_S, LAG_S = 0.5, 0.15
TRACK_M, WHEEL_M_S = 0.16, 0.22
ODOM_S, POSE_S, LATE_S = 0.03, 0.25, 0.2


class BasePeer(Node):
    """One base."""

    def __init__(self) -> None:
        super().__init__("base_peer")
        start = self.declare_parameter("start", [0.0, 0.0, 0.0]).value
        stamped = self.declare_parameter("stamped", True).value
        self.declare_parameter("faults", [""])  # silent, low, pushed
        self.state, self.wheels, self.speeds = np.array(start, float), np.zeros(3), np.zeros(2)
        self.wanted, self.told_s, self.now_s = np.zeros(2), -math.inf, 0.0
        kind = TwistStamped if stamped else Twist
        self.create_subscription(kind, "cmd_vel", self.on_twist, 1)
        self.odom = self.create_publisher(Odometry, "odom", 5)
        self.truth = self.create_publisher(Odometry, "truth", 5)
        self.amcl = self.create_publisher(PoseWithCovarianceStamped, "amcl_pose", 5)
        self.power = self.create_publisher(BatteryState, "battery_state", 5)
        self.late: list[tuple[float, PoseWithCovarianceStamped]] = []
        self.create_timer(DT_S, self.step)

    def on_twist(self, message: Twist | TwistStamped) -> None:
        twist = message.twist if isinstance(message, TwistStamped) else message
        across = twist.angular.z * TRACK_M / 2
        sides = np.clip([twist.linear.x - across, twist.linear.x + across], -WHEEL_M_S, WHEEL_M_S)
        self.wanted, self.told_s = np.array([sides.mean(), (sides[1] - sides[0]) / TRACK_M]), self.now_s

    def step(self) -> None:
        self.now_s += DT_S
        if self.now_s - self.told_s > TIMEOUT_S:
            self.wanted = np.zeros(2)
        self.speeds = self.speeds + (self.wanted - self.speeds) * DT_S / LAG_S
        for place, turns in ((self.state, 1.0), (self.wheels, 1.01)):
            forward, turn = self.speeds * [1.0, turns]
            place += DT_S * np.array([forward * math.cos(place[2]), forward * math.sin(place[2]), turn])
        faults = self.get_parameter("faults").value or []
        if self.every(ODOM_S) and "silent" not in faults:
            self.odom.publish(self.told(self.wheels, "odom"))
        if self.every(ODOM_S):
            self.truth.publish(self.told(self.state, "map"))
        if self.every(POSE_S):
            seen = self.told(self.state, "map")
            self.late.append((self.now_s, PoseWithCovarianceStamped(header=seen.header, pose=seen.pose)))
            self.power.publish(BatteryState(voltage=9.9 if "low" in faults else 12.1))
        while self.late and self.now_s - self.late[0][0] > LATE_S:
            self.amcl.publish(self.late.pop(0)[1])

    def every(self, seconds: float) -> bool:
        """Whether that much is over again."""
        return int(self.now_s / seconds) > int((self.now_s - DT_S) / seconds)

    def told(self, place: np.ndarray, frame: str) -> Odometry:
        made = Odometry(child_frame_id="base_footprint")
        made.header.stamp, made.header.frame_id = self.get_clock().now().to_msg(), frame
        set_xyz(made.pose.pose.position, np.array([*place[:2], 0.0]))
        turn = made.pose.pose.orientation
        turn.z, turn.w = math.sin(place[2] / 2), math.cos(place[2] / 2)
        made.twist.twist.linear.x, made.twist.twist.angular.z = map(float, self.speeds)
        return made


if __name__ == "__main__":
    sys.exit(run_node(BasePeer))
