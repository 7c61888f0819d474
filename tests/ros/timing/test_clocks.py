"""Both clocks of a node, and a clock that somebody sets."""

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("rclpy")

import rclpy
from rclpy.context import Context
from rclpy.node import Node

from robomarl.ros.timing import clocks
from robomarl.ros.timing.clocks import NodeClock


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context)
    made = Node("clock_test", context=context)
    yield made
    made.destroy_node()
    context.try_shutdown()


@pytest.mark.ros
@pytest.mark.parametrize("jump_s", [-10.0, -0.2, 0.2, 3600.0])
def test_a_clock_that_is_set_is_noticed_once(node: Node, monkeypatch: pytest.MonkeyPatch, jump_s: float):
    moment = {"stamp": 1000.0, "steady": 10.0}
    monkeypatch.setattr(time, "time", lambda: moment["stamp"])
    monkeypatch.setattr(clocks, "steady_now_s", lambda: moment["steady"])
    clock, found = NodeClock(node), []
    for tick in range(6):
        moment["stamp"] += 0.02 + (jump_s if tick == 3 else 0.0)
        moment["steady"] += 0.02
        found.append(clock.tick()[1])
    assert found == [0, 0, 0, pytest.approx(jump_s), 0, 0]
