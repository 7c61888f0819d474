"""`Console`: the operator's side of the node graph, as a library: bring up, send goals, activate,
listen.

Every wait ends with an event (a service answered, a message came, a goal was acknowledged), never
by the clock alone.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.client import Client
from rclpy.context import Context
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.core.domain.registry import onboard_of
from robomarl.core.types import Figures
from robomarl.core.view import Goal
from robomarl.fleet.waiting import AwaitedThing, Waiting
from robomarl.ros import convert, status_messages, topics
from robomarl.ros.enclaves.rights import CONSOLE
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.messages import Message
from robomarl.ros.io.node_base import now_s, publisher, secured
from robomarl.ros.io.security import is_enforced
from robomarl.ros.operator.readiness import Readiness
from robomarl.ros.robot.state_machine import Order

CONFIGURE, ACTIVATE = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE
DEACTIVATE = Transition.TRANSITION_DEACTIVATE
POLL_S = 0.02
START_S = 15.0
"""For robots to become ready again after a reset."""
ATTEMPTS = 10
"""Number of attempts to arm and activate robots with inputs that are late now and then."""
Watch = Callable[[], None]
"""Called while waiting; raises to stop it."""


class Console:
    """Talks to the policy nodes of a team, and to the simulator if there is one."""

    def __init__(self, node: Node, team: tuple[str, ...], base: str, sim: bool, watch: Watch, task: str = "") -> None:
        """Subscribe and advertise; see `open_console`.

        Args:
            node: the operator's node.
            team: names of the robots in the order of their indices.
            base: namespace of the team.
            sim: there is a simulator.
            watch: called while waiting.
            task: of the scenario; its domain says where goals are told.
        """
        self.team, self._node, self._base, self.watch = team, node, base, watch
        self.recorders: frozenset[str] = frozenset()
        """Full names of nodes that have to hear a goal besides the robots."""
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        self._lifecycle: dict[str, Client] = {
            name: node.create_client(ChangeState, f"{base}/{name}/policy_node/change_state") for name in team
        }
        goal = topics.graph_of(task).goal
        self._for_all = goal not in (topics.GOAL, None)
        """The team has one goal."""
        self.beside = onboard_of({"task": task}).console(node, base)
        """Operator's side of the nodes that the domain runs in addition; None: there are none."""
        told = [topics.WORLD] if self._for_all else team
        self._goals = {name: publisher(node, goal, goal.of(name, base)) for name in told} if goal else {}
        self._orders = {
            (name, order): node.create_client(Trigger, f"{base}/{name}/{order}")
            for name in (*team, "all")
            for order in Order
        }
        tick = topics.TICK
        self._ticks = {name: Mailbox(node, tick, tick.of(name, base), status_messages.ticks_to) for name in team}
        self._sim = {name: node.create_client(Trigger, f"{base}/sim/{name}") for name in ("reset", "finish") if sim}
        status, drawn = topics.SIM_STATUS, topics.SIM_GOALS
        self.status = Mailbox(node, status, status.of("sim", base), convert.numbers_to)
        self._drawn = Mailbox(node, drawn, drawn.of("sim", base), _stamped_goals)

    def poll(self, duration_s: float = POLL_S) -> None:
        """Let answers come in for a while."""
        self.watch()
        self._executor.spin_once(timeout_sec=duration_s)

    def wait(self, condition: Callable[[], bool], limit_s: float, what: AwaitedThing) -> None:
        """Return as soon as the condition holds; a wait of over 3 s is told on the error stream.

        Raises:
            UserError: it did not within the limit.
        """
        waiting = Waiting(what, limit_s)
        while not condition():
            if waiting.is_over:
                raise UserError(f"Waited {limit_s:g} s for {waiting.what}, in vain; see the nodes' logs.")
            waiting.look()
            self.poll()

    def wait_for_nodes(self, limit_s: float, each: Callable[[str], None] = lambda name: None) -> None:
        """Return when all nodes answer; `each` is called with the name of every robot with a node that answers."""
        missing = set(self.team)

        def complete() -> bool:
            for name in [n for n in missing if self._lifecycle[n].service_is_ready()]:
                missing.remove(name)
                each(name)
            others = [
                *self._sim.values(),
                *(self.beside.clients if self.beside else ()),
                self._orders["all", Order.ARM],
            ]
            return not missing and all(client.service_is_ready() for client in others)

        self.wait(complete, limit_s, lambda: f"the nodes to come up{_of(sorted(missing))}")

    def change(self, transition: int, robots: Iterable[str], limit_s: float = 20.0) -> dict[str, bool]:
        """Ask robots for a lifecycle transition, all at once; return, by robot, True if it succeeded."""
        request = ChangeState.Request(transition=Transition(id=transition))
        answers = {name: self._lifecycle[name].call_async(request) for name in robots}
        silent = lambda: _of(name for name, answer in answers.items() if not answer.done())  # noqa: E731
        what = lambda: f"the policy nodes to answer{silent()}"  # noqa: E731
        self.wait(lambda: all(a.done() for a in answers.values()), limit_s, what)
        results = {name: answer.result() for name, answer in answers.items()}
        return {name: result is not None and result.success for name, result in results.items()}

    def order(self, order: Order, robots: Iterable[str], limit_s: float = 20.0) -> dict[str, str]:
        """Ask robots, or with "all" the monitor, for something at once; says why each refused, "" if it did not."""
        clients = {name: self._orders[name, order] for name in robots}
        for name, client in clients.items():
            self.wait(client.service_is_ready, limit_s, f"{name} to answer")
        answers = {name: client.call_async(Trigger.Request()) for name, client in clients.items()}
        self.wait(lambda: all(a.done() for a in answers.values()), limit_s, f"the answers to {order}")
        results = {name: answer.result() for name, answer in answers.items()}
        return {name: "" if r.success else r.message or "refused" for name, r in results.items() if r is not None}

    def readiness(self, tell: Callable[[str], None]) -> Readiness:
        """Begin to watch what keeps the robots from READY; `tell` takes the lines."""
        return Readiness(self._node, self.team, tell)

    def take_ticks(self, name: str) -> list[dict[str, float]]:
        """Ticks of a robot that have been told since the last call."""
        return [row for rows, _ in self._ticks[name].take() for row in rows]

    def start(self, robots: Iterable[str]) -> dict[str, str]:
        """Reset, arm and activate robots; says why each refused, "" if it flies.

        On a busy machine an input may be late just now: robots that are not ready any more are asked again.
        """
        left = list(robots)
        self.order(Order.RESET, left)
        refused: dict[str, str] = {}
        for _ in range(ATTEMPTS):
            self.wait_until_ready(left, START_S)
            refused |= self.order(Order.ARM, left)
            refused |= self.order(Order.ACTIVATE, [name for name in left if not refused[name]])
            left = [name for name in left if "is in STANDBY" in refused[name]]
            if not left:
                break
        return refused

    def reset(self, limit_s: float = 10.0) -> list[Goal]:
        """Start a new flight in the simulator; returns the goals that the scenario drew, by index."""
        before_s = now_s(self._node)
        self.call("reset", limit_s)
        goals: list[Goal] = []

        def drawn() -> bool:
            for (stamp_s, found), _ in self._drawn.take():
                if stamp_s >= before_s:
                    goals[:] = found
            return bool(goals)

        self.wait(drawn, limit_s, "the simulator's goals")
        return goals

    def finish(self) -> Figures:
        """End the flight in the simulator: the judge's figures and where the true log is."""
        return json.loads(self.call("finish"))

    def call(self, service: str, limit_s: float = 10.0) -> str:
        """Call a service of the simulator; returns the text of its answer."""
        answer = self._sim[service].call_async(Trigger.Request())
        self.wait(answer.done, limit_s, f"the simulator to {service}")
        result = answer.result()
        return result.message if result is not None else ""

    def send_goals(self, goals: dict[str, Goal], limit_s: float = 10.0) -> None:
        """Give robots new goals; returns when all that listen have them. A load has the goal of the first robot."""
        told = {name: (goal, {name}) for name, goal in goals.items()}
        if self._for_all:
            told = {topics.WORLD: (next(iter(goals.values())), set(self.team))}
        for name, (goal, robots) in told.items():
            out = self._goals[name]
            self.wait(lambda out=out, to=robots: self._reaches(out, to), limit_s, f"{name} to listen for goals")
            out.publish(convert.goal_from(goal, now_s(self._node)))
        for name in told:
            if not self._goals[name].wait_for_all_acked(Duration(seconds=limit_s)):
                raise UserError(f"{name} did not acknowledge its goal within {limit_s:g} s; see its log.")

    def _reaches(self, out: Publisher, robots: set[str]) -> bool:
        """Return True if robots would get a message, and so would all other subscribers: a recorder may be
        discovered later.
        """
        found = self._node.get_subscriptions_info_by_topic(out.topic_name)
        matching = [info for info in found if info.qos_profile.durability is not DurabilityPolicy.TRANSIENT_LOCAL]
        nodes = {f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in matching}
        wanted = {f"{self._base}/{name}/policy_node" for name in robots} | self.recorders
        return wanted <= nodes and out.get_subscription_count() >= len(matching)

    def wait_until_ready(self, robots: Iterable[str], limit_s: float) -> None:
        """Return when robots are in READY, twice in a row.

        Raises:
            UserError: one has not within the limit.
        """
        good = dict.fromkeys(robots, 0)
        for name in good:
            self.take_ticks(name)

        def ready() -> bool:
            for name in good:
                for tick in self.take_ticks(name):
                    good[name] = good[name] + 1 if tick["ready"] else 0
            return all(count >= 2 for count in good.values())

        needs = "READY (fresh odometry, goal, every team-mate, E-stop heartbeat) at all robots"
        self.wait(ready, limit_s, lambda: needs + _of(name for name, count in good.items() if count < 2))


