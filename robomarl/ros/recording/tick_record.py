"""Layout of the `tick` topic: one tick of a policy node, as named numbers. No ROS here."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robomarl.core.spec import GAIN
from robomarl.ros.robot.decision import Decision
from robomarl.ros.robot.inbox import Count
from robomarl.ros.robot.state_machine import MOVING, State

HEAD = ("stamp_s", "late_us", "latency_us", "pilot_us", "sensor_us", "skipped", "count", "state", "active", "ready",
        "reason", "filtered", "solved", "slack", "margin_m", "time_s", "goals")  # fmt: skip
"""Values in order: stamp since the epoch; start after the end of the tick's window; time from there until all is
published; time of policy and filter within it; time from the sending of the newest odometry to that of the
command (NaN without both); ticks left out so far; ticks so far, this one included; `State`; the robot moves; it
could be activated; `Reason` of the filter (0 and above) or `Held` (below 0); the filter changed the command; it
was solved; worst row [m/s^2]; smallest separation beyond the safety distance [m]; time since the robot began to
move; goals that have arrived so far.
"""
WHOLE = ("skipped", "count", "state", "active", "ready", "reason", "filtered", "solved", "goals")
"""Whole numbers among them; of all others, the columns behind them included, some are NaN or infinite at times."""
SOURCE = ("source_age_s", "delivery_age_s", "received", "lost")
"""Per input: time since the latest stamp; since the latest arrival; messages so far; lost ones among them, by the
publisher's own count."""


class Timing(NamedTuple):
    """When and how fast a tick ran."""

    stamp_s: float
    late_us: float
    latency_us: float
    pilot_us: float
    sensor_us: float
    skipped: int
    count: int = 0
    """Number of ticks so far, this one included."""


SENSED = "sensed."
"""Prefix of the name of a sensor of the task; for a sensor only the source's age is reported."""


def tick_names(
    action: list[str], mates: tuple[str, ...], seen: Sequence[str] = (), sensors: Sequence[str] = ()
) -> list[str]:
    """Name of every number.

    Args:
        action: the policy's action elements.
        mates: the robot's team-mates.
        seen: the elements of the policy's observation.
        sensors: topics that the task senses.
    """
    sent = [a for a in action if a != GAIN]
    names = [*HEAD, *(f"nominal.{a}" for a in action), *(f"command.{a}" for a in sent)]
    names += [f"{source}.{part}" for source in ("odometry", *mates) for part in SOURCE]
    names += [f"{SENSED}{sensor}.{SOURCE[0]}" for sensor in sensors]
    return names + [f"obs.{element.replace(',', ';')}" for element in seen]  # names are joined by commas


def tick_values(
    decision: Decision,
    timing: Timing,
    state: State,
    counts: list[Count],
    seen: Sequence[float] = (),
    sent: int | None = None,
) -> np.ndarray:
    """The numbers, in the order of `tick_names`.

    Args:
        decision: of the tick.
        timing: of the tick.
        state: after it.
        counts: for the odometry and each team-mate.
        seen: the policy's observation; NaN where it was not asked.
        sent: elements of a command; None: as many as of an action.
    """
    reading, slots = decision.reading, []
    ages = zip(reading.source_age_s.tolist(), reading.delivery_age_s.tolist(), counts, strict=True)
    for source_s, delivery_s, count in ages:
        slots += [source_s, delivery_s, count.received, count.lost]
    command = np.full(sent or len(decision.nominal), np.nan) if decision.command is None else decision.command
    told = [state, state in MOVING, state is State.READY, decision.reason, decision.filtered, decision.solved]
    worst = [decision.slack, decision.margin_m, float(reading.view.time_s), reading.goals]
    return np.array(
        [*timing, *told, *worst, *decision.nominal.tolist(), *command.tolist(), *slots, *reading.sensed_age_s, *seen],
        float,
    )
