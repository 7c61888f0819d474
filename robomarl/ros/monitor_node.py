"""`monitor_node`: the operator's access to a team. One for each team.

- `emergency_stop`: publishes ten times a second whether the E-stop is pressed. Robots that do not
  receive it land.
- services `all/ORDER` and `ROBOT/ORDER` (of the robots themselves): arm, prepare, activate, hold,
  land, stop, reset, estop. `all/estop` presses the E-stop at once; `all/reset` releases it.
  `all/activate` has two phases: no robot moves unless all have confirmed within `PREPARE_S` that
  they would. If one fails after that, the robots that were activated land again (those from HOLD
  hold again). If an operator orders all to hold, land or stop meanwhile, they do that.
- `/diagnostics` and `fleet`, the table of the robots, once a second.

A monitor that starts while another one runs ends. Of several that start at once, the first one
stays. One robot's report stops all: if it is in ESTOP, so is the team, also for a monitor that was
started after the E-stop.
"""

import os
import socket
import sys
import time
from collections.abc import Sequence
from functools import partial

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Bool, Header, String
from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.ros import status_messages, topics
from robomarl.ros.intake.entry import intake_entry
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.async_wait import wait_until
from robomarl.ros.io.node_base import now_s, publisher, run_node
from robomarl.ros.operator.fleet_table import FleetTable
from robomarl.ros.operator.goal_watch import GoalWatch
from robomarl.ros.operator.recorder_watch import RecorderWatch
from robomarl.ros.parameters import declare, read
from robomarl.ros.robot.state_machine import MOVING, Order, State
from robomarl.ros.robot.team_agreement import JOINED
from robomarl.ros.settings import MonitorSettings
from robomarl.ros.timing.steady import steady_now_s

LOOK_S = 1.0
"""Time [s] that a new monitor looks for other monitors, and listens to the robots, before it publishes."""
YOUNG_S = 15.0
"""Discovery may take longer than that: a monitor that finds another one so soon after its start ends, too."""
OTHERS = "emergency_stop is published already: another monitor runs; stop it, or use it."
ACKED_S = 0.5
READY_S = 2.0
"""Time [s] after a reset within which robots have to become READY."""
WAITS = {State.READY: Order.LAND, State.HOLD: Order.HOLD}
"""States from which a robot can be activated, and the order that ends its activation if another robot fails."""
MEANT = (Order.HOLD, Order.LAND, Order.STOP)
"""Orders to all that, given during an activation, decide how a failed activation ends."""
ANSWER_S = 5.0
"""A robot that has not answered an order after this does not count on."""
PREPARE_S = 2.0
"""Time [s] within which all robots have to confirm that they are ready to go."""
NO_ANSWER = "does not answer"
ENDS = (Order.HOLD, Order.LAND, Order.STOP, Order.RESET, Order.ESTOP)
"""Orders to all that call off an activation that is under way."""


