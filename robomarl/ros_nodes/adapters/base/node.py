"""`base_node`: drives TurtleBots and other bases that take a Twist, for their policy nodes. A lifecycle node.

- configure: the bases' wheels and their localization become `NAME/odometry`; nothing is sent.
- activate: `NAME/command` becomes `NAME/cmd_vel`, through the watch (`robomarl.ros_nodes.adapters.base.watch`).
- deactivate: bases stop. Services `NAME/vehicle/stop` and `NAME/vehicle/reset`.

It runs next to the base, on its own computer if it can: what happens when commands stop happens here.
"""

import sys
import threading
from functools import partial

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from robomarl.config import UserError
from robomarl.ros_nodes import status_messages, topics
from robomarl.ros_nodes.adapters.base.seat import BaseSeat, seats
from robomarl.ros_nodes.adapters.base.watch import BaseState
from robomarl.ros_nodes.io.node_base import Mailbox, now_s, publisher, run_node
from robomarl.ros_nodes.parameters import declare, read
from robomarl.ros_nodes.settings import BaseSettings
from robomarl.ros_nodes.timing.rate_timer import Beat, Ticker

TICK_S = 0.01


class BaseNode(LifecycleNode):
    """All bases of a team, or one."""

    def __init__(self) -> None:
        """Declare the parameters; with `autostart` go on at once."""
        super().__init__("base_node")
        declare(self, BaseSettings)
        self.failed, self._active, self._pressed, self._ticker = False, False, False, None
        self._seats: list[BaseSeat] = []
        self._told: dict[str, BaseState] = {}
        self._lock = threading.Lock()
        if read(self, BaseSettings).autostart:
            if self.trigger_configure() is not TransitionCallbackReturn.SUCCESS:
                raise UserError("base_node was not configured; its log says why.")
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Listen to the bases; nothing is sent."""
        settings = read(self, BaseSettings)
        try:
            self._seats = seats(self, settings)
        except UserError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        for seat in self._seats:
            for order in ("stop", "reset"):
                name = f"{settings.base}/{seat.name}/vehicle/{order}"
                self.create_service(Trigger, name, partial(_on_order, seat, order == "stop"))
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
        """Commands don't count: the bases stop."""
        self._active = False
        return super().on_deactivate(state)

    def destroy_node(self) -> None:
        """Stop the bases first."""
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = None
            for seat in self._seats:
                seat.leave()
        super().destroy_node()

    def _tick(self, beat: Beat) -> None:
        with self._lock:
            for pressed, _ in self._estop.take():
                self._pressed = pressed
            for seat in self._seats:
                state, why = seat.tick(self._active, self._pressed)
                if self._told.get(seat.name) is not state:
                    self._told[seat.name] = state
                    self.get_logger().info(f"{seat.name}: {state}" + (f": {why}" if why else ""))

    def _report(self) -> None:
        for seat in self._seats:
            seat.look_around()
        entries = [seat.entry() for seat in self._seats]
        self._said_how.publish(status_messages.diagnostics_from(entries, now_s(self)))

    def _died(self, error: BaseException) -> None:
        """A tick raised what nobody expected: the process ends, and the base's own time-out stops it."""
        if self.context.ok():
            self.get_logger().fatal(f"the adapter failed: {type(error).__name__}: {error}")
            self.failed = True
            self.context.try_shutdown()


def _on_order(seat: BaseSeat, stop: bool, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    seat.stopped = stop
    response.success = True
    return response


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl base_node`."""
    return run_node(BaseNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
