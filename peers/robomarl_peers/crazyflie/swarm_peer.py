"""`SwarmPeer`: one Crazyflie behind the ROS interface of Crazyswarm2's server.

The server's part is simulated too: topics and services become the packets that it sends to the
firmware, logs become its topics. Services answer in the thread that spins the node; the firmware
receives the requests at its next step.
"""

import struct
from collections import deque
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from rclpy.service import Service

from robomarl.core.types import GRAVITY_M_S2
from robomarl.ros.convert import set_quat, set_xyz, xyz_of
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.io.node_base import Mailbox, message_class, publisher
from robomarl.ros.topics import Topic
from robomarl.ros.vehicle_topics import crazyswarm as topics
from robomarl_peers.crazyflie.crtp import GENERIC, HIGH_LEVEL, SUPERVISOR, Packet
from robomarl_peers.crazyflie.firmware import Firmware, packed_quat
from robomarl_peers.crazyflie.team import Peer

PERIODS_S = {topics.RATES: 0.02, topics.ODOMETRY: 0.02, topics.STATUS: 0.1}
"""Rates first: an estimate needs them."""


class SwarmPeer(Peer):
    """One namespace."""

    def __init__(self, node: Node, namespace: str, mass_kg: float, firmware: Firmware) -> None:
        """Serve; the parameter of the mass is in the server's own file."""
        super().__init__(firmware)
        self._mass_kg, self._node, self._namespace = mass_kg, node, namespace
        self.frame, self.told_rates = namespace.rsplit("/", 1)[-1], slice(None)
        """Frame and part of the rates that are published; tests set wrong ones to check that the receiver notices."""
        self._told: deque[Packet] = deque()
        name = topics.FULL_STATE.of("", namespace)
        self._full_states = Mailbox(node, topics.FULL_STATE, name, lambda message: message)
        self._said = {topic: publisher(node, topic, topic.of("", namespace)) for topic in topics.HEARD}
        self._kinds = {topic: message_class(topic.type) for topic in topics.HEARD}
        self._due = dict.fromkeys(PERIODS_S, 0.0)
        answers = {
            topics.ARM: lambda ask: Packet(SUPERVISOR, 1, bytes([1, ask.arm])),
            topics.TAKE_OFF: lambda ask: _high_level(7, ask),
            topics.LAND: lambda ask: _high_level(8, ask),
            topics.NOTIFY: lambda ask: Packet(GENERIC, 1, struct.pack("<BI", 0, ask.remain_valid_millisecs)),
            topics.EMERGENCY: lambda ask: Packet(SUPERVISOR, 1, b"\x03"),
        }
        self.services = {name: self._service(name, answer) for name, answer in answers.items()}

    @property
    def mass_kg(self) -> float:
        """Mass [kg] that its server sets."""
        return self._mass_kg

    def _service(self, name: str, answer: Callable[[Message], Packet]) -> Service:
        def taken(request: Message, response: Message) -> Message:
            self._told.append(answer(request))
            return response

        kind = message_class(topics.SERVICES[name])
        return self._node.create_service(kind, f"{self._namespace}/{name}", taken)

    def serve(self, now_s: float, own: Estimate) -> None:
        """Forward received messages to the firmware, and publish the topics that are due."""
        for message, _ in self._full_states.take():
            self._told.append(_full_state(message))
        deaf = "radio" in self.faults
        while self._told:
            packet = self._told.popleft()
            if not deaf:
                self.firmware.told(packet)
        for topic, period_s in PERIODS_S.items():
            if now_s < self._due[topic]:
                continue
            next_s = self._due[topic] + period_s
            self._due[topic] = next_s if next_s > now_s else now_s + period_s
            if not deaf and not (topic is topics.ODOMETRY and "unseen" in self.faults):
                self._say(topic, now_s, own)

    def close(self) -> None:
        """Leave the topics."""
        self._full_states.destroy()
        for made in self._said.values():
            self._node.destroy_publisher(made)
        for service in self.services.values():
            self._node.destroy_service(service)

    def _say(self, topic: Topic, now_s: float, own: Estimate) -> None:
        message = self._kinds[topic]()
        message.header.frame_id = self.frame
        message.header.stamp.sec, message.header.stamp.nanosec = int(now_s), int(now_s % 1 * 1e9)
        if topic is topics.ODOMETRY:
            # Of the server: the velocity is the world's, and rates are left empty.
            set_xyz(message.pose.pose.position, own.pos_m + np.array([1.0 * ("jump" in self.faults), 0.0, 0.0]))
            set_quat(message.pose.pose.orientation, own.quat_wxyz)
            set_xyz(message.twist.twist.linear, own.vel_m_s)
        elif topic is topics.RATES:
            message.timestamp = int(now_s * 1000)
            values = [*np.rad2deg(own.omega_rad_s).tolist(), *(self.force_m_s2 / GRAVITY_M_S2).tolist()]
            message.values = values[self.told_rates]
        else:
            message.battery_voltage, message.pm_state = self.power
            message.supervisor_info = self.firmware.bits
        self._said[topic].publish(message)


def _high_level(command: int, ask: Message) -> Packet:
    """Return the packet of a take-off or a landing that keeps the heading."""
    duration_s = ask.duration.sec + ask.duration.nanosec / 1e9
    return Packet(HIGH_LEVEL, 0, struct.pack("<BBff?f", command, ask.group_mask, ask.height, 0.0, True, duration_s))


def _full_state(message: Message) -> Packet:
    """Return the packet of a full-state set-point, in thousandths, 16 bits each."""
    turn = message.pose.orientation
    parts = [xyz_of(part) for part in (message.pose.position, message.twist.linear, message.acc)]
    numbers = np.clip(np.concatenate(parts) * 1000, -32767, 32767).astype(int).tolist()
    quat = packed_quat(np.array([turn.w, turn.x, turn.y, turn.z]))
    rates = (xyz_of(message.twist.angular) * 1000).astype(int).tolist()
    return Packet(GENERIC, 0, struct.pack("<B9hI3h", 6, *numbers, quat, *rates))
