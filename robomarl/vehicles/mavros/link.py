"""`MavrosLink`: one vehicle behind MAVROS: its messages and its commands."""

import math
from collections.abc import Callable
from functools import partial

from rclpy.client import Client
from rclpy.node import Node
from rclpy.publisher import Publisher

from robomarl.core.hardware.sections import CommandLossConfig
from robomarl.ros.convert import set_xyz
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import message_class
from robomarl.ros.vehicle_topics import mavros as topics
from robomarl.ros.vehicle_topics.ros_address import RosAddress
from robomarl.vehicles.autopilot.link import AutopilotLink
from robomarl.vehicles.autopilot.state import ARM_DISARM, BY_FORCE, TAKE_OFF
from robomarl.vehicles.conversion.reference import Reference
from robomarl.vehicles.mavros.vehicle_state import MavrosState
from robomarl.vehicles.ros_wire import RosWire, check_types

MEND = "install ros-$ROS_DISTRO-mavros-msgs and source the distribution"
LOCAL_NED = 1
"""`coordinate_frame` of a PositionTarget; its numbers are in ENU nevertheless."""
ASK_S = 1.0
"""Interval [s] between requests that were not answered."""
INTEGER, REAL = 2, 3
"""ParameterType."""


class MavrosLink(AutopilotLink):
    """One vehicle."""

    state: MavrosState

    def __init__(self, node: Node, address: RosAddress, loss: CommandLossConfig) -> None:
        """Create the link without opening it.

        Args:
            node: subscribes, publishes, calls; an executor has to spin it.
            address: namespace of MAVROS.
            loss: the vehicle file's rules for lost commands.

        Raises:
            UserError: mavros_msgs is not installed.
        """
        check_types([*(topic.type for topic in (*topics.HEARD, *topics.TOLD)), *topics.SERVICES.values()], MEND)
        super().__init__(MavrosState(address.system, loss), address.namespace)
        self._wire = RosWire(node, address.namespace)
        self._heard: list[tuple[str, Mailbox]] = []
        self._clients: dict[str, Client] = {}
        self._target: Publisher | None = None
        self._asked_s = -math.inf

    def open(self) -> None:
        """Subscribe and publish, once."""
        if self._heard:
            return
        self._heard = [(topic.type.split("/")[-1], self._wire.hear(topic)) for topic in topics.HEARD]
        self._target = self._wire.tell(topics.TARGET)
        self._clients = {name: self._wire.client(kind, name) for name, kind in topics.SERVICES.items()}

    def close(self) -> None:
        """Leave the topics."""
        self._wire.close()
        self._heard, self._clients, self._target = [], {}, None

    def poll(self) -> None:
        """Read new messages; ask for the vehicle's identity, and for its parameters on lost commands."""
        now_s = self.clock()
        for kind, mailbox in self._heard:
            for message, _ in mailbox.take():
                self.state.heard_s = now_s
                self.state.take[kind](message, now_s)
        if self._heard and (found := self._wire.look(now_s)) is not None:
            self._busy = found
        if self._clients and now_s - self._asked_s >= ASK_S:
            self._asked_s = now_s
            self._ask()

    def target(self, reference: Reference) -> None:
        """Track a reference; it also proves that the adapter is alive."""
        if self._target is None:
            return
        message = message_class(topics.TARGET.type)(coordinate_frame=LOCAL_NED)
        message.header.stamp = self._wire.node.get_clock().now().to_msg()
        message.header.frame_id = "map"
        set_xyz(message.position, reference.pos_m)
        set_xyz(message.velocity, reference.vel_m_s)
        set_xyz(message.acceleration_or_force, reference.accel_m_s2)
        message.yaw, message.yaw_rate = float(reference.yaw_rad), float(reference.yaw_rate_rad_s)
        self._target.publish(message)

    def set_mode(self, mode: int) -> None:
        """Ask for a mode by its `custom_mode`."""
        autopilot = self.state.autopilot
        if autopilot is not None:
            name = autopilot.mode_name(mode)
            self._call(topics.SET_MODE, lambda answer: self.state.mode_answer(answer.mode_sent), custom_mode=name)

    def arm(self, wanted: bool) -> None:
        """Ask the vehicle to arm or disarm; its next state shows the result."""
        self._call(topics.ARMING, lambda answer: self.state.armed_answer(answer.success, answer.result), value=wanted)

    def kill(self) -> None:
        """Stop the motors at once, wherever it is."""
        self._call(topics.COMMAND, None, command=ARM_DISARM, param1=0.0, param2=float(BY_FORCE))

    def take_off(self, lift_m: float) -> None:
        """Climb so high by itself."""
        self._call(topics.COMMAND, None, command=TAKE_OFF, param4=math.nan, param7=float(lift_m))

    def _ask(self) -> None:
        state = self.state
        if state.autopilot is None:
            self._call(topics.INFO, lambda answer: state.informed(answer.vehicles))
            return
        unsaid = [name for name in state.autopilot.parameters if name not in state.parameters]
        if unsaid:
            self._call(topics.PARAMETERS, partial(self._on_parameters, unsaid), names=unsaid)

    def _on_parameters(self, names: list[str], answer: Message) -> None:
        for name, value in zip(names, answer.values, strict=False):
            if value.type in (INTEGER, REAL):
                number = value.integer_value if value.type == INTEGER else value.double_value
                self.state.said(name, float(number))

    def _call(self, name: str, heard: Callable[[Message], None] | None, **fields: object) -> None:
        client = self._clients.get(name)
        if client is None or not client.service_is_ready():
            return
        done = client.call_async(client.srv_type.Request(**fields))
        if heard is not None:
            done.add_done_callback(lambda future: heard(future.result()) if future.result() is not None else None)
