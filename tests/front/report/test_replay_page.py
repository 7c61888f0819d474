"""The page of a replay: one order to a team is one event."""

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mcap")
pytest.importorskip("matplotlib")

from robomarl.field.replay.bag_replay import Cause
from robomarl.front.report.replay_page import grouped


def test_one_cause_that_meets_several_robots_is_one_row():
    causes = [
        Cause(1.0, "a", "stop was ordered"),
        Cause(1.1, "b", "lost a"),
        Cause(1.2, "b", "stop was ordered"),
        Cause(1.3, "b", "stop was ordered"),
        Cause(9.0, "b", "stop was ordered"),
    ]
    assert grouped(causes, 2) == [
        (1.0, "all robots", "stop was ordered"),
        (1.1, "b", "lost a"),
        (9.0, "b", "stop was ordered"),
    ]
    assert grouped(causes[:1], 1) == [(1.0, "a", "stop was ordered")]
    assert grouped(causes[:3], 3)[0] == (1.0, "a, b", "stop was ordered")
    assert grouped([], 3) == []
