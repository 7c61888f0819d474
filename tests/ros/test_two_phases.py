"""`all/activate` of a real monitor, over real DDS, to robots that answer as a test wants."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rclpy")

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from std_srvs.srv import Trigger

from robomarl.ros import status_messages, topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import publisher
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.console import Console, open_console
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.robot.state_machine import Order, State
from robomarl.ros.robot.team_agreement import Announcement

pytestmark = pytest.mark.ros
TEAM = ("a", "b")
NO_ANSWER = None


class Puppet:
    """A robot that announces a state, and answers orders as it is told."""

    def __init__(self, console: Console, index: int) -> None:
        self.name, self.state = TEAM[index], State.READY
        self.says: dict[Order, str | None] = {}
        self.heard: list[Order] = []
        self.late = Future()
        """What has no answer is answered when this is done."""
        node, self._group = console._node, ReentrantCallbackGroup()
        self._said = publisher(node, topics.ANNOUNCE, topics.ANNOUNCE.of(self.name))
        self._who = Announcement(self.name, "b" * 64, "c", "v", index, State.READY)
        self._kept = [node.create_timer(0.1, self._announce, callback_group=self._group)]
        self._kept += [self._serve(node, order) for order in Order]

    def _serve(self, node: Any, order: Order) -> Any:
        async def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            self.heard.append(order)
            if (said := self.says.get(order, "")) is NO_ANSWER:
                await self.late
            response.success, response.message = not said, said or ""
            return response

        return node.create_service(Trigger, f"/{self.name}/{order}", answer, callback_group=self._group)

    def _announce(self) -> None:
        self._said.publish(status_messages.announcement_from(self._who._replace(state=self.state)))


class Stage:
    """A monitor and its two puppets."""

    def __init__(self, console: Console) -> None:
        self.console, self.robots = console, [Puppet(console, index) for index in range(len(TEAM))]

    def activate(self) -> str:
        return self.console.order(Order.ACTIVATE, ["all"])["all"]

    def settle(self) -> None:
        """Let the monitor hear what the puppets announce now."""
        end_s = time.monotonic() + 0.6
        while time.monotonic() < end_s:
            self.console.poll(0.05)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    spec = NodeSpec("monitor_node", "robomarl.ros.monitor_node", "monitor", "", {"team": list(TEAM), "base": ""})
    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        shared = environment(True, domain)
        with open_console((), shared, sim=False, watch=processes.check) as console:
            made = Stage(console)
            processes.start([spec], child_environment(shared))
            console.wait_for_nodes(30)
            yield made


@pytest.fixture(autouse=True)
def robots(stage: Stage) -> list[Puppet]:
    for robot in stage.robots:
        robot.state, robot.says, robot.late = State.READY, {}, Future()
    stage.settle()
    for robot in stage.robots:
        robot.heard.clear()
    return stage.robots


def test_all_have_said_yes_before_the_first_one_goes(stage: Stage, robots: list[Puppet]):
    assert stage.activate() == ""
    assert [robot.heard for robot in robots] == [[Order.PREPARE, Order.ACTIVATE]] * 2


def test_one_no_and_nobody_goes(stage: Stage, robots: list[Puppet]):
    robots[1].says[Order.PREPARE] = "a wheel is off"
    assert stage.activate() == "b: a wheel is off"
    assert [robot.heard for robot in robots] == [[Order.PREPARE]] * 2


def test_no_answer_is_a_no(stage: Stage, robots: list[Puppet]):
    robots[1].says[Order.PREPARE] = NO_ANSWER
    assert stage.activate() == "b: does not answer"
    assert [robot.heard for robot in robots] == [[Order.PREPARE]] * 2


@pytest.mark.parametrize(("state", "end"), [(State.READY, Order.LAND), (State.HOLD, Order.HOLD)])
def test_who_has_begun_ends_it_when_another_one_fails_all_the_same(
    stage: Stage, robots: list[Puppet], state: State, end: Order
):
    robots[0].state = state
    robots[1].says[Order.ACTIVATE] = "an input was lost just now"
    stage.settle()
    assert stage.activate() == "b: an input was lost just now"
    assert robots[0].heard == [Order.PREPARE, Order.ACTIVATE, end]
    assert robots[1].heard == [Order.PREPARE, Order.ACTIVATE]


def test_who_does_not_answer_the_second_time_is_called_off_as_well(stage: Stage, robots: list[Puppet]):
    """The order may be on its way to it."""
    robots[1].says[Order.ACTIVATE] = NO_ANSWER
    assert stage.activate() == "b: does not answer"
    stage.console.wait(lambda: len(robots[1].heard) == 3, 10, "the second robot to be called off")
    assert [robot.heard for robot in robots] == [[Order.PREPARE, Order.ACTIVATE, Order.LAND]] * 2


def test_who_flies_already_is_not_asked(stage: Stage, robots: list[Puppet]):
    robots[0].state, robots[1].state = State.ACTIVE, State.HOLD
    stage.settle()
    assert stage.activate() == ""
    assert [robot.heard for robot in robots] == [[], [Order.PREPARE, Order.ACTIVATE]]


@pytest.mark.parametrize("phase", [Order.PREPARE, Order.ACTIVATE])
@pytest.mark.parametrize("end", [Order.LAND, Order.HOLD])
@pytest.mark.parametrize("state", [State.READY, State.HOLD])
def test_an_order_to_all_to_end_it_overrules_an_activation_that_is_under_way(
    stage: Stage, robots: list[Puppet], phase: Order, state: State, end: Order
):
    """One robot takes its time to answer; meanwhile the operator thinks better of it: what was ordered holds."""
    for robot in robots:
        robot.state = state
    robots[1].says[phase] = NO_ANSWER
    stage.settle()
    node = stage.console._node
    client = node.create_client(Trigger, "/all/activate", callback_group=ReentrantCallbackGroup())
    try:
        assert client.wait_for_service(10)
        answer = client.call_async(Trigger.Request())
        stage.console.wait(lambda: phase in robots[1].heard, 10, "the activation to be under way")
        assert stage.console.order(end, ["all"])["all"] == ""
        robots[1].late.set_result(None)
        robots[1].says.clear()
        stage.console.wait(answer.done, 15, "the activation to end")
    finally:
        node.destroy_client(client)
    said = answer.result()
    assert said is not None and said.message.startswith(f"all: {end} was ordered meanwhile")
    stage.console.wait(lambda: all(robot.heard[-1] is end for robot in robots), 10, "both to be told to end it")
    activated = [Order.ACTIVATE in robot.heard for robot in robots]
    assert activated == [phase is Order.ACTIVATE] * 2


@pytest.mark.parametrize("order", [Order.LAND, Order.HOLD])
def test_robots_on_the_ground_do_not_count_where_another_one_lands(stage: Stage, robots: list[Puppet], order: Order):
    """The answer is whether all that fly do it; who does not is named."""
    robots[0].state, robots[1].state = State.ACTIVE, State.STANDBY
    robots[1].says[order] = "is in STANDBY and does not fly"
    stage.settle()
    asked = stage.console._orders["all", order].call_async(Trigger.Request())
    stage.console.wait(asked.done, 20, "the answer")
    answer = asked.result()
    assert answer is not None and (answer.success, answer.message) == (True, "b: is in STANDBY and does not fly")
    assert stage.console.order(order, ["all"]) == {"all": ""}
    robots[0].says[order] = "refuses"
    assert "a: refuses" in stage.console.order(order, ["all"])["all"], "nobody does it"
    robots[0].says[order], robots[1].state = "", State.BLEND
    stage.settle()
    assert "b: is in STANDBY" in stage.console.order(order, ["all"])["all"], "one that flies refused"
