"""`DdsWire`: one PX4 vehicle's messages on the topics of px4_msgs, as a uXRCE-DDS agent would put them there.

Fields, numbers and rates are facts of PX4's messages. Frames are made here from matrices, apart from the adapter's
conversions. Every vehicle's estimator begins in a place of its own, and says where on the Earth that is.
"""

import math
from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher

from robomarl.core.geometry import rotation_matrix
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import Mailbox, message_class, publisher
from robomarl.ros.topics import Topic
from robomarl.ros.vehicle_topics import px4_dds as topics
from robomarl.vehicles.px4_dds.geography import EARTH_M, Geodetic
from robomarl.vehicles.ros_wire import versioned
from robomarl_peers.px4.commander import Commander, FlightMode, Result
from robomarl_peers.px4.sensed import Sensed, charge_of, felt_by, misread
from robomarl_peers.px4.vehicle import Px4Vehicle, Wish

PERIODS_S = {
    **{topics.ODOMETRY: 0.02, topics.STATUS: 0.2, topics.LAND: 0.2, topics.SENSORS: 0.1, topics.LOCAL: 0.1},
    **{topics.BATTERY: 1.0, topics.TIME: 1.0},
}
STATES = {
    FlightMode.MANUAL: 0,
    FlightMode.POSCTL: 2,
    FlightMode.LOITER: 4,
    FlightMode.OFFBOARD: 14,
    FlightMode.LAND: 18,
}
"""`nav_state` by mode."""
TRIP_US = 2000
BEGINS_M = np.array([1.5, -2.0, 0.4])
"""[m] Origin of the first vehicle's estimator, NED; the second one is twice as far, and so on."""


Fields = dict[str, object]
"""Fields of a message by name, without the time."""


