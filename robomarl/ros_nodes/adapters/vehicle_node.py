"""`VehicleNode`: a lifecycle node that flies vehicles for their policy nodes, whatever the vehicles' messages.

- configure: open all links; from then on the vehicles' estimates are `NAME/odometry`.
- activate: `NAME/command` goes to the vehicle, through the guard (`robomarl.ros_nodes.adapters.guard`).
- deactivate: vehicles in the air land. Services `NAME/vehicle/kill` and `NAME/vehicle/reset`.

A vehicle that is not fit (battery, link, firmware, its own checks) has no odometry on the ground: its robot does not
become READY. So has one that two adapters fly.
"""

import threading
import time
from functools import partial
from typing import Any, Protocol

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from robomarl.config import UserError
from robomarl.ros_nodes import status_messages, topics
from robomarl.ros_nodes.adapters.guard_terms import AIRBORNE, GuardState, GuardStatus
from robomarl.ros_nodes.adapters.guarded import GuardedVehicle, TickInput, VehicleLink
from robomarl.ros_nodes.adapters.samples import StateSample
from robomarl.ros_nodes.io import fast_messages
from robomarl.ros_nodes.io.fast_messages import OdometryWriter
from robomarl.ros_nodes.io.node_base import Mailbox, now_s, publisher
from robomarl.ros_nodes.parameters import declare, read
from robomarl.ros_nodes.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros_nodes.timing.rate_timer import Beat, Ticker

TICK_S = 0.01
OPEN_S = 2.0
"""A link that is closed is opened again so often."""
FLOWN = topics.command_columns()
"""Acceleration and yaw rate among the six numbers of a command."""


class OpenLink(VehicleLink, Protocol):
    """What the node needs of a link besides."""

    @property
    def problem(self) -> str:
        """Why it is not fit; "" where it is."""
        ...

    def open(self) -> None: ...  # noqa: D102
    def close(self) -> None: ...  # noqa: D102
    def figures(self) -> dict[str, str]:
        """For diagnostics."""
        ...


