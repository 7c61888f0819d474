"""The layout of the `tick` topic: what one tick of a policy node did, as named numbers. No ROS here."""

from typing import NamedTuple

import numpy as np

from robomarl.ros_nodes.autopilot import Decision
from robomarl.ros_nodes.inbox import Count

HEAD = ("stamp_s", "late_us", "latency_us", "skipped", "active", "ready", "reason", "filtered", "solved", "slack",
        "margin_m")  # fmt: skip
"""Since the epoch; start after the deadline; from there until all is published; ticks left out so far; node
active; all inputs fresh; `Reason` of the filter (0 and above) or `Held` (below 0); the filter changed the
command; it was solved; worst row [m/s^2]; smallest separation beyond the safety distance [m]."""
SOURCE = ("source_age_s", "delivery_age_s", "received", "lost")
"""Per input: time since the latest stamp; since the latest arrival; messages so far; lost ones among them, by the
publisher's own count."""


class Timing(NamedTuple):
    """When and how fast a tick ran."""

    stamp_s: float
    late_us: float
    latency_us: float
    skipped: int


def tick_names(action: list[str], mates: tuple[str, ...]) -> list[str]:
    """Name of every number, for a policy's action elements and a robot's team-mates."""
    names = [*HEAD, *(f"nominal.{a}" for a in action), *(f"command.{a}" for a in action)]
    return names + [f"{source}.{part}" for source in ("odometry", *mates) for part in SOURCE]


def tick_values(decision: Decision, timing: Timing, active: bool, counts: list[Count]) -> np.ndarray:
    """The numbers, in the order of `tick_names`; `counts` is for the odometry and each team-mate."""
    command = decision.nominal * np.nan if decision.command is None else decision.command
    reading = decision.reading
    rows = np.column_stack([reading.source_age_s, reading.delivery_age_s, np.array(counts, float)])
    head = [*timing, active, not reading.problems, decision.reason, decision.filtered, decision.solved]
    return np.concatenate([head, [decision.slack, decision.margin_m], decision.nominal, command, rows.ravel()])