class MonitorNode(Node):
    """Heartbeat, table, orders to all."""

    def __init__(self) -> None:
        """Look for another monitor, then begin.

        Raises:
            UserError: there is one.
        """
        super().__init__("monitor")
        self.failed, self._began_s = False, steady_now_s()
        declare(self, MonitorSettings)
        settings = read(self, MonitorSettings)
        self._settings, self._base, self._ended = settings, settings.base, (0, Order.LAND)
        self._table = FleetTable(settings.team, settings.silent_after_s)
        said = topics.ANNOUNCE
        self._announced = {
            name: Mailbox(self, said, said.of(name, self._base), status_messages.announcement_reader(name))
            for name in settings.team
        }
        files = [name for name in settings.vehicles if name] or [name for name in (settings.vehicle,) if name]
        vehicles = [load_any_vehicle(name, settings.estimator) for name in files]
        self._goals = GoalWatch(self, settings.team, settings.base, vehicles, settings.filter)
        claim = topics.MONITOR
        self._claims = Mailbox(self, claim, claim.of("", self._base), _claim_of, depth=20)
        self._recordings = Mailbox(
            self, topics.RECORDING, topics.RECORDING.of("", self._base), status_messages.recording_to
        )
        self._recorder = RecorderWatch()
        self._look_for_others()
        self._claim = Header(stamp=self.get_clock().now().to_msg(), frame_id=f"{socket.gethostname()}:{os.getpid()}")
        self.pressed, self._resets = self._table.is_stopped(), False
        self._published = {topic: publisher(self, topic, topic.of("", self._base)) for topic in topics.MONITOR_TOPICS}
        # Orders wait for answers; neither these nor the heartbeat may wait for the orders.
        self._orders = ReentrantCallbackGroup()
        self._asked = {
            (name, order): self.create_client(Trigger, f"{self._base}/{name}/{order}", callback_group=self._orders)
            for name in settings.team
            for order in Order
        }
        for order in Order:
            name, act = f"{self._base}/all/{order}", partial(self._on_order, order)
            self.create_service(Trigger, name, act, callback_group=self._orders)  # type: ignore[arg-type]
        self.create_timer(1 / settings.heartbeat_hz, self._beat)
        self.create_timer(1.0, self._report)
        self.get_logger().info(f"watches {', '.join(settings.team)}." + (" E-STOP IS PRESSED." * self.pressed))

    def _look_for_others(self) -> None:
        name, end_s = topics.ESTOP.of("", self._base), steady_now_s() + LOOK_S
        while steady_now_s() < end_s:
            if self.count_publishers(name):
                raise UserError(OTHERS)
            self._listen()
            time.sleep(0.02)

    def _listen(self) -> None:
        for mailbox in self._announced.values():
            for said, _ in mailbox.take():
                self._table.hear(said, steady_now_s())
        for told, _ in self._recordings.take():
            self._recorder.hear(told, steady_now_s())

    def _beat(self) -> None:
        self._listen()
        if self._table.is_stopped() and not (self.pressed or self._resets):
            self.pressed = True
            self.get_logger().error("E-STOP PRESSED: a robot says so.")
        self._published[topics.ESTOP].publish(Bool(data=self.pressed))

    def _gives_way(self, now: float) -> bool:
        """Return True if this monitor has just begun and another one was first: of several, all but the first
        end.

        Another publisher of `emergency_stop` is reported, but does not end a monitor on which robots rely.
        """
        claimed = [claim for claim, _ in self._claims.take()]
        return now - self._began_s < YOUNG_S and any(claim < _claim_of(self._claim) for claim in claimed)

    def _report(self) -> None:
        now = steady_now_s()
        if self._gives_way(now):
            self.get_logger().fatal(OTHERS)
            self.failed = True
            self.context.try_shutdown()
            return
        self._published[topics.MONITOR].publish(self._claim)
        others = self.count_publishers(topics.ESTOP.of("", self._base)) - 1
        statuses = self._table.statuses(self.get_fully_qualified_name(), self.pressed, now)
        if others > 0:
            statuses[0] = statuses[0]._replace(level=2, message=f"{others} others publish emergency_stop; stop them")
        statuses += self._goals.entries(self.get_fully_qualified_name())
        watched = self._recorder.entry(self.get_fully_qualified_name(), now)
        statuses += [entry for entry in (watched, intake_entry(self)) if entry]
        self._tell_of_recorder(now)
        self._published[topics.DIAGNOSTICS].publish(status_messages.diagnostics_from(statuses, now_s(self)))
        self._published[topics.FLEET].publish(String(data=self._table.text(now)))

    def _tell_of_recorder(self, now: float) -> None:
        bad, line = self._recorder.news(now)
        if bad:  # one call for each level: rclpy ties a line of source to a level
            self.get_logger().error(line)
        elif line:
            self.get_logger().info(line)

    async def _on_order(self, order: Order, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Pass an order on to all robots; the answer names those that refused."""
        self._listen()
        if order in ENDS:
            self._ended = self._ended[0] + 1, order
        self._resets = order is Order.RESET
        if order in (Order.ESTOP, Order.RESET):
            self.pressed = order is Order.ESTOP
            self._beat()
        if self._resets:  # the release must be there before the order, which goes another way
            self._published[topics.ESTOP].wait_for_all_acked(Duration(seconds=ACKED_S))
        refused = await (self._activate() if order is Order.ACTIVATE else self._ask(order, self._settings.team))
        if order is Order.RESET:
            self._listen()
            # A robot that answered and refused keeps its E-stop here: the next beat presses, so the next reset is a
            # release again, and with a release robots forget a monitor that died while it pressed.
            self._table.forget_stops(_reset_or_silent(self._settings.team, refused))
            self._resets = False
            self._beat()
        response.success = not self._counting(order, refused)
        response.message = "; ".join(f"{name}: {why}" for name, why in refused.items())
        if order is Order.ESTOP:
            self.get_logger().error("E-STOP PRESSED.")
        self.get_logger().info(f"{order} for all: {response.message or 'done'}.")
        return response

    def _counting(self, order: Order, refused: dict[str, str]) -> dict[str, str]:
        """Refusals that count: those of robots on the ground do not, if another one was there to land or to hold."""
        if order not in (Order.LAND, Order.HOLD) or len(refused) == len(self._settings.team):
            return refused
        states = self._states()
        return {name: why for name, why in refused.items() if (state := states[name]) is None or state in MOVING}

    async def _activate(self) -> dict[str, str]:
        """Activate all robots that do not fly yet, or none; return why robots refused.

        First all confirm that they would go, then all go. If one fails, every robot that has begun is
        ordered to end it, and so is a robot that did not answer: the order may still be on its way.
        """
        ended = self._ended
        await wait_until(self, lambda: not self._not_ready(), READY_S, self._orders)
        if refused := self._not_ready():
            return refused
        before = self._states()
        asked = [name for name, state in before.items() if state in WAITS]
        if refused := await self._ask(Order.PREPARE, asked, PREPARE_S) or self._overruled(ended):
            return refused
        refused = await self._ask(Order.ACTIVATE, asked) or self._overruled(ended)
        meant = self._ended[1] if self._ended != ended and self._ended[1] in MEANT else None
        return refused and refused | await self._call_off(before, asked, refused, meant)

    def _overruled(self, ended: tuple[int, Order]) -> dict[str, str]:
        """Return the order to all, given since then, that ends an activation; empty if there is none."""
        return {} if self._ended == ended else {"all": f"{self._ended[1]} was ordered meanwhile"}

    async def _call_off(
        self, before: dict[str, State | None], asked: Sequence[str], refused: dict[str, str], meant: Order | None
    ) -> dict[str, str]:
        """Order all activated robots back to their earlier state, or to `meant`; return those that fail, and why."""
        failed: dict[str, str] = {}
        for state, order in WAITS.items():
            order = meant or order
            those = [name for name in asked if before[name] is state]
            begun = [name for name in those if name not in refused]
            for name in [name for name in those if refused.get(name) == NO_ANSWER]:
                self._asked[name, order].call_async(Trigger.Request())
            if begun:
                self.get_logger().error(f"{order} for {', '.join(begun)}: not all were activated.")
                failed |= {name: f"{order}: {why}" for name, why in (await self._ask(order, begun)).items()}
        return failed

    def _states(self) -> dict[str, State | None]:
        self._listen()
        return self._table.states(steady_now_s())

    def _not_ready(self) -> dict[str, str]:
        """Return robots that would not take part, and why: then no robot is asked to move. Robots in flight do not
        count.
        """
        states = self._states()
        if not any(state in WAITS for state in states.values()):
            return {name: "silent" if state is None else f"is in {state.name}" for name, state in states.items()}
        return {
            name: "silent" if state is None else f"is in {state.name}"
            for name, state in states.items()
            if state not in WAITS and state not in JOINED
        }

    async def _ask(self, order: Order, names: Sequence[str], limit_s: float = ANSWER_S) -> dict[str, str]:
        """Ask each robot as soon as its service is there: one that is heard, or any by a young monitor, may be late."""
        clients, now = {name: self._asked[name, order] for name in names}, steady_now_s()
        states, young = self._table.states(now), now - self._began_s < YOUNG_S
        expected = [name for name, c in clients.items() if young or states[name] is not None or c.service_is_ready()]
        answers: dict[str, Future] = {}
        done: set[str] = set()

        def answered() -> bool:
            for name in [n for n in expected if n not in answers and clients[n].service_is_ready()]:
                answers[name] = clients[name].call_async(Trigger.Request())
            done.update(name for name, answer in answers.items() if answer.done())
            return done.issuperset(expected)

        await wait_until(self, answered, limit_s, self._orders)
        results = {name: answers[name].result() for name in done}  # one that came too late does not count
        for answer in answers.values():
            answer.cancel()
        refused = {name: NO_ANSWER for name in clients if results.get(name) is None}
        return refused | {name: r.message for name, r in results.items() if r is not None and not r.success}


def _reset_or_silent(team: Sequence[str], refused: dict[str, str]) -> list[str]:
    """Robots that were reset, and those that did not answer: one that is switched off keeps nobody in ESTOP."""
    return [name for name in team if refused.get(name, NO_ANSWER) == NO_ANSWER]


def _claim_of(message: Header) -> tuple[int, int, str]:
    """Return a comparable claim; the monitor that began first has the least."""
    return message.stamp.sec, message.stamp.nanosec, message.frame_id


def main(args: list[str] | None = None) -> int:
    """`ros2 run robomarl monitor_node`."""
    return run_node(MonitorNode, args, urgent=True)


if __name__ == "__main__":
    sys.exit(main())
