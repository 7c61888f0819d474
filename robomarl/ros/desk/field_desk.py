"""`FieldDesk`: one node that listens to a team, and orders what the operators ask for. It decides nothing itself:
robots and monitor go on without it."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger

from robomarl.ros import status_messages, topics
from robomarl.ros.desk.event_log import EventLog, FieldEvent
from robomarl.ros.desk.fleet_watch import ALL, ORDERED, PRESSED, FleetWatch
from robomarl.ros.desk.member import TeamReport
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.robot.health import ERROR, OK, WARN
from robomarl.ros.robot.state_machine import Order, State

POLL_S = 0.01
ANSWER_S = 15.0
"""Time [s] after which an order counts as not answered; an activation of all takes up to 10 s."""
AGAIN_S, INSIST_S = 0.25, 5.0
"""Interval [s] at which an E-stop is ordered again, and for how long, while a robot has not announced it."""
NO_ANSWER = "does not answer"


class Pending(NamedTuple):
    """One order on its way."""

    order: Order
    target: str
    cancel: Callable[[], None]
    answer: Future[str]
    due_s: float
    """Steady time [s] at which it counts as not answered."""


class FieldDesk:
    """The newest messages of a team, its log, and orders to it."""

    def __init__(self, node: Node, team: tuple[str, ...], base: str) -> None:
        """Subscribe; nothing has to spin the node but `poll`.

        Args:
            node: node of the desk.
            team: names of the robots, in their order.
            base: namespace of the team.
        """
        self.team = team
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        said, tick = topics.ANNOUNCE, topics.TICK
        self._announced = {
            name: Mailbox(node, said, said.of(name, base), status_messages.announcement_reader(name)) for name in team
        }
        self._ticks = {name: Mailbox(node, tick, tick.of(name, base), status_messages.ticks_to) for name in team}
        self._beats = Mailbox(node, topics.ESTOP, topics.ESTOP.of("", base), lambda message: message.data)
        recording, diagnostics = topics.RECORDING, topics.DIAGNOSTICS
        self._recordings = Mailbox(node, recording, recording.of("", base), status_messages.recording_to)
        self._diagnostics = Mailbox(
            node, diagnostics, diagnostics.name, status_messages.diagnostics_to, depth=20 + 4 * len(team)
        )
        self._clients = {
            (name, order): node.create_client(Trigger, f"{base}/{name}/{order}")
            for name in (*team, ALL)
            for order in Order
        }
        self.log = EventLog()
        self._watch = FleetWatch(team, self.log)
        self._news: SimpleQueue[FieldEvent] = SimpleQueue()
        self._asked: SimpleQueue[Pending] = SimpleQueue()
        self._pending: list[Pending] = []
        self._insists_until_s = self._again_s = 0.0
        self._unstopped: set[str] = set()
        """Robots that have not announced ESTOP since the E-stop was pressed. One that did, and was reset since, is not
        stopped again."""

    def poll(self, duration_s: float = POLL_S) -> None:
        """Take answers and messages; call it from one thread only."""
        self._executor.spin_once(timeout_sec=duration_s)
        steady_s, at_s = time.monotonic(), time.time()
        while not self._news.empty():
            self.log.add(self._news.get())
        self._hear_robots(steady_s, at_s)
        self._hear_team(steady_s, at_s)
        self._watch.look(steady_s, at_s)
        self._insist(steady_s)
        self._give_up(steady_s)

    def _hear_robots(self, steady_s: float, at_s: float) -> None:
        for name, mailbox in self._announced.items():
            for said, _ in mailbox.take():
                self._watch.announced(said, steady_s, at_s)
                if said.state is State.ESTOP:
                    self._unstopped.discard(name)
            if rows := self._ticks[name].latest():
                self._watch.robots[name].tick(rows[-1])

    def _hear_team(self, steady_s: float, at_s: float) -> None:
        for pressed, _ in self._beats.take():
            self._watch.beat(pressed, steady_s, at_s)
        for told, _ in self._recordings.take():
            self._watch.recorded(told, steady_s, at_s)
        for entries, _ in self._diagnostics.take():
            for entry in entries:
                self._watch.diagnosed(entry, steady_s, at_s)

    def close(self) -> None:
        """End the executor; the node is its owner's."""
        self._executor.shutdown()

    def report(self) -> TeamReport:
        """Return the team now; call it from the thread that polls."""
        return self._watch.report(time.monotonic(), time.time())

    def note(self, event: FieldEvent) -> None:
        """Write an event into the log. Safe in any thread."""
        self._news.put(event)

    def press(self, operator: str) -> None:
        """Press the E-stop: the monitor and every robot are ordered at once, again until each has announced it.

        Safe in any thread, and waits for nothing.
        """
        tags = frozenset({PRESSED, ORDERED + Order.ESTOP})
        self._news.put(FieldEvent(time.time(), f"E-STOP pressed by {operator}", "", ERROR, tags))
        self._unstopped, self._insists_until_s = set(self.team), time.monotonic() + INSIST_S
        for target in (ALL, *self.team):
            self._clients[target, Order.ESTOP].call_async(Trigger.Request())

    def order(self, order: Order, target: str, operator: str) -> Future[str]:
        """Order one robot or all; return the future reason for a refusal, "" if it was carried out.

        Safe in any thread. Without a monitor, each robot is asked itself.
        """
        targets: Iterable[str] = (target,)
        if target == ALL and not self._clients[ALL, order].service_is_ready():
            targets = self.team
        if order is Order.RESET:
            self._insists_until_s = 0.0
        text = f"{order} ordered by {operator}"
        subject = "" if target == ALL else target
        self._news.put(FieldEvent(time.time(), text, subject, OK, frozenset({ORDERED + order})))
        answers = [self._ask(order, name) for name in targets]
        return answers[0] if len(answers) == 1 else _joined(list(targets), answers)

    def _ask(self, order: Order, target: str) -> Future[str]:
        answer: Future[str] = Future()
        client = self._clients[target, order]
        due_s = time.monotonic() + (ANSWER_S if client.service_is_ready() else 0.0)

        def answered(result: Trigger.Response | None) -> None:
            text = "" if result is not None and result.success else (result.message if result else "") or "refused"
            if not answer.done():
                answer.set_result(text)
                self._tell(order, target, text)

        asked = client.call_async(Trigger.Request())
        asked.add_done_callback(lambda future: None if future.cancelled() else answered(future.result()))
        self._asked.put(Pending(order, target, asked.cancel, answer, due_s))
        return answer

    def _tell(self, order: Order, target: str, refusal: str) -> None:
        """Note a refusal below its order."""
        if refusal:
            subject = "" if target == ALL else target
            reasons = frozenset({ORDERED + order})
            self._news.put(FieldEvent(time.time(), f"{order} refused: {refusal}", subject, WARN, because=reasons))

    def _insist(self, steady_s: float) -> None:
        """Order an E-stop again to every robot that has not announced it."""
        if steady_s > self._insists_until_s or steady_s < self._again_s:
            return
        self._again_s = steady_s + AGAIN_S
        for name in self._unstopped:
            self._clients[name, Order.ESTOP].call_async(Trigger.Request())

    def _give_up(self, steady_s: float) -> None:
        """End orders that nothing answered."""
        while not self._asked.empty():
            self._pending.append(self._asked.get())
        late = [pending for pending in self._pending if steady_s > pending.due_s and not pending.answer.done()]
        for pending in late:
            pending.cancel()
            pending.answer.set_result(NO_ANSWER)
            self._tell(pending.order, pending.target, NO_ANSWER)
        self._pending = [pending for pending in self._pending if not pending.answer.done()]


def _joined(names: list[str], answers: list[Future[str]]) -> Future[str]:
    """Return one answer for those of several robots."""
    whole: Future[str] = Future()

    def tell(_: Future[str]) -> None:
        if all(answer.done() for answer in answers) and not whole.done():
            refused = [
                f"{name}: {answer.result()}" for name, answer in zip(names, answers, strict=True) if answer.result()
            ]
            whole.set_result("; ".join(refused))

    for answer in answers:
        answer.add_done_callback(tell)
    return whole
