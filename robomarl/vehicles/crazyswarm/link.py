"""`CrazyswarmLink`: one Crazyflie behind Crazyswarm2's server: its messages and its commands."""

import math
from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Duration
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from robomarl.core.geometry import quat_from_yaw
from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.convert import set_quat, set_xyz, stamp_of, xyz_of
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.io.node_base import message_class
from robomarl.ros.timing.steady import steady_now_s
from robomarl.ros.vehicle_topics import crazyswarm as topics
from robomarl.ros.vehicle_topics.ros_address import RosAddress
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.crazyflie.link import PowerAndBits
from robomarl.vehicles.ros_wire import RosWire, check_types
from robomarl.vehicles.samples import ClockMatch, StateSample

MEND = "install ros-$ROS_DISTRO-crazyflie-interfaces, or build Crazyswarm2 in a ROS workspace, and source it"
OLD_S = 0.2
"""Rates that are older don't count."""
SINK_M, SINK_S = 0.1, 0.15
"""Depth and duration of a landing on the ground, which stops motors at its end: no service stops them without a
lock.
"""
RESTS_S = 3.0
"""A vehicle counts as flying for two seconds after its motors stopped."""


class CrazyswarmLink:
    """One vehicle."""

    clock: Callable[[], float]
    """Steady clock [s], by which `heard_s` is measured."""

    def __init__(self, node: Node, address: RosAddress) -> None:
        """Not open yet.

        Args:
            node: subscribes, publishes, calls; an executor has to spin it.
            address: the vehicle's name as a namespace.

        Raises:
            UserError: crazyflie_interfaces is not installed.
        """
        kinds = [topic.type for topic in (*topics.HEARD, *topics.TOLD)]
        check_types([*kinds, *topics.SERVICES.values()], MEND)
        self.clock = steady_now_s
        self.where = address.namespace
        self._wire = RosWire(node, address.namespace)
        self._heard: list[tuple[Callable[[Message, float], None], Mailbox]] = []
        self._clients: dict[str, Client] = {}
        self.sample: StateSample | None = None
        self.status: PowerAndBits | None = None
        self.heard_s = -math.inf
        self.force_m_s2: np.ndarray | None = None
        self._down_s = -math.inf
        """When the landing ends that was told last."""
        self._rates, self._rates_s = np.zeros(3), -math.inf
        self._busy, self._frame, self._few, self._clocks = "", "", "", ClockMatch()

    @property
    def problem(self) -> str:
        """Why it is not fit; "" where it is."""
        if not self._clients:
            return "not connected"
        if found := self._busy or self._frame or self._few:
            return found
        if absent := [name for name, client in self._clients.items() if not client.service_is_ready()]:
            return f"nobody serves {self.where}/{absent[0]}: is crazyflie_server there?"
        if math.isinf(self._rates_s):
            said = ", ".join(topics.RATES_VARIABLES)
            return f"nobody says {self.where}/{topics.RATES.name}; add it to custom_topics with {said}"
        return "" if self.status else f"nobody says {self.where}/{topics.STATUS.name}; add it to default_topics"

    def open(self) -> None:
        """Subscribe and publish, once."""
        if self._clients:
            return
        takers = {topics.ODOMETRY: self._on_odometry, topics.RATES: self._on_rates, topics.STATUS: self._on_status}
        self._heard = [(take, self._wire.hear(topic)) for topic, take in takers.items()]
        self._full_state = self._wire.tell(topics.FULL_STATE)
        self._clients = {name: self._wire.client(kind, name) for name, kind in topics.SERVICES.items()}

    def close(self) -> None:
        """Leave the topics."""
        self._wire.close()
        self._heard, self._clients = [], {}

    def poll(self) -> None:
        """Read new messages, and look for other nodes on the topics."""
        now_s = self.clock()
        for take, mailbox in self._heard:
            for message, _ in mailbox.take():
                self.heard_s = now_s
                take(message, now_s)
        if self._heard and (found := self._wire.look(now_s)) is not None:
            self._busy = found

    def figures(self) -> dict[str, str]:
        """For diagnostics."""
        status = self.status
        said = {"volts": f"{status.volts:.2f}", "supervisor": f"{status.bits:#05x}"} if status else {}
        return {"namespace": self.where, **said}

    def follow(self, reference: Reference) -> None:
        """Track a full state; rates in rad/s."""
        if not self._clients:
            return
        message = message_class(topics.FULL_STATE.type)()
        message.header.stamp = self._wire.node.get_clock().now().to_msg()
        set_xyz(message.pose.position, reference.pos_m)
        set_quat(message.pose.orientation, quat_from_yaw(np.float64(reference.yaw_rad)))
        set_xyz(message.twist.linear, reference.vel_m_s)
        message.twist.angular.z = float(reference.yaw_rate_rad_s)
        set_xyz(message.acc, reference.accel_m_s2)
        self._full_state.publish(message)

    def tilt(self, quat: np.ndarray, throttle: float, yaw_rate_rad_s: float) -> None:
        """Nothing: full states only."""

    def arm(self, wanted: bool) -> None:
        """Ask the vehicle to arm or disarm; its status shows the result."""
        self._call(topics.ARM, arm=wanted)

    def take_off(self, height_m: float, duration_s: float) -> None:
        """Let the vehicle climb by itself to a height in the world, with its present heading."""
        self._down_s = -math.inf
        self._call(topics.TAKE_OFF, height=float(height_m), duration=_duration(duration_s))

    def land(self, height_m: float, duration_s: float) -> None:
        """The vehicle descends by itself to a height in the world, then stops its motors.

        The stream is given up once the plan has arrived: in between the motors would stop.
        """
        self._down_s = self.clock() + duration_s
        landing = self._call(topics.LAND, height=float(height_m), duration=_duration(duration_s))
        if landing is not None:
            landing.add_done_callback(self._on_landing)

    def stop(self) -> None:
        """Sink the last of the way, and stop the motors; a landing that was told does so itself."""
        if self.clock() < self._down_s + RESTS_S:
            return
        height_m = self.sample.estimate.pos_m[2] if self.sample else 0.0
        self.land(height_m - SINK_M, SINK_S)

    def kill(self) -> None:
        """Stop the motors at once; the vehicle locks until it is started anew."""
        self._call(topics.EMERGENCY)

    def keep_alive(self) -> None:
        """Nothing: the emergency watchdog is no service."""

    def _on_landing(self, done: Future) -> None:
        self._call(topics.NOTIFY, remain_valid_millisecs=0)

    def _call(self, name: str, **fields: object) -> Future | None:
        client = self._clients.get(name)
        return None if client is None else client.call_async(client.srv_type.Request(**fields))

    def _on_odometry(self, message: Message, now_s: float) -> None:
        pose, stamp_s = message.pose.pose, float(stamp_of(message.header))
        turn, name = pose.orientation, self.where.rsplit("/", 1)[-1]
        frame = message.header.frame_id
        if wrong := frame not in (name, "map", "world"):
            self._frame = f"its odom is in frame {frame!r}; {name!r} or 'world' is read"
        if wrong or now_s - self._rates_s > OLD_S:
            return
        self._frame = ""
        quat = np.array([turn.w, turn.x, turn.y, turn.z])
        # The velocity is the world's, whatever the message's definition says.
        quat = quat / np.linalg.norm(quat)
        found = Estimate(xyz_of(pose.position), quat, xyz_of(message.twist.twist.linear), self._rates)
        age_s = self._clocks.age_s(stamp_s, now_s)
        self.sample = StateSample(found, now_s, int(stamp_s * 1000) & 0xFFFFFF, age_s=age_s)

    def _on_rates(self, message: Message, now_s: float) -> None:
        values = np.array(message.values, float)
        if len(values) != len(topics.RATES_VARIABLES):
            self._few = f"{self.where}/{topics.RATES.name} has {len(values)} values; name {topics.RATES_VARIABLES}"
            return
        self._few = ""
        self._rates, self._rates_s = np.deg2rad(values[:3]), now_s
        self.force_m_s2 = values[3:] * GRAVITY_M_S2

    def _on_status(self, message: Message, now_s: float) -> None:
        self.status = PowerAndBits(message.battery_voltage, message.pm_state, message.supervisor_info)


def _duration(seconds: float) -> Duration:
    whole = int(seconds)
    return Duration(sec=whole, nanosec=int((seconds - whole) * 1e9))
