"""`policy_node`: flies one robot with its bundle. A lifecycle node in the robot's namespace.

- configure: read the bundle, check hashes and golden values on this machine, warm up. From then on
  the robot announces itself and broadcasts its position to its team; it sends no command.
- arm, then activate (services, or the lifecycle's transition): only if every input is there and
  fresh, the team carries one bundle, and the E-stop's heartbeat is received. Never by itself,
  unless the operator set `autostart`; then once.
- tick, at the bundle's rate: messages -> view -> policy -> safety filter -> command.
- hold, land, stop, reset, estop: services. `state_machine` has all states and the transitions
  between them.

One thread does it all; see `loop`.
"""

import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from rclpy.exceptions import InvalidHandle
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.fleet.health.node_status import NodeStatus
from robomarl.fleet.health.trial import FlashTrial
from robomarl.ros.io.node_base import run_node, tidy_memory
from robomarl.ros.io.publications import ANNOUNCE_S, Reporter
from robomarl.ros.io.robot_folder import RobotFolder
from robomarl.ros.io.subscriptions import Subscriptions
from robomarl.ros.parameters import declare, read
from robomarl.ros.recording.tick_record import Timing
from robomarl.ros.robot.assembly import AssembledRobot, assemble
from robomarl.ros.robot.autopilot import Autopilot
from robomarl.ros.robot.decision import Decision
from robomarl.ros.robot.inbox import Problem
from robomarl.ros.robot.startup import Loaded, load_pilot
from robomarl.ros.robot.state_machine import MOVING, Order, State
from robomarl.ros.settings import PolicySettings
from robomarl.ros.timing.clocks import NodeClock
from robomarl.ros.timing.control_loop import Loop
from robomarl.ros.timing.failed import told
from robomarl.ros.timing.metronome import Beat
from robomarl.ros.timing.priority import real_time