class VehicleSeat:
    """One vehicle's side of ROS."""

    def __init__(self, node: LifecycleNode, name: str, link: OpenLink, flight: GuardedVehicle, kind: str) -> None:
        """Subscribe and publish; `kind` is the adapter's name in diagnostics."""
        self.name, self.link, self.flight, self._node, self._kind = name, link, flight, node, kind
        base = node.get_namespace().rstrip("/")
        own, command = topics.ODOMETRY, topics.COMMAND
        self._odometry, self._write = publisher(node, own, own.of(name, base)), OdometryWriter(name)
        self._commands = Mailbox(node, command, command.of(name, base), fast_messages.command_reader())
        self._published: StateSample | None = None
        self._opened_s = -OPEN_S
        self.orders: set[str] = set()
        self.rival = ""
        for order in ("kill", "reset"):
            node.create_service(Trigger, f"{base}/{name}/vehicle/{order}", partial(self._on_order, order))

    def tick(self, active: bool, pressed: bool) -> GuardStatus:
        """Hear, decide, send, tell."""
        clock_s = time.monotonic()
        if self.link.problem and clock_s - self._opened_s >= OPEN_S:
            self._opened_s = clock_s
            self.link.open()
        orders, self.orders = self.orders, set()
        latest = self._commands.latest()
        command = latest[0][FLOWN] if latest is not None and active else None
        heard = TickInput(command, pressed, "kill" in orders, "reset" in orders, self.rival)
        status = self.flight.tick(heard, clock_s)
        sample = self.link.sample
        if sample is not None and sample is not self._published and not self.flight.unfit:
            age_s = clock_s - sample.heard_s + sample.age_s
            self._odometry.publish(self._write(sample.estimate, now_s(self._node) - max(age_s, 0.0)))
            self._published = sample
        return status

    def look_around(self) -> None:
        """Who else says where this robot is: a second adapter."""
        found = self._node.get_publishers_info_by_topic(self._odometry.topic_name)
        ours = f"{self._node.get_namespace().rstrip('/')}/{self._node.get_name()}"
        names = [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in found]
        if ours in names:
            names.remove(ours)  # one of that name is this node
        self.rival = names[0] if names else ""

    def entry(self) -> DiagnosticEntry:
        """For `/diagnostics`."""
        guard, seen = self.flight.guard, self.flight.seen
        why = self.flight.unfit or guard.why
        level = ERROR if guard.state is GuardState.KILLED else WARN if why else OK
        values = {"link_age_s": f"{seen.link_age_s:.2f}", "pose_age_s": f"{seen.pose_age_s:.2f}", **self.link.figures()}
        values |= {"track": self.flight.track.unexplained} if self.flight.track.unexplained else {}
        return DiagnosticEntry(f"{self.name}/{self._kind}", level, f"{guard.state.name}: {why or 'ok'}", values)

    def _on_order(self, order: str, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.orders.add(order)
        response.success = True
        return response


class VehicleNode(LifecycleNode):
    """All vehicles of one link or radio."""

    def __init__(self, name: str, settings: type) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__(name)
        self._settings = settings
        declare(self, settings)
        self.failed, self._active, self._pressed = False, False, False
        self._seats: list[VehicleSeat] = []
        self._lock, self._ticker = threading.Lock(), None
        self._told: dict[str, GuardState] = {}
        if read(self, settings).autostart:
            if self.trigger_configure() is not TransitionCallbackReturn.SUCCESS:
                raise UserError(f"{name} was not configured; its log says why.")
            self.trigger_activate()

    def seats(self, settings: Any) -> list[VehicleSeat]:
        """One for each vehicle, its link not open yet.

        Raises:
            UserError: a setting is wrong, or what speaks to the vehicle is not installed.
        """
        raise NotImplementedError

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the links; no vehicle is told to move."""
        settings = read(self, self._settings)
        try:
            self._seats = self.seats(settings)
        except UserError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._estop = Mailbox(self, topics.ESTOP, topics.ESTOP.of("", settings.base), lambda message: message.data)
        self._said_how = publisher(self, topics.DIAGNOSTICS, topics.DIAGNOSTICS.name)
        self._reports = self.create_timer(1.0, self._report)
        self._ticker = Ticker(TICK_S, self._tick, self._died)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """From now on commands count."""
        self._active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Commands don't count: the guards hold, and land."""
        self._active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the links; refused while a vehicle is in the air."""
        if any(seat.flight.guard.state in AIRBORNE for seat in self._seats):
            self.get_logger().error("a vehicle is in the air; deactivate, and wait until it has landed.")
            return TransitionCallbackReturn.FAILURE
        self._close()
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """Close the links first."""
        self._close()
        super().destroy_node()

    def _close(self) -> None:
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = None
        for seat in self._seats:
            seat.link.close()
        self._seats = []

    def _tick(self, beat: Beat) -> None:
        with self._lock:
            for pressed, _ in self._estop.take():
                self._pressed = pressed
            for seat in self._seats:
                self._note(seat.name, seat.tick(self._active, self._pressed))

    def _note(self, name: str, status: GuardStatus) -> None:
        if self._told.get(name) is status.state:
            return
        self._told[name] = status.state
        text = f"{name}: {status.state.name}" + (f": {status.why}" if status.why else "")
        if status.state is GuardState.KILLED:
            self.get_logger().error(text)
        else:
            self.get_logger().info(text)

    def _report(self) -> None:
        for seat in self._seats:
            seat.look_around()
        entries = [seat.entry() for seat in self._seats]
        self._said_how.publish(status_messages.diagnostics_from(entries, now_s(self)))

    def _died(self, error: BaseException) -> None:
        """A tick raised what nobody expected: the process ends, and the vehicles look after themselves."""
        if self.context.ok():
            self.get_logger().fatal(f"the adapter failed: {type(error).__name__}: {error}")
            self.failed = True
            self.context.try_shutdown()


def checked(node: str, key: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a value that there is not.

    Raises:
        UserError: says the values that there are.
    """
    if value not in allowed:
        raise UserError(f"{node}: {key} = {value!r} must be {' or '.join(allowed)}.")