class DdsWire:
    """One namespace."""

    def __init__(self, node: Node, namespace: str, vehicle: Px4Vehicle, system: int, home: Geodetic) -> None:
        """Connect to the topics; nothing is sent yet.

        Args:
            node: subscribes and publishes.
            namespace: namespace of the vehicle.
            vehicle: the simulated vehicle.
            system: MAV_SYS_ID, from 1.
            home: origin of the map.
        """
        self.vehicle, self.system, self.kind, self.senses = vehicle, system, 2, True
        self._boot_s = 100.0 + 17.0 * system
        """Its clock is another than everybody's."""
        self.begins_m, self._home = BEGINS_M * system, home
        self._node, self._namespace = node, namespace
        self._kinds = {topic: message_class(topic.type) for topic in topics.HEARD}
        self._heard = [(self._taker(topic), self._mailbox(topic)) for topic in topics.TOLD]
        self._said = {topic: self._publisher(topic) for topic in topics.HEARD}
        self._due = dict.fromkeys(PERIODS_S, 0.0)
        self._now_s = 0.0
        self._makers: dict[Topic, Callable[[Sensed], Fields | None]] = {
            topics.ODOMETRY: self._odometry,
            topics.STATUS: self._status,
            topics.LAND: self._land,
            topics.SENSORS: self._sensors,
            topics.LOCAL: self._local,
            topics.BATTERY: self._battery,
            topics.TIME: lambda seen: {"round_trip_time": TRIP_US, "source_protocol": 2},
        }

    @property
    def commander(self) -> Commander:
        """Commander of the vehicle."""
        return self.vehicle.commander

    def restart(self, vehicle: Px4Vehicle) -> None:
        """Another memory; the clock runs on."""
        self.vehicle = vehicle

    def hear(self, now_s: float, deaf: bool) -> None:
        """Handle the received messages."""
        self._now_s = now_s
        for take, mailbox in self._heard:
            for message, _ in mailbox.take():
                if not deaf:
                    take(message)

    def tell(self, now_s: float, seen: Sensed, mute: bool) -> None:
        """Publish the topics that are due."""
        self._now_s = now_s
        self.commander.said.clear()  # texts for the ground station are no topic
        for topic, period_s in PERIODS_S.items():
            if now_s < self._due[topic]:
                continue
            next_s = self._due[topic] + period_s
            self._due[topic] = next_s if next_s > now_s else now_s + period_s
            fields = self._makers[topic](seen)
            if fields is not None and not mute:
                self._say(topic, fields)

    def close(self) -> None:
        """Leave the topics."""
        for _, mailbox in self._heard:
            mailbox.destroy()
        for made in self._said.values():
            self._node.destroy_publisher(made)

    def _mailbox(self, topic: Topic) -> Mailbox:
        name = versioned(topic).of("", self._namespace)
        return Mailbox(self._node, topic, name, lambda message: message)

    def _publisher(self, topic: Topic) -> Publisher:
        return publisher(self._node, topic, versioned(topic).of("", self._namespace))

    def _say(self, topic: Topic, fields: Fields) -> None:
        self._said[topic].publish(self._kinds[topic](timestamp=self._stamp_us, **fields))

    @property
    def _stamp_us(self) -> int:
        return int((self._now_s + self._boot_s) * 1e6)

    def _taker(self, topic: Topic) -> Callable[[Message], None]:
        takers = {topics.OFFBOARD: self._on_offboard, topics.SETPOINT: self._on_setpoint}
        return takers.get(topic, self._on_command)

    def _on_offboard(self, message: Message) -> None:
        if message.position:
            self.commander.streamed(self._now_s)

    def _on_setpoint(self, message: Message) -> None:
        pos, vel, accel = (np.array(p, float) for p in (message.position, message.velocity, message.acceleration))
        self.vehicle.offboard = Wish(pos + self.begins_m, vel, accel, message.yaw, message.yawspeed)

    def _on_command(self, message: Message) -> None:
        if message.target_system not in (0, self.system):
            return
        commander, result = self.commander, Result.UNSUPPORTED
        if message.command == 176:
            result = commander.set_mode(int(message.param2), int(message.param3), self._now_s)
        elif message.command == 400:
            force = message.param2 == 21196
            result = commander.arm(message.param1 > 0.5, force, self._now_s)
            commander.terminated |= force and message.param1 < 0.5 and not commander.landed
        to = {"target_system": message.source_system, "target_component": message.source_component}
        self._say(topics.ACK, {"command": message.command, "result": int(result), **to})

    def _odometry(self, seen: Sensed) -> Fields | None:
        if "unseen" in seen.faults:
            return None
        pos, quat, within, omega = misread(seen)
        unknown = np.full(3, math.nan, np.float32)
        variances = {f"{part}_variance": unknown for part in ("position", "orientation", "velocity")}
        return {
            "timestamp_sample": self._stamp_us,
            "pose_frame": 1,
            "position": np.asarray(pos - self.begins_m, np.float32),
            "q": np.asarray(quat, np.float32),
            "velocity_frame": 1,
            "velocity": np.asarray(rotation_matrix(quat) @ within, np.float32),
            "angular_velocity": np.asarray(omega, np.float32),
            "reset_counter": seen.resets % 256,
            **variances,
        }

    def _status(self, seen: Sensed) -> Fields:
        commander = self.commander
        who = {"system_type": self.kind, "system_id": self.system, "component_id": 1, "vehicle_type": 1}
        state = 13 if commander.terminated else STATES[commander.mode]
        fit = not (commander.refuses or commander.battery_low)
        return {"arming_state": 1 + commander.armed, "nav_state": state, "pre_flight_checks_pass": fit, **who}

    def _land(self, seen: Sensed) -> Fields:
        return {"landed": self.commander.landed}

    def _sensors(self, seen: Sensed) -> Fields | None:
        felt = np.asarray(felt_by(seen), np.float32)
        return {"accelerometer_m_s2": felt} if self.senses else None

    def _local(self, seen: Sensed) -> Fields:
        """Return the estimator's origin on a spherical Earth, for the few metres of a room: arcs along the meridian
        and the parallel.
        """
        home, (north, east, down) = self._home, self.begins_m
        latitude = home.latitude_deg + math.degrees(north / EARTH_M)
        longitude = home.longitude_deg + math.degrees(east / (EARTH_M * math.cos(math.radians(home.latitude_deg))))
        place = {"ref_lat": latitude, "ref_lon": longitude, "ref_alt": home.altitude_m - float(down)}
        return {"xy_global": True, "z_global": True, **place}

    def _battery(self, seen: Sensed) -> Fields:
        return {"voltage_v": seen.volts, "remaining": charge_of(seen), "warning": 1 if seen.low else 0}
