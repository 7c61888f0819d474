"""`mocap_node`: poses without velocity, of motion capture or an estimator, become `NAME/odometry`. A lifecycle node.

- configure: subscribe; poses are tracked and judged, `/diagnostics` says how each body is seen.
- activate: `NAME/odometry` of the bodies that are seen well, at the stamps of their poses; with tf2_msgs also `/tf`.

A body that jumps, is lost, is exchanged with another or can't be where its poses say has no odometry: the robot's rule
for stale odometry acts. Service `NAME/mocap/reset`: an operator has seen that the name is the robot's.
"""

import sys
from dataclasses import replace
from typing import Literal, cast

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.publisher import Publisher
from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros import convert, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.fast_messages import OdometryWriter
from robomarl.ros.io.messages import Estimate, Message
from robomarl.ros.io.node_base import message_class, now_s, publisher, run_node
from robomarl.ros.robot.health import OK, WARN, DiagnosticEntry
from robomarl.ros.robot.jumps import Reach
from robomarl.ros.settings import MocapSettings
from robomarl.ros.topics import Topic
from robomarl.ros.vehicle_topics.mocap import RESET, topics_of
from robomarl.vehicles.adapter_node import AdapterNode
from robomarl.vehicles.corrected.corrector import refuse_corrector
from robomarl.vehicles.mocap.frame_judge import FrameJudge
from robomarl.vehicles.mocap.motion_filter import PoseNoise
from robomarl.vehicles.mocap.robot_words import RobotWords
from robomarl.vehicles.mocap.sensed import FLOWN, Quality, TrackRules
from robomarl.vehicles.mocap.sources import Mounting, NamedPose, poses_of
from robomarl.vehicles.mocap.team import PERIOD_S, TeamTracks, tracked_as

WAITS = 20
"""Messages that may wait for one tick: one machine's cameras send in bursts."""
IMU = Topic("", "sensor_msgs/msg/Imu", False, False, 5, "", "", "gyroscope and accelerometer",
            ("angular_velocity", "linear_acceleration"))  # fmt: skip


