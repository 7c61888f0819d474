"""`Listener`: hears a team and asks its nodes, and moves nothing."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robomarl.fleet.waiting import Waiting
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.intake.unheard import unheard_publishers
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import now_s, secured
from robomarl.ros.preflight.seen import Box, OdometrySample, RobotSeen, TeamSeen
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.topics import Topic

NAME = "robomarl_preflight"
IMU = Topic("imu", "sensor_msgs/msg/Imu", False, False, 5, "", "", "inertial unit", ("linear_acceleration",))
DISCOVERY_S = 1.5
"""For publishers and subscribers to find each other before anything counts."""
WAITS = 50
"""Messages that may wait for one look."""
POLL_S = 0.01
T = TypeVar("T")


class Listener:
    """All topics of a team. Made by `listening`."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor, team: tuple[str, ...], base: str) -> None:
        """Subscribe.

        Args:
            node: on which.
            executor: of the node.
            team: names of the robots.
            base: namespace of the team.
        """
        self._node, self._executor, self._base = node, executor, base
        self._lost_before = dict.fromkeys(team, 0)
        self.seen = TeamSeen({name: RobotSeen(name) for name in team})
        own, said = topics.ODOMETRY, topics.ANNOUNCE
        self._odometry = {name: self._box(own, name, lambda message: message) for name in team}
        self._announced = {name: self._box(said, name, status_messages.announcement_reader(name)) for name in team}
        self._felt = {name: self._box(IMU, name, lambda m: convert.xyz_of(m.linear_acceleration)) for name in team}
        self._estop = self._box(topics.ESTOP, "", lambda message: message.data)
        self._recording = self._box(topics.RECORDING, "", status_messages.recording_to)
        self._diagnostics = self._box(topics.DIAGNOSTICS, "", status_messages.diagnostics_to)

    def run(self, seconds: float) -> None:
        """Listen for this time [s]."""
        waiting = Waiting(f"messages of {', '.join(self.seen.robots)}", seconds)

        def goes_on() -> bool:
            waiting.look()
            return not waiting.is_over

        self.listen_while(goes_on)
        self._look_around()

    def listen_while(self, condition: Callable[[], bool]) -> None:
        """Listen as long as that is so."""
        while condition():
            self._executor.spin_once(timeout_sec=POLL_S)
            self._hear()

    def forget(self) -> None:
        """Odometry counts from now on."""
        self._hear()
        for robot in self.seen.robots.values():
            robot.odometry.clear()
            robot.force_m_s2.clear()
            robot.refused, robot.lost = "", 0
            self._lost_before[robot.name] = self._odometry[robot.name].count.lost

    def _box(self, topic: Topic, robot: str, convert_it: Callable[[Message], T]) -> Mailbox[T]:
        return Mailbox(self._node, topic, topic.of(robot, self._base), convert_it, WAITS)

    def _hear(self) -> None:
        at_s = now_s(self._node)
        for name, robot in self.seen.robots.items():
            before = self._odometry[name].count.refused
            for message, info in self._odometry[name].take():
                arrived_s = (info.get("received_timestamp") or 0) * 1e-9 or at_s  # it may have waited for this look
                try:
                    estimate, stamp_s = convert.odometry_to(message)
                except convert.MessageError as error:
                    robot.refused = str(error)
                    continue
                robot.odometry.append(OdometrySample(arrived_s, stamp_s, estimate))
            if self._odometry[name].count.refused > before:
                robot.refused = self._odometry[name].refusal
            robot.announced = self._announced[name].latest() or robot.announced
            robot.force_m_s2 += [force for force, _ in self._felt[name].take()]
        for pressed, _ in self._estop.take():
            self.seen.pressed = pressed
        for told, _ in self._recording.take():
            self.seen.recorder = told.text
        for entries, _ in self._diagnostics.take():
            self._note(entries)

    def _note(self, entries: list[DiagnosticEntry]) -> None:
        """Store entries with the robots that they name as a part: /robot_0/policy_node, robot_0/crazyflie."""
        for entry in entries:
            for name in set(entry.name.split("/")) & self.seen.robots.keys():
                self.seen.robots[name].entries[entry.name] = entry

    def _look_around(self) -> None:
        """Store the publishers and nodes that are in the graph."""
        for name, robot in self.seen.robots.items():
            robot.publishers = self._publishers(topics.ODOMETRY.of(name, self._base))
            robot.lost = self._odometry[name].count.lost - self._lost_before[name]
        self.seen.monitors = self._publishers(topics.ESTOP.of("", self._base))
        self.seen.unheard = [
            f"{name}: {why}"
            for name, topic in topics.recorded_topics(tuple(self.seen.robots), False, self._base)
            for why in unheard_publishers(self._node, name, topic).values()
        ]
        names = [f"{space.rstrip('/')}/{name}" for name, space in self._node.get_node_names_and_namespaces()]
        self.seen.nodes = {name: names.count(name) for name in names if not name.rpartition("/")[2].startswith("_")}

    def _publishers(self, topic: str) -> tuple[str, ...]:
        infos = self._node.get_publishers_info_by_topic(topic)
        return tuple(sorted(f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in infos))

    def ask_arenas(self, limit_s: float = 2.0) -> None:
        """Which geofence each policy node was started with."""
        answers = {}
        for name in self.seen.robots:
            service = f"{self._base}/{name}/policy_node/get_parameters"
            client = self._node.create_client(GetParameters, service)
            if client.wait_for_service(timeout_sec=0.2):
                request = GetParameters.Request(names=["arena_low_m", "arena_high_m"])
                answers[name] = client.call_async(request)
        end_s = time.monotonic() + limit_s
        while time.monotonic() < end_s and not all(answer.done() for answer in answers.values()):
            self._executor.spin_once(timeout_sec=POLL_S)
        for name, answer in answers.items():
            if answer.done() and (result := answer.result()) is not None:
                self.seen.robots[name].arena_m = _box_of(result.values)


def _box_of(values: Message) -> Box | None:
    """Both corners, where they were set."""
    corners = [tuple(value.double_array_value) for value in values]
    whole = len(corners) == 2 and all(len(corner) == 3 for corner in corners)
    return (corners[0], corners[1]) if whole and all(abs(x) < 1e6 for corner in corners for x in corner) else None


@contextmanager
def listening(team: tuple[str, ...], base: str, domain_id: int | None) -> Iterator[Listener]:
    """A listener with a ROS context of its own, once it has been discovered.

    Args:
        team: names of the robots.
        base: namespace of the team.
        domain_id: ROS domain; None: the environment's.
    """
    context = rclpy.Context()
    with_domain: dict[str, Any] = {} if domain_id is None else {"domain_id": domain_id}
    no_handlers = SignalHandlerOptions.NO
    secured(lambda: rclpy.init(context=context, signal_handler_options=no_handlers, **with_domain))
    node = secured(lambda: Node(NAME, context=context, start_parameter_services=False))
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        made = Listener(node, executor, team, base)
        made.run(DISCOVERY_S)
        made.forget()
        yield made
    finally:
        executor.shutdown()
        node.destroy_node()
        context.try_shutdown()
