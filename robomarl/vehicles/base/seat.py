"""`BaseSeat`: one base's side of ROS: its wheels, its localization, commands in, twists out."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.lifecycle import LifecycleNode

from robomarl.core.config import UserError
from robomarl.core.hardware.ground import DifferentialDrive, OmniRobot
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros import convert, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io import fast_messages
from robomarl.ros.io.fast_messages import OdometryWriter
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.io.node_base import message_class, now_s, publisher
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry
from robomarl.ros.settings import BaseSettings
from robomarl.ros.timing.steady import Absence, steady_now_s
from robomarl.ros.topics import Topic
from robomarl.vehicles.base.anchor import MapAnchor, PlanarPose, planar
from robomarl.vehicles.base.drive import BaseDrive
from robomarl.vehicles.base.watch import BaseRules, BaseSighted, BaseState, watched

FREE_S = 1.0
"""Time [s] without a command after which a base may have been put elsewhere."""
STOPS_S = 1.0
"""Time [s] for which a base that no longer drives is told to stop; after that, other nodes may drive it."""
FLOWN = topics.command_columns()
"""Acceleration and yaw rate among the six numbers of a command."""
_POSE = ("header", "pose.pose")  # bases write the largest double into covariances that they do not know
WHEELS = replace(topics.ODOMETRY, name="", frame="", rate="", content="of the wheels, in their own frame")
LOCATED = Topic("", "geometry_msgs/msg/PoseWithCovarianceStamped", False, False, 5, "", "", "of localization", _POSE)
BATTERY = Topic("", "sensor_msgs/msg/BatteryState", False, False, 1, "", "", "of the base", ("voltage",))  # others: NaN
LOCALIZATIONS = ("start", "pose", "tf", "odometry")


class BaseSeat:
    """Memory of one base."""

    def __init__(
        self,
        node: LifecycleNode,
        name: str,
        settings: BaseSettings,
        vehicle: DifferentialDrive | OmniRobot,
        anchor: PlanarPose | None,
    ) -> None:
        """Subscribe and publish.

        Args:
            node: on which.
            name: of the robot.
            settings: of the node.
            vehicle: the vehicle file.
            anchor: of its wheels' frame in the map, where that is known.
        """
        self.name, self._node, self._settings = name, node, settings
        self._frame = settings.odom_frame.replace("{robot}", name)
        own, there = f"{settings.base}/{name}", settings.localization
        self._elsewhere = there == "odometry"
        self._cmd_vel = f"{own}/{settings.cmd_vel}"
        kind = "geometry_msgs/msg/TwistStamped" if settings.stamped else "geometry_msgs/msg/Twist"
        self._twists = publisher(node, Topic("", kind, True, False, 1, "", "", ""), self._cmd_vel)
        self._commands = Mailbox(node, topics.COMMAND, f"{own}/command", fast_messages.command_reader(name))
        self._located: Mailbox | None = None
        if self._elsewhere:
            self._wheels = Mailbox(node, topics.ODOMETRY, f"{own}/odometry", fast_messages.odometry_reader(name))
        else:
            self._wheels = Mailbox(node, WHEELS, f"{own}/{settings.odom}", wheels_to)
            self._odometry = publisher(node, topics.ODOMETRY, f"{own}/odometry")
            self._write = OdometryWriter(name)
        if there == "pose":
            self._located = Mailbox(node, LOCATED, f"{own}/{settings.pose}", located_to)
        elif there == "tf":
            self._located = Mailbox(node, topics.TF, topics.TF.name, partial(anchors_of, frame=self._frame))
        self._power = Mailbox(node, BATTERY, f"{own}/{settings.battery}", _volts) if settings.battery else None
        self._rules = BaseRules(vehicle.on_command_loss.stop_after_s)
        self._drive, self._anchor = BaseDrive(vehicle), MapAnchor(anchor)
        self._absence = Absence()
        self._own: Estimate | None = None
        self._own_s = self._wheels_s = self._command_s = self._drove_s = -math.inf
        self._volts, self._rivals, self.stopped = math.nan, "", False
        self._state, self._why = BaseState.WAITING, "nothing was heard yet"
        self._looked = False  # an operator has, at what localization says

    def tick(self, active: bool, pressed: bool) -> tuple[BaseState, str]:
        """Hear, decide, send."""
        clock_s = steady_now_s()
        self._absence.look(clock_s)
        self._hear(clock_s)
        dt_s, command = clock_s - self._command_s, None
        for (sent, _), info in self._commands.take():
            if active:
                command, self._command_s = sent[FLOWN], clock_s - self._absence.waited_s(info)
        self._command_s = self._command_s if active else -math.inf
        self._looked = self._looked and bool(self._anchor.problem)
        self._anchor.free = self._looked or clock_s - self._command_s > FREE_S
        ages = (clock_s - self._command_s, clock_s - self._wheels_s, clock_s - self._own_s)
        self._state, self._why = watched(BaseSighted(*ages, pressed, self.stopped, self._unfit()), self._rules)
        if self._state is BaseState.DRIVING:
            self._drove_s = clock_s
            if command is not None and self._own is not None:
                self._send(self._drive.follow(command, self._own, dt_s))
        elif clock_s - self._drove_s < STOPS_S or self._state is BaseState.STOPPED:
            self._send(self._drive.rest())
        return self._state, self._why

    def stop(self) -> None:
        """Stand still until `reset`."""
        self.stopped = True

    def reset(self) -> None:
        """An operator has looked at it."""
        self.stopped, self._looked = False, True

    def leave(self) -> None:
        """Stop the base before this node falls silent."""
        if self._drove_s > -math.inf and self._node.context.ok():
            self._send(self._drive.rest())

    def look_around(self) -> None:
        """Note other publishers that drive the base."""
        others = self._node.count_publishers(self._cmd_vel) - 1
        self._rivals = f"{others} others publish {self._cmd_vel}; stop them" if others > 0 else ""

    def entry(self) -> DiagnosticEntry:
        """For `/diagnostics`."""
        level = OK if self._state in (BaseState.DRIVING, BaseState.READY) else WARN
        values = {"state": str(self._state), "localization": self._settings.localization}
        values |= {} if math.isnan(self._volts) else {"volts": f"{self._volts:.2f}"}
        return DiagnosticEntry(f"{self.name}/base", level, f"{self._state}: {self._why or 'ok'}", values)

    def _unfit(self) -> str:
        if self._volts < self._settings.low_v:
            return f"the battery is low: {self._volts:.1f} V, low_v = {self._settings.low_v:g}"
        return self._rivals or ("" if self._elsewhere else self._anchor.problem)

    def _hear(self, clock_s: float) -> None:
        if self._located is not None:
            for told, _ in self._located.take():
                self._locate(told)
        for (estimate, stamp_s), info in self._wheels.take():
            self._wheels_s = clock_s - self._absence.waited_s(info)
            own = estimate if self._elsewhere else self._anchor.drive(estimate, stamp_s)
            if own is None:
                continue
            self._own, self._own_s = own, self._wheels_s
            if not self._elsewhere:
                self._odometry.publish(self._write(own, stamp_s))
        if self._power is not None:
            self._volts = next((volts for volts, _ in self._power.take()), self._volts)

    def _locate(self, told: tuple[PlanarPose, float] | list[PlanarPose]) -> None:
        if isinstance(told, tuple):
            self._anchor.locate(*told)
            return
        for anchor in told:
            self._anchor.anchor_at(anchor)

    def _send(self, twist: np.ndarray) -> None:
        made = Twist()
        made.linear.x, made.linear.y, made.angular.z = twist.tolist()
        if not self._settings.stamped:
            self._twists.publish(made)
            return
        whole = TwistStamped(header=convert.header(now_s(self._node)), twist=made)
        whole.header.frame_id = f"{self.name}/base_link"
        self._twists.publish(whole)


def wheels_to(message: Message) -> tuple[Estimate, float]:
    """Return the odometry of wheels, in any frame, and its stamp [s].

    Raises:
        MessageError: no rotation.
    """
    pose, twist = message.pose.pose, message.twist.twist
    inner = Estimate(
        convert.xyz_of(pose.position), convert.quat_of(pose.orientation), np.zeros(3), convert.xyz_of(twist.angular)
    )
    vel = convert.rotate(inner.quat_wxyz, convert.xyz_of(twist.linear))
    return inner._replace(vel_m_s=vel), convert.stamp_of(message.header)


def located_to(message: Message) -> tuple[PlanarPose, float]:
    """A place in the map, and its stamp [s].

    Raises:
        MessageError: another frame, or no rotation.
    """
    pose = message.pose.pose
    plain = message_class("geometry_msgs/msg/PoseStamped")(header=message.header, pose=pose)
    goal, stamp_s = convert.pose_to(plain)
    return planar(goal.pos_m, goal.quat_wxyz), stamp_s


def anchors_of(message: Message, frame: str) -> list[PlanarPose]:
    """Return the poses at which a message's transforms put a frame in the map; other frames are ignored.

    Raises:
        MessageError: no rotation, or not sound.
    """
    moved = [one for one in message.transforms if one.header.frame_id == topics.FRAME and one.child_frame_id == frame]
    pairs = [(convert.xyz_of(one.transform.translation), convert.quat_of(one.transform.rotation)) for one in moved]
    return [planar(place, quat) for place, quat in pairs]


def _volts(message: Message) -> float:
    return float(message.voltage)


def seats(node: LifecycleNode, settings: BaseSettings) -> list[BaseSeat]:
    """One for each base.

    Raises:
        UserError: the vehicle does not drive, or a parameter is wrong.
    """
    vehicle = load_any_vehicle(settings.vehicle)
    if not isinstance(vehicle, DifferentialDrive | OmniRobot):
        raise UserError(f"base_node: vehicle = {settings.vehicle!r} does not drive; name a differential or omni one.")
    if settings.localization not in LOCALIZATIONS:
        raise UserError(
            f"base_node: localization = {settings.localization!r} must be one of {', '.join(LOCALIZATIONS)}."
        )
    anchors: list[PlanarPose | None] = [None] * len(settings.team)
    if settings.localization == "start":
        if len(settings.starts) != 3 * len(settings.team):
            raise UserError(
                f"base_node: starts has {len(settings.starts)} numbers for {len(settings.team)} bases; "
                "write x, y and yaw of each."
            )
        rows = np.reshape(settings.starts, (-1, 3)).tolist()
        anchors = [PlanarPose(*row) for row in rows]
    pairs = zip(settings.team, anchors, strict=True)
    return [BaseSeat(node, name, settings, vehicle, anchor) for name, anchor in pairs]