class TrackedBody:
    """One robot: its track, and the messages about it."""

    def __init__(
        self, node: LifecycleNode, names: tuple[str, str], settings: MocapSettings, tracks: TeamTracks, flies: bool
    ) -> None:
        """Publish; subscribe to the robot's own topics, and to its inertial unit if it has one.

        Args:
            node: node that publishes and subscribes.
            names: its name in motion capture, and that of the robot.
            settings: settings of the node.
            tracks: tracks of the team.
            flies: True if it is no vehicle that drives.
        """
        (self._body, self.name), self._tracks, self._need_imu = names, tracks, settings.need_imu
        name = self.name
        self._words = RobotWords(node, name, settings.base, flies)
        self._resets = node.create_service(Trigger, f"{settings.base}/{name}/{RESET}", self._on_reset)
        self._is_reset, self._node = False, node
        own = topics.ODOMETRY
        self._odometry, self._write = publisher(node, own, own.of(name, settings.base)), OdometryWriter(name)
        self.judge = FrameJudge()
        where = f"{settings.base}/{name}/{settings.imu}"
        self._imu = Mailbox(node, IMU, where, lambda message: message) if settings.imu else None
        self._felt: Message = None
        self._told = Quality.WAITING

    def take(self, pose: NamedPose, at_s: float, active: bool) -> tuple[Estimate, float] | None:
        """Take a new pose; return the published estimate and its stamp, None if nothing was published."""
        estimate, stamp_s = self._tracks.take(self._body, pose.pose, at_s), pose.pose.stamp_s
        if estimate is None:
            return None
        self._feel(estimate, stamp_s)
        if self.problem or not active:
            return None
        self._odometry.publish(self._write(estimate, stamp_s))
        return estimate, stamp_s

    def listen(self) -> None:
        """Take new messages of its robot and orders of an operator."""
        if self._is_reset:
            self._is_reset = False
            self._tracks.reset(self._body)
        self._words.tell(self._tracks, self._body)

    def distrust(self, why: str) -> None:
        """A pose has come that is not one of this body."""
        self._tracks.distrust(self._body, why)

    def destroy(self) -> None:
        """Listen no more."""
        self._words.destroy()
        self._node.destroy_service(self._resets)

    @property
    def problem(self) -> str:
        """Contradiction of the inertial unit to the poses; "" if there is none."""
        if self._need_imu and not self.judge.over and not self.judge.problem:
            return f"turn and tilt it by hand; not seen yet: {', '.join(self.judge.unjudged)}"
        return self.judge.problem

    def news(self, at_s: float) -> str:
        """A line for the log where its quality has changed; "" where not."""
        status = self._tracks.status(self._body, at_s)
        before, self._told = self._told, status.quality
        return "" if before is self._told else f"{self.name}: {before} -> {status.quality}: {status.why or 'ok'}"

    def entry(self, at_s: float) -> DiagnosticEntry:
        """For `/diagnostics`."""
        status = self._tracks.status(self._body, at_s)
        quality = Quality.IMPLAUSIBLE if self.judge.problem else status.quality
        why = self.problem or status.why
        level = OK if quality is Quality.GOOD and not why else WARN
        values = {
            "quality": str(quality),
            "age_s": f"{status.age_s:.3f}",
            "rate_hz": f"{status.rate_hz:.1f}",
            "speed_error_m_s": f"{status.speed_error_m_s:.3f}",
            "poses_refused": str(self._tracks.refused(self._body)),
            "flown": "yes" if quality in FLOWN and not self.problem else "no",
        }
        values |= {"unjudged": ", ".join(self.judge.unjudged)} if self._imu is not None else {}
        return DiagnosticEntry(f"{self.name}/mocap", level, f"{quality}: {why or 'ok'}", values)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._is_reset = response.success = True
        return response

    def _feel(self, estimate: Estimate, stamp_s: float) -> None:
        if self._imu is None:
            return
        felt = self._felt = self._imu.latest() or self._felt
        if felt is not None:
            rates, force = convert.xyz_of(felt.angular_velocity), convert.xyz_of(felt.linear_acceleration)
            self.judge.take(estimate, stamp_s, rates, force)