@contextmanager
def open_console(
    team: tuple[str, ...],
    environment: dict[str, str],
    base: str = "",
    sim: bool = True,
    watch: Watch = lambda: None,
    task: str = "",
) -> Iterator[Console]:
    """Open a console with a ROS context of its own, in the domain of the environment.

    Args:
        team: names of the robots in the order of their indices.
        environment: environment of the nodes, see `robomarl.ros.io.environment`.
        base: namespace of the team.
        sim: True if there is a simulator.
        watch: called while waiting, about every 20 ms; an exception that it raises ends the waiting.
        task: task of the scenario.
    """
    context = Context()
    with _environment(environment):
        enclave = ["--ros-args", "--enclave", f"{base}/{CONSOLE}"] if is_enforced(environment) else None
        secured(lambda: rclpy.init(args=enclave, context=context, signal_handler_options=SignalHandlerOptions.NO))
        node = secured(lambda: Node(CONSOLE, context=context, namespace=base or None, start_parameter_services=False))
    try:
        yield Console(node, team, base, sim, watch, task)
    finally:
        node.destroy_node()
        context.try_shutdown()


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a while: ROS reads them when a context and its first node are made."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})


def _of(names: Iterable[str]) -> str:
    """Return "; missing: NAME, NAME" for a wait that some robots keep; "" if there are none."""
    missing = ", ".join(names)
    return f"; missing: {missing}" if missing else ""


def _stamped_goals(message: Message) -> tuple[float, list[Goal]]:
    return convert.stamp_of(message.header), convert.goals_to(message)
