"""Discovery takes its time, and takes it for each node by itself: who is asked to pass something on waits for it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("rclpy")

from rclpy.task import Future
from std_srvs.srv import Trigger

from robomarl.domains.soccer.ros.referee_client import RefereeClient
from robomarl.ros import status_messages, topics
from robomarl.ros.io.environment import environment
from robomarl.ros.io.node_base import Mailbox, publisher
from robomarl.ros.io.processes import Processes, child_environment, claimed_domain
from robomarl.ros.operator.console import Console, open_console
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.robot.state_machine import Order, State
from robomarl.ros.robot.team_agreement import Announcement

pytestmark = pytest.mark.ros
LATE_S = 1.5


@contextmanager
def one(module: str, name: str, parameters: dict, task: str = "") -> Iterator[Console]:
    """A single node, and the operator; the simulator and the robots are what the test says."""
    spec = NodeSpec(module.rpartition(".")[2], f"robomarl.{module}", name, "", parameters)
    with claimed_domain(None) as domain, Processes(lambda name, line: None) as processes:
        shared = environment(True, domain)
        processes.start([spec], child_environment(shared))
        with open_console(("robot0",), shared, sim=False, watch=processes.check, task=task) as console:
            yield console


def offered_late(console: Console, name: str, answer: Future) -> None:
    """Offer a service `LATE_S` after it was asked for; the asker has nothing to ask before."""
    asked_s = time.monotonic()
    console.wait(lambda: time.monotonic() > asked_s + LATE_S or answer.done(), 10, "the time to pass")
    assert not answer.done(), answer.result()
    console._node.create_service(Trigger, name, lambda request, response: Trigger.Response(success=True))
    console.wait(answer.done, 20, name)
    response = answer.result()
    assert response is not None and response.success, response


def test_a_referee_waits_for_a_simulator_that_it_has_not_discovered():
    with one("domains.soccer.ros.referee_node", "referee", {"team": ["robot0"], "sim": True}, "soccer") as console:
        assert isinstance(console.beside, RefereeClient)
        reset = console.beside.services["reset"]
        console.wait(reset.service_is_ready, 20, "the referee")
        offered_late(console, "sim/reset", reset.call_async(Trigger.Request()))


def test_a_monitor_waits_for_a_robot_that_it_hears_and_has_not_discovered():
    with one("ros.monitor_node", "monitor", {"team": ["robot0"], "silent_after_s": 60.0}) as console:
        console.wait(console._orders["all", Order.HOLD].service_is_ready, 20, "the monitor")
        assert console.order(Order.HOLD, ["all"]) == {"all": "robot0: does not answer"}
        said = publisher(console._node, topics.ANNOUNCE, topics.ANNOUNCE.of("robot0"))
        said.publish(status_messages.announcement_from(Announcement("robot0", "a", "b", "c", 0, State.READY)))
        table = Mailbox(console._node, topics.FLEET, topics.FLEET.of(""), lambda message: message.data)
        console.wait(lambda: any("READY" in text for text, _ in table.take()), 20, "the monitor to hear the robot")
        asked = console._orders["all", Order.HOLD].call_async(Trigger.Request())
        offered_late(console, f"robot0/{Order.HOLD}", asked)
