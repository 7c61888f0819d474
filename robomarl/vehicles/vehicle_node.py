"""`VehicleNode`: a lifecycle node that flies vehicles, with any kind of messages, for their policy
nodes.

- configure: open all links; from then on the vehicles' estimates are `NAME/odometry`.
- activate: `NAME/command` goes to the vehicle, through the guard (`robomarl.vehicles.guard`).
- deactivate: vehicles in the air land. Services `NAME/vehicle/kill` and `NAME/vehicle/reset`.

A vehicle that is not fit (battery, link, firmware, its own checks) has no odometry on the ground:
its robot does not become READY. A vehicle that two adapters fly is not fit either.
"""

from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol

import numpy as np
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from robomarl.core.config import UserError
from robomarl.ros import topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io import fast_messages
from robomarl.ros.io.fast_messages import OdometryWriter
from robomarl.ros.io.node_base import now_s, publisher
from robomarl.ros.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros.timing.steady import Absence, steady_now_s
from robomarl.vehicles.adapter_node import AdapterNode, EStop, S, offer_orders
from robomarl.vehicles.corrected.stream import CorrectedStream
from robomarl.vehicles.guard_terms import AIRBORNE, GuardState, GuardStatus
from robomarl.vehicles.guarded import GuardedVehicle, TickInput, VehicleLink
from robomarl.vehicles.samples import StateSample

UNSUITED = "its policy commands roll and pitch rates, which need torque inversion under them; flash another bundle"
OPEN_S = 2.0
"""A link that is closed is opened again so often."""
FLOWN = topics.command_columns()
"""Acceleration and yaw rate among the six numbers of a command."""
TURNED = [column for column in range(6) if column not in FLOWN]
"""Its roll and pitch rates, which need torque inversion under them."""
LOOP = "attitude"
"""Kind of control under the commands of all vehicles here: their autopilots' attitude controllers."""


class OpenLink(VehicleLink, Protocol):
    """Further interface of a link that the node needs."""

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

    def __init__(
        self,
        node: LifecycleNode,
        name: str,
        link: OpenLink,
        flight: GuardedVehicle,
        kind: str,
        corrected: CorrectedStream | None = None,
    ) -> None:
        """Subscribe and publish.

        Args:
            node: subscribes and publishes.
            name: name of the robot.
            link: connection to its vehicle.
            flight: its guard, which takes the vehicle's own estimates.
            kind: the adapter's name in diagnostics.
            corrected: corrected estimates, which are published in place of the link's; None: the link's are.
        """
        self.name, self.link, self.flight, self._node, self._kind = name, link, flight, node, kind
        self._corrected = corrected
        base = node.get_namespace().rstrip("/")
        own, command = topics.ODOMETRY, topics.COMMAND
        self._odometry, self._write = publisher(node, own, own.of(name, base)), OdometryWriter(name)
        self._commands = Mailbox(node, command, command.of(name, base), fast_messages.command_reader(name))
        self._published: StateSample | None = None
        self._absence = Absence()
        self._opened_s = -OPEN_S
        self.orders: set[str] = set()
        self.rival = self.unsuited = ""
        offer_orders(node, f"{base}/{name}", {order: partial(self.orders.add, order) for order in ("kill", "reset")})

    def tick(self, active: bool, pressed: bool) -> GuardStatus:
        """Hear, decide, send, tell."""
        clock_s = steady_now_s()
        self._absence.look(clock_s)
        if self.link.problem and clock_s - self._opened_s >= OPEN_S:
            self._opened_s = clock_s
            self.link.open()
        orders = self.orders.copy()
        self.orders -= orders  # the services add to this set
        command, waited_s = None, 0.0
        for (sent, _), info in self._commands.take():
            command, waited_s = sent[FLOWN], self._absence.waited_s(info)
            self.unsuited = why_unsuited(sent)
        told = command if active and not self.unsuited else None
        heard = TickInput(told, pressed, "kill" in orders, "reset" in orders, self.rival, waited_s, self.unsuited)
        status = self.flight.tick(heard, clock_s)
        sample = self._corrected.sample if self._corrected else self.link.sample
        if sample is not None and sample is not self._published and not self.flight.unfit:
            age_s = clock_s - sample.heard_s + sample.age_s
            self._odometry.publish(self._write(sample.estimate, now_s(self._node) - max(age_s, 0.0)))
            self._published = sample
        return status

    def look_around(self) -> None:
        """Note another publisher of this robot's odometry: a second adapter."""
        found = self._node.get_publishers_info_by_topic(self._odometry.topic_name)
        ours = f"{self._node.get_namespace().rstrip('/')}/{self._node.get_name()}"
        names = [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in found]
        if ours in names:
            names.remove(ours)  # one of that name is this node
        self.rival = names[0] if names else ""

    def entry(self) -> DiagnosticEntry:
        """For `/diagnostics`."""
        guard, seen = self.flight.guard, self.flight.seen
        why = self.flight.unfit or guard.why or (self._corrected.problem if self._corrected else "")
        level = ERROR if guard.state is GuardState.KILLED else WARN if why else OK
        values = {"link_age_s": f"{seen.link_age_s:.2f}", "pose_age_s": f"{seen.pose_age_s:.2f}"}
        values |= {"inner_loop": LOOP, **self.link.figures()}
        values |= {"corrector": self._corrected.problem or "ok"} if self._corrected else {}
        values |= {"track": self.flight.track.unexplained} if self.flight.track.unexplained else {}
        return DiagnosticEntry(f"{self.name}/{self._kind}", level, f"{guard.state.name}: {why or 'ok'}", values)


class VehicleNode(AdapterNode[S], Generic[S]):
    """All vehicles of one link or radio."""

    def __init__(self, name: str, settings: type[S], seats: Callable[["VehicleNode[S]", S], list[VehicleSeat]]) -> None:
        """Declare the parameters; with `autostart` go on at once.

        Args:
            name: name of the node.
            settings: its parameters.
            seats: (node, settings) -> one seat for each vehicle, its link not open yet; raises `UserError`
                if a setting is wrong, or the software that speaks to the vehicle is not installed.
        """
        super().__init__(name, settings)
        self._make_seats = seats
        self._seats: list[VehicleSeat] = []
        self.begin()

    def prepare(self, settings: S) -> None:
        """Open the links; no vehicle is told to move. Deactivated, the guards hold, and land."""
        self._seats = self._make_seats(self, settings)
        self._estop = EStop(self, settings.base)

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
        self.stop_ticking()
        for seat in self._seats:
            seat.link.close()
        self._seats = []

    def tick(self) -> None:
        """Commands to the vehicles through their guards."""
        pressed = self._estop.is_pressed()
        for seat in self._seats:
            status = seat.tick(self._active, pressed)
            self.note(seat.name, status.state.name, status.why, status.state is GuardState.KILLED)

    def entries(self) -> list[DiagnosticEntry]:
        """How each vehicle is."""
        for seat in self._seats:
            seat.look_around()
        return [seat.entry() for seat in self._seats]


def why_unsuited(sent: np.ndarray) -> str:
    """Return the reason why an attitude controller can't follow the six numbers of a command; "" if it can."""
    return UNSUITED if sent[TURNED].any() else ""


def checked(node: str, key: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a value that there is not.

    Raises:
        UserError: says the values that there are.
    """
    if value not in allowed:
        raise UserError(f"{node}: {key} = {value!r} must be {' or '.join(allowed)}.")
