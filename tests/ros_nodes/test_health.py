"""What a node says of itself, and when."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from robomarl.ros_nodes.autopilot import Held
from robomarl.ros_nodes.health import ERROR, OK, WARN, Health
from robomarl.ros_nodes.inbox import Count, Problem
from robomarl.ros_nodes.tick import Timing
from robomarl.safety.filter import Reason


def decision(reason: int = 0, problems: tuple = (), filtered: bool = False) -> Any:
    return SimpleNamespace(reason=reason, filtered=filtered, reading=SimpleNamespace(problems=problems))


def pilot(active: bool = True, error: str = "") -> Any:
    return SimpleNamespace(active=active, error=error)


def timing(latency_us: float = 500.0) -> Timing:
    return Timing(100.0, 20.0, latency_us, 3)


def made() -> Health:
    return Health("/cf1/policy_node", "swap_4", "f" * 64, 50.0)


def test_the_log_has_a_line_for_each_change_and_none_in_between():
    health, lines = made(), []
    lost = (Problem("odometry", "0.12 s old"),)
    ticks = [(Reason.OK, ())] * 5 + [(Held.BLIND, lost)] * 5 + [(Reason.OK, ())] * 5
    for reason, problems in ticks:
        lines += health.note(decision(reason, problems), pilot(), timing())
    assert lines == [(True, "input lost: odometry: 0.12 s old."), (True, "now: blind."), (False, "now: ok.")]


def test_what_a_failed_policy_raised_is_logged():
    health = made()
    list(health.note(decision(), pilot(), timing()))
    (line,) = health.note(decision(Held.FAILED), pilot(error="RuntimeError: no such kernel"), timing())
    assert line == (True, "now: failed: RuntimeError: no such kernel.")


def test_a_second_is_summed_up():
    health = made()
    for i in range(50):
        assert not health.is_due()
        list(health.note(decision(filtered=i < 5), pilot(), timing(100.0 + i)))
    assert health.is_due()
    status = health.summary([Count(50, 1), Count(49, 2)])
    assert (status.name, status.level, status.message) == ("/cf1/policy_node", OK, "ok")
    assert status.values["filtered_share"] == "0.100"
    assert (status.values["messages_lost"], status.values["messages_received"]) == ("3", "99")
    assert float(status.values["latency_p50_us"]) == np.median(100 + np.arange(50)).round()
    assert status.values["bundle_id"] == "f" * 64
    assert not health.is_due()


def test_levels_say_how_bad_it_is():
    for reason, latency_us, problems, level in (
        (Reason.OK, 500.0, (), OK),
        (Reason.OK, 25000.0, (), WARN),  # longer than the period
        (Held.INACTIVE, 500.0, (Problem("goal", "none"),), WARN),
        (Held.SILENT, 500.0, (), ERROR),
    ):
        health = made()
        list(health.note(decision(reason, problems), pilot(), timing(latency_us)))
        assert health.summary([]).level == level
