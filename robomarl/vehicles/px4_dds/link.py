"""`Px4DdsLink`: one PX4 vehicle behind the topics of px4_msgs: its messages and its commands."""

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.node_base import message_class
from robomarl.ros.vehicle_topics import px4_dds as topics
from robomarl.ros.vehicle_topics.ros_address import RosAddress
from robomarl.vehicles.autopilot.link import CommandedLink
from robomarl.vehicles.autopilot.state import CUSTOM, DO_SET_MODE, US
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.px4_dds.geography import Geodetic
from robomarl.vehicles.px4_dds.vehicle_state import PX4_DDS, Px4State
from robomarl.vehicles.ros_wire import RosWire, check_types, versioned

MEND = "install ros-$ROS_DISTRO-px4-msgs, or build px4_msgs of the vehicle's release in a ROS workspace, and source it"


class Px4DdsLink(CommandedLink):
    """One vehicle."""

    state: Px4State

    def __init__(self, node: Node, address: RosAddress, loss: CommandLossConfig, geo: Geodetic | None = None) -> None:
        """Create the link without opening it.

        Args:
            node: subscribes and publishes.
            address: the vehicle's namespace.
            loss: the vehicle file's rules for lost commands.
            geo: origin of the map; None: that of the vehicle's local frame.

        Raises:
            UserError: px4_msgs is not installed.
        """
        check_types([topic.type for topic in (*topics.HEARD, *topics.TOLD)], MEND)
        super().__init__(Px4State(address.system, loss, geo), f"{address.namespace}/fmu")
        self._wire = RosWire(node, address.namespace)
        self._heard: list[tuple[str, Mailbox]] = []
        self._tellers: dict[str, Publisher] = {}
        self._kinds = {topic.name: message_class(topic.type) for topic in topics.TOLD}

    def open(self) -> None:
        """Subscribe and publish, once."""
        if self._heard:
            return
        self._heard = [(topic.type.split("/")[-1], self._wire.hear(versioned(topic))) for topic in topics.HEARD]
        self._tellers = {topic.name: self._wire.tell(versioned(topic)) for topic in topics.TOLD}

    def close(self) -> None:
        """Leave the topics."""
        self._wire.close()
        self._heard, self._tellers = [], {}

    def poll(self) -> None:
        """Read new messages, and look for other nodes on the topics."""
        now_s = self.clock()
        for kind, mailbox in self._heard:
            for message, _ in mailbox.take():
                self.state.take[kind](message, now_s)
        if self._heard and (found := self._wire.look(now_s)) is not None:
            self._busy = found

    def target(self, reference: Reference) -> None:
        """Track a reference; first prove that the adapter is alive."""
        if self.state.begins_m is None:
            return
        ned = self.in_ned(reference)
        self._tell(topics.OFFBOARD.name, position=True)
        self._tell(
            topics.SETPOINT.name,
            position=np.asarray(ned.pos_m - self.state.begins_m, np.float32),
            velocity=np.asarray(ned.vel_m_s, np.float32),
            acceleration=np.asarray(ned.accel_m_s2, np.float32),
            jerk=np.full(3, np.nan, np.float32),
            yaw=float(ned.yaw_rad),
            yawspeed=float(ned.yaw_rate_rad_s),
        )

    def set_mode(self, mode: int) -> None:
        """Ask for a mode by its `custom_mode`."""
        self.command(DO_SET_MODE, CUSTOM, *PX4_DDS.set_mode(mode))

    def take_off(self, lift_m: float) -> None:
        """Nothing: set-points take PX4 off the ground."""

    def command(self, number: int, *values: float) -> None:
        """Send a command to the autopilot."""
        numbers = {f"param{index + 1}": float(value) for index, value in enumerate(values)}
        whose = {"target_system": self.state.system, "target_component": 1}
        ours = {"source_system": US[0], "source_component": US[1], "from_external": True}
        self._tell(topics.COMMAND.name, command=number, **numbers, **whose, **ours)

    def _tell(self, name: str, **fields: object) -> None:
        if name in self._tellers:
            stamp_us = self._wire.node.get_clock().now().nanoseconds // 1000
            self._tellers[name].publish(self._kinds[name](timestamp=stamp_us, **fields))