class PolicyNode(LifecycleNode):
    """One robot's policy, filter and radio."""

    _radio: Subscriptions
    _autopilot: Autopilot
    _reporter: Reporter
    _robot: AssembledRobot
    _robot_folder: RobotFolder

    def __init__(self) -> None:
        """Declare the parameters; nothing else happens before `configure`."""
        super().__init__("policy_node")
        self.loop = Loop(self, self._tick, self._died, self._between)
        self._configured = self._wants_start = self._is_active = False
        declare(self, PolicySettings)
        self._trial, self._ticks = FlashTrial(self), 0
        self._meet_flashers()
        self._refusal = ""
        self._times = NodeClock(self)
        self._fatal, self._tells = "", self.create_timer(ANNOUNCE_S, self._tell_fatal, autostart=False)
        for order in Order:
            self.create_service(Trigger, order.value, partial(self._on_order, order))

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load, check, warm up; then begin to listen and to tell the team where this robot is."""
        settings = read(self, PolicySettings)
        try:
            loaded = load_pilot(settings, self._trial.on_trial)
            self._prepare(settings, loaded)
        except Exception as error:  # whatever is in a bundle, the node stays, and says why
            self._trial.problem = told(error)
            self.get_logger().error(self._trial.problem)
            return TransitionCallbackReturn.FAILURE
        tidy_memory()
        self._begin()
        self.get_logger().info(f"bundle {loaded.name} {loaded.id[:12]} is ready at {loaded.rate_hz:g} Hz.")
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to move if the robot is armed, every input is fresh, and no other node commands it."""
        rivals = [*self._radio.doubles(), *self._radio.rivals()]
        refusal = "; ".join(map(str, rivals)) or self._robot_folder.lock(self.get_fully_qualified_name())
        if not refusal and (refusal := self._autopilot.order(Order.ACTIVATE, self._times.now())):
            self._robot_folder.unlock()
        self._refusal = refusal
        if refusal:
            self.get_logger().error(f"not activated: {refusal}.")
            return TransitionCallbackReturn.FAILURE
        self._is_active, self._wants_start = True, False
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """No command after this returns."""
        if self._autopilot.state in MOVING:
            self._autopilot.order(Order.STOP, self._times.now())
        self._is_active = False
        self._robot_folder.unlock()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the bundle."""
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """Stop ticking first."""
        self._release()
        self._trial.close()
        super().destroy_node()

    def _prepare(self, settings: PolicySettings, loaded: Loaded) -> None:
        self._robot = assemble(settings, loaded)
        self._autopilot = self._robot.autopilot
        self._radio = Subscriptions(self, settings, self._robot.inputs)
        try:
            self._reporter = Reporter(self.get_fully_qualified_name(), self._robot, self._radio, self._besides)
        except Exception:  # a node that is configured again must not find its own publishers of before
            self._radio.close()
            raise
        self._robot_folder = RobotFolder(settings.robot_root, loaded.id, not settings.bundle)
        if self._robot_folder.estop.pressed:
            self._autopilot.latch()
        self._wants_start = settings.autostart and not self._trial.turns  # nobody flies because he was flashed
        self._configured, self._ticks = True, 0

    def _begin(self) -> None:
        """Tick from now on."""
        self._fatal = ""
        self._tells.cancel()
        self.loop.begin(1 / self._robot.loaded.rate_hz, self._radio.own.subscription)

    def _tick(self, beat: Beat) -> None:
        """Run one control period: messages -> view -> policy -> safety filter -> command."""
        start = time.perf_counter()
        self._ticks += 1
        now, jump_s = self._times.tick()
        if jump_s:
            self._robot.inputs.inbox.clock_jumped()
            self.get_logger().warning(f"the clock jumped by {jump_s:.3f} s; stamps of before don't count.")
        if self._times.slip_s:
            self._autopilot.clock_jumped(self._times.slip_s)
        self._radio.receive(now)
        before = self._autopilot.state
        decision = self._autopilot.tick(now)
        sensor_s = self._reporter.send(decision, now.stamp_s)
        latency_us, pilot_us = (time.perf_counter() - start) * 1e6, self._autopilot.pilot_s * 1e6
        late_us, sensor_us = beat.late_s * 1e6, sensor_s * 1e6
        timing = Timing(now.stamp_s, late_us, latency_us, pilot_us, sensor_us, beat.skipped, self._ticks)
        self._report(decision, timing)
        if self._autopilot.state != before or self._robot_folder.estop.problem:
            self._changed()

    def _report(self, decision: Decision, timing: Timing) -> None:
        for is_bad, line in self._reporter.note(decision, timing, self._times.now()):
            if is_bad:  # one call for each level: rclpy ties a line of source to a level
                self.get_logger().error(line)
            else:
                self.get_logger().info(line)
        if self._wants_start and self._autopilot.state is State.READY:
            self._wants_start = False
            if not self._autopilot.order(Order.ARM, self._times.now()):
                self.trigger_activate()

    def _besides(self) -> list[Problem]:
        """Return the problems besides those of the inputs."""
        disk, radio = self._robot_folder.estop.problem, self._radio
        found = [Problem("disk", disk)] if disk else []
        return [*found, *radio.doubles(), *radio.rivals(), *radio.goal_rivals(), *radio.unheard()]

    def _changed(self) -> None:
        """The autopilot changed its state by itself: lifecycle and E-stop's latch follow."""
        self._robot_folder.estop.hold(self._autopilot.state is State.ESTOP)
        if self._is_active and self._autopilot.state not in MOVING:
            self.trigger_deactivate()

    def _on_order(self, order: Order, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """An operator asks for something."""
        response.message = self._obey(order) if self._configured else "is not configured"
        response.success = not response.message
        if order is Order.PREPARE:  # the monitor says what comes of it
            return response
        if response.message:
            self.get_logger().error(f"{order} refused: {response.message}.")
        else:
            self.get_logger().info(f"{order}: {self._autopilot.state.name}.")
        return response

    def _obey(self, order: Order) -> str:
        """Carry an order out; returns why not."""
        now = self._times.now()
        self._radio.receive(now, pictures=False)  # the monitor's release of the E-stop, say, came before the order
        if order is Order.ACTIVATE and not self._is_active:
            self.trigger_activate()
            return self._refusal
        refusal = self._hindrance(order) or self._autopilot.order(order, now)
        self._changed()
        if self._fatal and order is Order.RESET and not refusal:
            self._begin()
        return refusal

    def _hindrance(self, order: Order) -> str:
        """Return why the robot may not arm or move, besides the autopilot's own conditions; "" if it may."""
        if order not in (Order.ARM, Order.PREPARE):
            return ""
        rivals = [*self._radio.doubles(), *self._radio.rivals()] if order is Order.PREPARE else self._radio.rivals()
        return self._robot_folder.problem() or "; ".join(map(str, rivals))

    def _meet_flashers(self) -> None:
        """Take part in flashes; a node without a robot's folder, or with another bundle than the flashed one, does
        not.
        """
        root = str(self.get_parameter("robot_root").value or "")
        if root and not self.get_parameter("bundle").value:
            try:
                self._trial.begin(Path(root))
            except UserError as error:
                self.get_logger().error(str(error))

    def _between(self) -> None:
        """Report the robot's status to a program that flashes it, and go along with a switch of its bundle."""
        self._trial.attend(self._status(), may_turn=not self._is_active)

    def _status(self) -> NodeStatus:
        """Return the node's status for programs without ROS."""
        if not self._configured:
            return NodeStatus()
        return NodeStatus(self._robot.loaded.id, "", self._autopilot.state.name, self._ticks, self._fatal)

    def _died(self, error: BaseException) -> None:
        """Stop commands after an unexpected error in a tick: the vehicle then looks after itself.

        The node goes on to report the error, and an operator's reset lets it tick again.
        """
        if not self.context.ok():
            return  # we were told to stop, and a message was on its way out
        self._fatal = f"tick failed, no more commands until reset: {told(error)}"
        self.get_logger().fatal(self._fatal)
        self._autopilot.order(Order.STOP, self._times.now())
        self._changed()
        self._tell_fatal()
        self._tells.reset()

    def _tell_fatal(self) -> None:
        """Publish announcement and diagnostics of a robot after its loop has ended."""
        self._radio.receive(self._times.now())
        self._reporter.tell_stopped(self._fatal, self._times.now().stamp_s)

    def _release(self) -> None:
        self.loop.end()
        with suppress(InvalidHandle):  # when the context is down already
            self._tells.cancel()
        if self._configured:
            self._radio.close()
            self._robot_folder.unlock()
        self._configured = False


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl policy_node`."""
    return run_node(PolicyNode, args, urgent=True, run=_run)


def _run(node: PolicyNode) -> None:
    node.loop.prefer = real_time
    node.loop.run()


if __name__ == "__main__":
    sys.exit(main())
