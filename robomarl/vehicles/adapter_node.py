"""`AdapterNode`: a lifecycle node that ticks, between robots' vehicles or sensors and their policy
nodes.

- configure: it subscribes, publishes, ticks, and reports to `/diagnostics` once a second; it sends
  vehicles nothing.
- activate and deactivate: commands that it receives count, or do not.
"""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Generic, Protocol, TypeVar

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.ros import status_messages, topics
from robomarl.ros.intake.entry import intake_entry
from robomarl.ros.intake.estop_listener import EstopListener
from robomarl.ros.io.node_base import now_s, publisher
from robomarl.ros.parameters import declare, read
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.robot.heartbeat import Presses
from robomarl.ros.timing.failed import told
from robomarl.ros.timing.rate_timer import Beat, Ticker
from robomarl.ros.timing.steady import steady_now_s


class AdapterSettings(Protocol):
    """Parameters that all adapters have."""

    @property
    def autostart(self) -> bool:
        """Configure and activate by itself."""
        ...

    @property
    def base(self) -> str:
        """Namespace of the team."""
        ...


S = TypeVar("S", bound=AdapterSettings)
"""The parameters of an adapter."""


class AdapterNode(LifecycleNode, Generic[S]):
    """For all robots of a team, or one."""

    tick_s = 0.01

    def __init__(self, name: str, settings: type[S]) -> None:
        """Declare the parameters, fields of `settings`; an adapter's own constructor ends with `begin`."""
        super().__init__(name)
        self._settings_type = settings
        declare(self, settings)
        self.failed, self._active, self._ticker = False, False, None
        self.pressed = False  # the E-stop: an adapter that is configured again has not forgotten it
        self._lock = threading.Lock()
        self._noted: dict[str, str] = {}

    def prepare(self, settings: S) -> None:
        """Prepare the node before its first tick.

        Raises:
            UserError: a setting is wrong, or a needed package is not installed.
        """
        raise NotImplementedError

    def tick(self) -> None:
        """Run one tick: every `tick_s`, from configure on, and never two at a time."""
        raise NotImplementedError

    def entries(self) -> list[DiagnosticEntry]:
        """For `/diagnostics`, once a second."""
        raise NotImplementedError

    def begin(self) -> None:
        """Configure and activate, if `autostart` is set."""
        if read(self, self._settings_type).autostart:
            if self.trigger_configure() is not TransitionCallbackReturn.SUCCESS:
                raise UserError(f"{self.get_name()} was not configured; its log says why.")
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Prepare, and tick."""
        self.stop_ticking()  # of an adapter that is configured again
        try:
            self.prepare(read(self, self._settings_type))
        except UserError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._said_how = publisher(self, topics.DIAGNOSTICS, topics.DIAGNOSTICS.name)
        self._reports = self.create_timer(1.0, self._report)
        self._ticker = Ticker(self.tick_s, self._tick, self._died)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let received commands count from now on."""
        self._active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """It counts no more."""
        self._active = False
        return super().on_deactivate(state)

    def stop_ticking(self) -> bool:
        """End ticks and reports; whether there were any."""
        if self._ticker is None:
            return False
        self._ticker.stop()
        self._ticker = None
        self.destroy_timer(self._reports)
        return True

    def note(self, robot: str, state: str, why: str, grave: bool = False) -> None:
        """Log the state of a robot's vehicle when it changes; as an error if it is grave."""
        if self._noted.get(robot) == state:
            return
        self._noted[robot] = state
        text = f"{robot}: {state}" + (f": {why}" if why else "")
        if grave:
            self.get_logger().error(text)
        else:
            self.get_logger().info(text)

    def _tick(self, beat: Beat) -> None:
        with self._lock:
            self.tick()

    def _report(self) -> None:
        heard = intake_entry(self)
        entries = [*self.entries(), *([heard] if heard else [])]
        self._said_how.publish(status_messages.diagnostics_from(entries, now_s(self)))

    def _died(self, error: BaseException) -> None:
        """End the process after an unexpected error in a tick: the vehicles' own time-outs then act."""
        if self.context.ok():
            self.get_logger().fatal(f"the adapter failed: {told(error)}")
            self.failed = True
            self.context.try_shutdown()


def offer_orders(node: Node, vehicle: str, orders: Mapping[str, Callable[[], None]]) -> None:
    """Offer a service for each order to a vehicle.

    Args:
        node: has the services.
        vehicle: namespace of the team, and the robot's name below it.
        orders: function that carries out each order, by the service's last name.
    """

    def answer(act: Callable[[], None], request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        act()
        response.success = True
        return response

    for name, act in orders.items():
        node.create_service(Trigger, f"{vehicle}/vehicle/{name}", partial(answer, act))


class EStop:
    """The team's E-stop, as the monitor said it last, and presses of anybody else."""

    def __init__(self, node: AdapterNode, base: str) -> None:
        """Listen; not pressed before anything was ever heard."""
        self._listener, self._presses = EstopListener(node, base), Presses()
        self._node = node
        self._said = node.pressed
        """State of the E-stop in the monitor's latest message: True while it is pressed."""

    def is_pressed(self) -> bool:
        """Now."""
        now_s = steady_now_s()
        for word in self._listener.take():
            if word.is_heartbeat:
                self._said = word.pressed
            else:
                self._presses.hear(word.sender, word.pressed, now_s)
        self._node.pressed = self._said or self._presses.hold(now_s)
        return self._node.pressed