class MocapNode(AdapterNode[MocapSettings]):
    """All bodies of a team; while it is active there is odometry."""

    tick_s = PERIOD_S

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("mocap_node", MocapSettings)
        self._bodies: dict[str, TrackedBody] = {}
        self._boxes: list[tuple[str, Mailbox]] = []
        self.begin()

    def prepare(self, settings: MocapSettings) -> None:
        """Subscribe and track."""
        self._settings, names = settings, named(settings)
        self._mounting = mounting_of(settings)
        sources = topics_of(settings.source, settings.topic, names)
        rules, reach = tracking_of(settings)
        tracks, flies = TeamTracks(names, rules, reach), not reach.planar
        whose = names if settings.source == "pose" else ("",)
        robots = zip(names, settings.team, strict=True)
        self._bodies = {pair[0]: TrackedBody(self, pair, settings, tracks, flies) for pair in robots}
        boxes = zip(whose, sources, strict=False)
        self._boxes = [(body, Mailbox(self, topic, name, list_poses, WAITS)) for body, (name, topic) in boxes]
        self._tf = self._transforms() if settings.tf and settings.source != "tf" else None

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget all tracks."""
        self.stop_ticking()
        for _, box in self._boxes:
            box.destroy()
        for tracked in self._bodies.values():
            tracked.destroy()
        self._bodies, self._boxes = {}, []
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """End the ticks first."""
        self.stop_ticking()
        super().destroy_node()

    def _transforms(self) -> Publisher | None:
        """Publisher of `/tf`; None where its type is not installed."""
        try:
            return publisher(self, replace(topics.TF, reliable=True), topics.TF.name)  # tf listeners want it so
        except ModuleNotFoundError:
            self.get_logger().info("tf2_msgs is not installed: no /tf")
            return None

    def tick(self) -> None:
        """Take the messages since the last tick."""
        for tracked in self._bodies.values():
            tracked.listen()
        for body, box in self._boxes:
            for poses, _ in box.take():
                self._take(body, poses)
        for tracked in self._bodies.values():
            if line := tracked.news(now_s(self)):
                self.get_logger().info(line)

    def entries(self) -> list[DiagnosticEntry]:
        """How each body is seen."""
        return [tracked.entry(now_s(self)) for tracked in self._bodies.values()]

    def _take(self, body: str, poses: list[NamedPose]) -> None:
        at_s, settings, moved = now_s(self), self._settings, []
        for pose in poses:
            tracked = self._bodies.get(body or pose.name)
            if tracked is None:
                continue
            other = settings.frame and pose.frame != settings.frame
            frame = f"poses are in {pose.frame!r}, and frame = {settings.frame!r}" if other else ""
            if why := frame or pose.problem:
                tracked.distrust(why)
                continue
            stamp_s = at_s if settings.stamps == "arrival" else pose.pose.stamp_s
            stamp_s = stamp_s - settings.latency_s if settings.latency_s else stamp_s  # with its nanoseconds
            placed = self._mounting.in_map(pose.pose._replace(stamp_s=stamp_s))
            told = tracked.take(pose._replace(pose=placed), at_s, self._active)
            if told is not None and self._tf is not None:
                moved.append(transform_from(tracked.name, *told))
        if moved and self._tf is not None:
            self._tf.publish(message_class(topics.TF.type)(transforms=moved))


def list_poses(message: Message) -> list[NamedPose]:
    """For `Mailbox`: all or none of a message."""
    return list(poses_of(message))


def named(settings: MocapSettings) -> tuple[str, ...]:
    """Return the name of each robot in motion capture.

    Raises:
        UserError: there is not one name for each.
    """
    bodies = tuple(body for body in settings.bodies if body) or settings.team
    if len(bodies) != len(settings.team) or len(set(bodies)) < len(bodies):
        raise UserError(f"mocap_node: bodies must name each of the {len(settings.team)} robots once, in their order.")
    return bodies


def mounting_of(settings: MocapSettings) -> Mounting:
    """How its frame lies in the map.

    Raises:
        UserError: `axes` or `stamps` is none of those that there are.
    """
    allowed = {"axes": ("z_up", "y_up"), "stamps": ("message", "arrival")}
    for key, words in allowed.items():
        if (value := getattr(settings, key)) not in words:
            raise UserError(f"mocap_node: {key} = {value!r} must be {' or '.join(words)}.")
    axes = cast(Literal["z_up", "y_up"], settings.axes)
    return Mounting(axes, settings.origin_m, settings.yaw_rad)


def tracking_of(settings: MocapSettings) -> tuple[TrackRules, Reach]:
    """Return the rules for accepting a robot's poses, and the reach of its motion.

    Raises:
        UserError: the vehicle file is wrong.
    """
    vehicle = load_any_vehicle(settings.vehicle, settings.estimator)
    refuse_corrector(vehicle, "mocap_node")
    noise = PoseNoise(settings.pose_std_m, settings.pose_std_rad, settings.jerk_m_s2, settings.turn_rad_s)
    return tracked_as(vehicle, noise, settings.lost_s)


def transform_from(robot: str, estimate: Estimate, stamp_s: float) -> TransformStamped:
    """The place of a robot's body for `/tf`."""
    made = TransformStamped(header=convert.header(stamp_s), child_frame_id=f"{robot}/base_link")
    convert.set_xyz(made.transform.translation, estimate.pos_m)
    turn = made.transform.rotation
    turn.w, turn.x, turn.y, turn.z = np.asarray(estimate.quat_wxyz).tolist()
    return made


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl mocap_node`."""
    return run_node(MocapNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
