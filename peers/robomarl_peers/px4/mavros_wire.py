"""`MavrosWire`: one PX4 vehicle behind the ROS interface of MAVROS: ENU and FLU, names of modes,
services.

Frames are made here from matrices, apart from the adapter's conversions. Services answer in the
thread that spins the node.
"""

import math
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from rclpy.service import Service

from robomarl.ros.convert import set_quat, set_xyz, xyz_of
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import Mailbox, message_class, publisher
from robomarl.ros.topics import Topic
from robomarl.ros.vehicle_topics import mavros as topics
from robomarl_peers.px4.commander import FlightMode, Result
from robomarl_peers.px4.sensed import Sensed, charge_of, felt_by, misread
from robomarl_peers.px4.vehicle import Px4Vehicle, Wish

PERIODS_S = {topics.ODOMETRY: 0.02, topics.IMU: 0.1, topics.STATE: 1.0, topics.EXTENDED: 0.2, topics.BATTERY: 1.0}
NAMES = {
    FlightMode.MANUAL: "MANUAL",
    FlightMode.POSCTL: "POSCTL",
    FlightMode.LOITER: "AUTO.LOITER",
    FlightMode.LAND: "AUTO.LAND",
    FlightMode.OFFBOARD: "OFFBOARD",
}
WORLD = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""NED to ENU."""
BODY = np.array([1.0, -1.0, -1.0])
"""FRD to FLU."""


class MavrosWire:
    """One namespace."""

    def __init__(self, node: Node, namespace: str, vehicle: Px4Vehicle, system: int) -> None:
        """Nothing said yet; `system` is MAV_SYS_ID."""
        self.vehicle, self.system, self.kind, self.firmware, self.senses = vehicle, system, 2, 12, True
        self.frames, self.connected = ("map", "base_link"), True
        """Frames and connection state that are published; tests set wrong ones to check that the receiver notices."""
        self._node, self._namespace, self._now_s, self._deaf = node, namespace, 0.0, False
        self._targets = Mailbox(node, topics.TARGET, topics.TARGET.of("", namespace), lambda message: message)
        self._said = {topic: publisher(node, topic, topic.of("", namespace)) for topic in topics.HEARD}
        self._kinds = {topic: message_class(topic.type) for topic in topics.HEARD}
        self._due = dict.fromkeys(PERIODS_S, 0.0)
        self._makers: dict[Topic, Callable[[Message, Sensed], None]] = {
            topics.ODOMETRY: self._odometry,
            topics.IMU: self._imu,
            topics.STATE: self._state,
            topics.EXTENDED: self._extended,
            topics.BATTERY: self._battery,
        }
        answers = {
            topics.ARMING: self._on_arming,
            topics.SET_MODE: self._on_mode,
            topics.COMMAND: self._on_command,
            topics.INFO: self._on_info,
            topics.PARAMETERS: self._on_parameters,
        }
        self.services = {name: self._service(name, answer) for name, answer in answers.items()}

    def restart(self, vehicle: Px4Vehicle) -> None:
        """Another memory; the clock runs on."""
        self.vehicle = vehicle

    def hear(self, now_s: float, deaf: bool) -> None:
        """Handle the received messages."""
        self._now_s, self._deaf = now_s, deaf
        for message, _ in self._targets.take():
            if not deaf:
                self._on_target(message)

    def tell(self, now_s: float, seen: Sensed, mute: bool) -> None:
        """Publish the topics that are due."""
        self.vehicle.commander.said.clear()
        for topic, period_s in PERIODS_S.items():
            if now_s < self._due[topic]:
                continue
            next_s = self._due[topic] + period_s
            self._due[topic] = next_s if next_s > now_s else now_s + period_s
            hidden = topic is topics.ODOMETRY and "unseen" in seen.faults or topic is topics.IMU and not self.senses
            if mute or hidden:
                continue
            message = self._kinds[topic]()
            message.header.stamp.sec, message.header.stamp.nanosec = int(now_s), int(now_s % 1 * 1e9)
            self._makers[topic](message, seen)
            self._said[topic].publish(message)

    def close(self) -> None:
        """Leave the topics."""
        self._targets.destroy()
        for made in self._said.values():
            self._node.destroy_publisher(made)
        for service in self.services.values():
            self._node.destroy_service(service)

    def _service(self, name: str, answer: Callable[[Message, Message], None]) -> Service:
        def taken(request: Message, response: Message) -> Message:
            if not self._deaf:
                answer(request, response)
            return response

        return self._node.create_service(message_class(topics.SERVICES[name]), f"{self._namespace}/{name}", taken)

    def _on_target(self, message: Message) -> None:
        """Take in a target: positions in ENU, a yaw from east; masked parts are not given."""
        if message.coordinate_frame != 1:
            return
        parts = [xyz_of(part) for part in (message.position, message.velocity, message.acceleration_or_force)]
        given = [
            np.where([message.type_mask >> 3 * k + axis & 1 for axis in range(3)], math.nan, part)
            for k, part in enumerate(parts)
        ]
        pos, vel, accel = (WORLD @ part for part in given)
        yaw = math.nan if message.type_mask & 1024 else math.pi / 2 - message.yaw
        rate = math.nan if message.type_mask & 2048 else -message.yaw_rate
        self.vehicle.offboard = Wish(pos, vel, accel, yaw, rate)
        self.vehicle.commander.streamed(self._now_s)

    def _on_arming(self, request: Message, response: Message) -> None:
        result = self.vehicle.commander.arm(request.value, False, self._now_s)
        response.success, response.result = result is Result.ACCEPTED, int(result)

    def _on_mode(self, request: Message, response: Message) -> None:
        """Set the mode; as in MAVROS, the answer says that the request was sent, not its result."""
        wanted = next((mode for mode, name in NAMES.items() if name == request.custom_mode), None)
        response.mode_sent = wanted is not None
        if wanted is not None:
            self.vehicle.commander.set_mode(wanted >> 16 & 0xFF, wanted >> 24, self._now_s)

    def _on_command(self, request: Message, response: Message) -> None:
        commander, result = self.vehicle.commander, Result.UNSUPPORTED
        if request.command == 400:
            force = request.param2 == 21196
            result = commander.arm(request.param1 > 0.5, force, self._now_s)
            commander.terminated |= force and request.param1 < 0.5 and not commander.landed
        response.success, response.result = result is Result.ACCEPTED, int(result)

    def _on_info(self, request: Message, response: Message) -> None:
        kind = message_class("mavros_msgs/msg/VehicleInfo")
        response.success = True
        response.vehicles = [kind(sysid=self.system, compid=1, autopilot=self.firmware, type=self.kind)]

    def _on_parameters(self, request: Message, response: Message) -> None:
        kind = message_class("rcl_interfaces/msg/ParameterValue")
        for name in request.names:
            value = self.vehicle.commander.parameters.get(name)
            whole = isinstance(value, int)
            made = kind() if value is None else kind(type=2, integer_value=value) if whole else kind(type=3)
            if value is not None and not whole:
                made.double_value = float(value)
            response.values.append(made)

    def _odometry(self, message: Message, seen: Sensed) -> None:
        pos, quat, within, omega = misread(seen)
        message.header.frame_id, message.child_frame_id = self.frames
        w, x, y, z = quat
        set_xyz(message.pose.pose.position, WORLD @ pos)
        set_quat(message.pose.pose.orientation, np.array([w + z, x + y, x - y, w - z]) * math.sqrt(0.5))
        set_xyz(message.twist.twist.linear, BODY * within)
        set_xyz(message.twist.twist.angular, BODY * omega)

    def _imu(self, message: Message, seen: Sensed) -> None:
        set_xyz(message.linear_acceleration, BODY * felt_by(seen))

    def _state(self, message: Message, seen: Sensed) -> None:
        commander = self.vehicle.commander
        message.connected, message.armed, message.mode = self.connected, commander.armed, NAMES[commander.mode]
        message.system_status = 8 if commander.terminated else 4 if commander.armed else 3

    def _extended(self, message: Message, seen: Sensed) -> None:
        message.landed_state = 1 if self.vehicle.commander.landed else 2

    def _battery(self, message: Message, seen: Sensed) -> None:
        message.voltage, message.percentage = float(seen.volts), charge_of(seen)
