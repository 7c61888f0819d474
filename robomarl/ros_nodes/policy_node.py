"""`policy_node`: flies one robot with its bundle. A lifecycle node in the robot's namespace.

- configure: read the bundle, check hashes and golden values on this machine, warm up. From then on the robot
  tells its team where it is; it sends no command.
- activate: only if every input is there and fresh and all team-mates carry the same bundle. Never by itself,
  unless the operator set `autostart`; then once.
- tick, at the bundle's rate: inbox -> view -> policy -> filter -> command.
- deactivate: no more commands; the vehicle does what its file says under `on_command_loss`.
"""

import gc
import sys
import threading
import time

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from robomarl.config import UserError
from robomarl.ros_nodes import convert, topics
from robomarl.ros_nodes.autopilot import Autopilot, Decision, Patience
from robomarl.ros_nodes.fallback import Fallback
from robomarl.ros_nodes.health import Health
from robomarl.ros_nodes.inbox import Broadcast, Inbox, InboxLimits, Now
from robomarl.ros_nodes.loading import Loaded, load_pilot
from robomarl.ros_nodes.radio import Radio
from robomarl.ros_nodes.rosnode import declare, now_s, read, run_node
from robomarl.ros_nodes.settings import PolicySettings
from robomarl.ros_nodes.tick import Timing, tick_names, tick_values
from robomarl.ros_nodes.ticker import Beat, Ticker


class PolicyNode(LifecycleNode):
    """One robot's policy, filter and radio."""

    _radio: Radio
    _inbox: Inbox
    _autopilot: Autopilot
    _fallback: Fallback
    _health: Health

    def __init__(self) -> None:
        """Declare the parameters; nothing else happens before `configure`."""
        super().__init__("policy_node")
        declare(self, PolicySettings)
        self._lock = threading.Lock()  # a transition waits for the tick that is running
        self._ticker: Ticker | None = None
        self._is_active = False
        self._wants_start = False
        self._give_up = self.create_guard_condition(self._deactivate_myself)
        self._start = self.create_guard_condition(self._activate_myself)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load, check, warm up; then begin to listen and to tell the team where this robot is."""
        settings = read(self, PolicySettings)
        try:
            loaded = load_pilot(settings)
        except UserError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._prepare(settings, loaded)
        self._wants_start = settings.autostart
        gc.collect()
        gc.freeze()  # what is loaded stays: the collector need not look at it within a tick
        self._ticker = Ticker(1 / loaded.rate_hz, self._tick, self._died)
        self.get_logger().info(f"bundle {loaded.name} {loaded.id[:12]} is ready at {loaded.rate_hz:g} Hz.")
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to fly if every input is there and fresh, and nobody else commands this robot."""
        if rivals := self._radio.rivals():
            self.get_logger().error(f"not activated: {rivals} other publishers of this robot's commands; stop them.")
            return TransitionCallbackReturn.FAILURE
        with self._lock:
            problems = self._autopilot.activate(self._now())
        for problem in problems:
            self.get_logger().error(f"not activated: {problem}.")
        self._is_active, self._wants_start = not problems, self._wants_start and bool(problems)
        return TransitionCallbackReturn.FAILURE if problems else super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """No command after this returns."""
        with self._lock:
            self._autopilot.deactivate()
        self._is_active = False
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
        super().destroy_node()

    def _prepare(self, settings: PolicySettings, loaded: Loaded) -> None:
        params = loaded.pilot.safety.params
        self._fallback = Fallback(params)
        own_age_s, mate_age_s = self._fallback.max_own_age_s, params.safety.max_age_s
        limits = InboxLimits(own_age_s, mate_age_s, params.min_mates > 0, settings.frozen_after_s)
        self._inbox = Inbox(settings.team, settings.index, limits)
        self._inbox.expect_bundle(loaded.id)
        self._autopilot = Autopilot(loaded.pilot, self._inbox, Patience(loaded.max_gap_s, settings.silent_after_s))
        actions = [f.name for f in loaded.pilot.policy.action.fields]
        self._label = ",".join(tick_names(actions, self._inbox.mates))
        self._health = Health(self.get_fully_qualified_name(), loaded.name, loaded.id, loaded.rate_hz)
        self._radio = Radio(self, settings.name, self._inbox)
        self._radio.send(topics.BUNDLE, convert.text_from(loaded.id))

    def _tick(self, beat: Beat) -> None:
        """One control period: what I hear -> what I know -> what I want -> what is safe -> what I send."""
        with self._lock:
            start = time.perf_counter()
            self._radio.receive()
            decision = self._autopilot.tick(self._now())
            self._publish(decision)
            latency_us = (time.perf_counter() - start) * 1e6
            self._report(decision, Timing(now_s(self), beat.late_s * 1e6, latency_us, beat.skipped))

    def _publish(self, decision: Decision) -> None:
        if decision.command is not None:
            self._radio.send(topics.COMMAND, convert.command_from(decision.command, now_s(self), self._radio.robot))
        if (own := self._inbox.own) is None:
            return
        after_s = self._fallback.plan_after_s
        ahead_s = (after_s, after_s + self._fallback.rest_s(decision.plan.vel_m_s))
        said = Broadcast(own.pos_m, own.vel_m_s, decision.plan)
        message = convert.broadcast_from(said, self._inbox.own_stamp_s, self._radio.robot, ahead_s)
        self._radio.send(topics.STATE_AND_PLAN, message)

    def _report(self, decision: Decision, timing: Timing) -> None:
        counts = self._radio.counts()
        values = tick_values(decision, timing, self._autopilot.active, counts)
        self._radio.send(topics.TICK, convert.numbers_from(self._label, values))
        for is_bad, line in self._health.note(decision, self._autopilot, timing):
            if is_bad:  # one call for each level: rclpy ties a line of source to a level
                self.get_logger().error(line)
            else:
                self.get_logger().info(line)
        if self._health.is_due():
            message = convert.diagnostics_from(*self._health.summary(counts), timing.stamp_s)
            self._radio.send(topics.DIAGNOSTICS, message)
        if self._is_active and self._autopilot.gave_up:
            self._give_up.trigger()
        if self._wants_start and not decision.reading.problems:
            self._start.trigger()

    def _deactivate_myself(self) -> None:
        """The autopilot gave up: the state of the node says so too. Only an operator activates it again."""
        if self._is_active:
            self.trigger_deactivate()

    def _activate_myself(self) -> None:
        """The operator asked for it with `autostart`, and every input is fresh."""
        if self._wants_start:
            self.trigger_activate()

    def _died(self, error: BaseException) -> None:
        """A tick raised what nobody expected: without commands the vehicle looks after itself."""
        if not self.context.ok():
            return  # we were told to stop, and a message was on its way out
        self.get_logger().fatal(f"tick failed, no more commands: {type(error).__name__}: {error}")
        self._autopilot.deactivate()
        self._give_up.trigger()

    def _now(self) -> Now:
        return Now(now_s(self), time.monotonic())

    def _release(self) -> None:
        if self._ticker is not None:
            self._ticker.stop()
            self._radio.close()
        self._ticker = None


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl policy_node`."""
    return run_node(PolicyNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
