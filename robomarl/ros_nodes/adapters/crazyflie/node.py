"""`crazyflie_node`: flies the Crazyflies of one radio for their policy nodes. A lifecycle node of the team.

- configure: open all links; from then on the vehicles' estimates are `NAME/odometry`.
- activate: `NAME/command` goes to the vehicle, through the guard (`robomarl.ros_nodes.adapters.guard`).
- deactivate: vehicles in the air land. Services `NAME/vehicle/kill` and `NAME/vehicle/reset`.

One process has all vehicles of a radio: cflib shares a Crazyradio within a process only. A vehicle that is not fit
(battery, supervisor, firmware, link) has no odometry on the ground: its robot does not become READY.
"""

import os
import sys
import threading
import time
from functools import partial

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from robomarl.config import UserError
from robomarl.hardware_configs.vehicle import Quadrotor, load_vehicle
from robomarl.ros_nodes import status_messages, topics
from robomarl.ros_nodes.adapters.crazyflie.flight import CrazyflieConfig, GuardedCrazyflie, TickInput
from robomarl.ros_nodes.adapters.crazyflie.link import CrazyflieLink, StateSample
from robomarl.ros_nodes.adapters.crazyflie.uris import check_uris, simulated_uris
from robomarl.ros_nodes.adapters.guard import AIRBORNE, GuardRules, GuardState, GuardStatus
from robomarl.ros_nodes.io import fast_messages
from robomarl.ros_nodes.io.fast_messages import OdometryWriter
from robomarl.ros_nodes.io.node_base import Mailbox, now_s, publisher, run_node
from robomarl.ros_nodes.parameters import declare, read
from robomarl.ros_nodes.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros_nodes.settings import CrazyflieSettings
from robomarl.ros_nodes.timing.rate_timer import Beat, Ticker

TICK_S = 0.01
OPEN_S = 2.0
"""A link that is closed is opened again so often."""
FLOWN = topics.COMMAND_COLUMNS[4]
"""Acceleration and yaw rate among the six numbers of a command."""


class CrazyflieSeat:
    """One vehicle's side of ROS."""

    def __init__(self, node: LifecycleNode, name: str, link: CrazyflieLink, flight: GuardedCrazyflie) -> None:
        """Subscribe and publish."""
        self.name, self.link, self.flight, self._node = name, link, flight, node
        base = node.get_namespace().rstrip("/")
        own, command = topics.ODOMETRY, topics.COMMAND
        self._odometry, self._write = publisher(node, own, own.of(name, base)), OdometryWriter(name)
        self._commands = Mailbox(node, command, command.of(name, base), fast_messages.command_reader())
        self._published: StateSample | None = None
        self._opened_s = -OPEN_S
        self.orders: set[str] = set()
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
        status = self.flight.tick(TickInput(command, pressed, "kill" in orders, "reset" in orders), clock_s)
        sample = self.link.sample
        if sample is not None and sample is not self._published and not self.flight.unfit:
            age_s = clock_s - sample.heard_s
            self._odometry.publish(self._write(sample.estimate, now_s(self._node) - max(age_s, 0.0)))
            self._published = sample
        return status

    def entry(self) -> DiagnosticEntry:
        """For `/diagnostics`."""
        status, guard, seen = self.link.status, self.flight.guard, self.flight.seen
        why = self.flight.unfit or guard.why
        level = ERROR if guard.state is GuardState.KILLED else WARN if why else OK
        values = {"uri": self.link.uri, "link_age_s": f"{seen.link_age_s:.2f}", "pose_age_s": f"{seen.pose_age_s:.2f}"}
        values |= {"volts": f"{status.volts:.2f}", "supervisor": f"{status.bits:#05x}"} if status else {}
        return DiagnosticEntry(f"{self.name}/crazyflie", level, f"{guard.state.name}: {why or 'ok'}", values)

    def _on_order(self, order: str, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.orders.add(order)
        response.success = True
        return response


class CrazyflieNode(LifecycleNode):
    """All Crazyflies of a team."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("crazyflie_node")
        declare(self, CrazyflieSettings)
        self.failed, self._active, self._pressed = False, False, False
        self._seats: list[CrazyflieSeat] = []
        self._lock, self._ticker = threading.Lock(), None
        self._told: dict[str, GuardState] = {}
        if read(self, CrazyflieSettings).autostart:
            if self.trigger_configure() is not TransitionCallbackReturn.SUCCESS:
                raise UserError("crazyflie_node was not configured; its log says why.")
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the links; no vehicle is told to move."""
        settings = read(self, CrazyflieSettings)
        try:
            self._seats = seats(self, settings)
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
        entries = [seat.entry() for seat in self._seats]
        self._said_how.publish(status_messages.diagnostics_from(entries, now_s(self)))

    def _died(self, error: BaseException) -> None:
        """A tick raised what nobody expected: the process ends, and the vehicles look after themselves."""
        if self.context.ok():
            self.get_logger().fatal(f"the adapter failed: {type(error).__name__}: {error}")
            self.failed = True
            self.context.try_shutdown()


def seats(node: LifecycleNode, settings: CrazyflieSettings) -> list[CrazyflieSeat]:
    """One for each vehicle, its link not open yet.

    Raises:
        UserError: a vehicle file, a URI or a mode is wrong, or cflib is not installed.
    """
    vehicle = load_vehicle(settings.vehicle)
    uris, count = settings.uris, len(settings.team)
    if settings.sim:
        uris = simulated_uris(count, int(os.environ.get("ROS_DOMAIN_ID", "0")))
    check_uris(uris, settings.team)
    config = config_of(settings, vehicle)
    made = []
    for name, uri in zip(settings.team, uris, strict=True):
        link = CrazyflieLink(uri, vehicle.body.mass_kg, 1 / settings.rate_hz, settings.cache)
        made.append(CrazyflieSeat(node, name, link, GuardedCrazyflie(link, vehicle, config)))
    return made


def config_of(settings: CrazyflieSettings, vehicle: Quadrotor) -> CrazyflieConfig:
    """How the vehicles are flown.

    Raises:
        UserError: a mode that there is not.
    """
    for key, value, allowed in (
        ("mode", settings.mode, ("full_state", "attitude")),
        ("on_estop", settings.on_estop, ("land", "kill")),
    ):
        if value not in allowed:
            raise UserError(f"crazyflie_node: {key} = {value!r} must be {' or '.join(allowed)}.")
    rules = GuardRules(vehicle.on_command_loss, "kill" if settings.on_estop == "kill" else "land")
    mode = "attitude" if settings.mode == "attitude" else "full_state"
    return CrazyflieConfig(rules, mode, settings.low_v, settings.lift_m, settings.watchdog)


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl crazyflie_node`."""
    return run_node(CrazyflieNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
