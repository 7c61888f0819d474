"""Results of a simulated flight: the judge's score and the robots' ticks become figures and a full log. No ROS."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.core.log import load_flight, save_flight
from robomarl.core.types import Figures
from robomarl.ros.robot.state_machine import State

Tick = dict[str, float]
"""One message of the `tick` topic."""
Ticks = dict[str, list[Tick]]
"""Ticks by robot, in the order of their indices; all that were received since before the activation."""


@dataclass(frozen=True)
class LinkStatistics:
    """Messages from one robot to another in one flight."""

    sender: str
    """`simulator` for the robot's own odometry."""
    receiver: str
    expected: int
    received: int
    lost: int


@dataclass(frozen=True)
class FlightFigures:
    """One flight. Success, collisions and distance are judged by the simulator's true poses at every physics step."""

    seed: int
    success: bool
    """All robots arrived and stayed (`success` of the scenario), without contact, within the time limit."""
    reason: str
    """Why not; empty on success."""
    flight_s: float
    """Time from the first command to the end [s]."""
    arrived_s: float | None
    """When all robots had arrived."""
    collisions: int
    min_distance_m: float
    filter_active_share: float
    """Share of the decisions in which the filter changed the command."""
    fallback_share: float
    """Share of the decisions that were not the policy's at all (filter without a solution, stale input, ...)."""
    tick_p50_us: dict[str, float]
    """Per robot: from the deadline's wake-up until everything is published."""
    tick_p99_us: dict[str, float]
    ticks_us: dict[str, tuple[float, ...]]
    """Per robot: every tick's time."""
    late_p99_us: dict[str, float]
    """Per robot: how long after its deadline a tick began."""
    ticks_skipped: dict[str, int]
    links: tuple[LinkStatistics, ...]
    log: str
    """The flight's `FlightLog`; empty if there is none."""

    @property
    def messages(self) -> str:
        """Number of lost messages of all expected ones, in words."""
        lost, expected = (sum(getattr(link, name) for link in self.links) for name in ("lost", "expected"))
        return f"{lost} of {expected}"

    @property
    def line(self) -> str:
        """The flight as one line."""
        end = f"arrived after {self.arrived_s:.2f} s" if self.success else f"failed: {self.reason}"
        return (
            f"flight {self.seed}: {end}; closest {self.min_distance_m:.3f} m; filter acted in "
            f"{100 * self.filter_active_share:.1f} % of decisions; tick p99 {max(self.tick_p99_us.values()) / 1e3:.1f} "
            f"ms; {self.messages} messages lost"
        )


@dataclass(frozen=True)
class RehearsalResult:
    """Result of a rehearsal that is one unit, such as a mission or a match; subclasses add their own criteria."""

    flight: FlightFigures
    """Ticks, links and filter, as for every flight; such a rehearsal is judged by `ok`, not by `success`."""
    states: dict[str, str]
    """State of every robot at the end; for a robot with a process that was ended, its state at that time."""
    slipped_s: float
    """How much the simulator fell behind real time."""
    ok: bool
    """It went as it should."""


def figures_of(score: Figures, ticks: Ticks, reason: str) -> FlightFigures:
    """Return the figures of one flight.

    Args:
        score: score of the simulator's judge.
        ticks: ticks of the robots.
        reason: reason for a failure, if it is known already.
    """
    flown = {name: [row for row in rows if row["active"]] for name, rows in ticks.items()}
    every = [row for rows in flown.values() for row in rows]
    arrived_s = None if math.isnan(score["succeeded_s"]) else score["succeeded_s"]
    if not reason and (score["failed"] or arrived_s is None or arrived_s > score["time_limit_s"]):
        reason = why_failed(score) + " after it had arrived" * (not score["collisions"])
    return FlightFigures(
        seed=int(score["seed"]),
        success=not reason,
        reason=reason,
        flight_s=score["flight_s"],
        arrived_s=arrived_s,
        collisions=int(score["collisions"]),
        min_distance_m=score["min_distance_m"],
        filter_active_share=_share(every, lambda row: bool(row["filtered"])),
        fallback_share=_share(every, lambda row: row["reason"] != 0),
        tick_p50_us={name: _percentile(rows, "latency_us", 50) for name, rows in flown.items()},
        tick_p99_us={name: _percentile(rows, "latency_us", 99) for name, rows in flown.items()},
        ticks_us={name: tuple(row["latency_us"] for row in rows) for name, rows in flown.items()},
        late_p99_us={name: _percentile(rows, "late_us", 99) for name, rows in flown.items()},
        ticks_skipped={n: int(rows[-1]["skipped"] - rows[0]["skipped"]) if rows else 0 for n, rows in flown.items()},
        links=tuple(link for name, rows in flown.items() for link in _links(name, rows)),
        log=score["log"],
    )


def states_of(ticks: Ticks) -> dict[str, str]:
    """The name of the last state that each robot told; `silent` where it told none."""
    return {name: State(int(rows[-1]["state"])).name if rows else "silent" for name, rows in ticks.items()}


def why_failed(score: Figures) -> str:
    """Return the reason why a flight failed, from the judge's figures."""
    return (
        "a robot touched another or an obstacle"
        if score["collisions"]
        else "a robot left the arena, or the load was lost"
    )


def complete_log(score: Figures, ticks: Ticks) -> None:
    """Add data that only the robots have to the true log: commands that their policies wanted, and activity of the
    filter.
    """
    if not score["log"]:
        return
    log = load_flight(Path(score["log"]))
    nominal, active = log.nominal.copy(), log.active.copy()
    for index, rows in enumerate(ticks.values()):
        flown = [row for row in rows if row["active"]]
        if not flown:
            continue
        stamps = np.array([row["stamp_s"] for row in flown]) - score["began_s"]
        latest = np.clip(np.searchsorted(stamps, log.time_s, side="right") - 1, 0, len(flown) - 1)
        wanted = [[value for name, value in row.items() if name.startswith("nominal.")] for row in flown]
        nominal[:, index] = np.array(wanted)[latest]
        active[:, index] = np.array([row["filtered"] for row in flown], bool)[latest]
    save_flight(Path(score["log"]), log._replace(nominal=nominal, active=active))


def _links(receiver: str, rows: list[Tick]) -> list[LinkStatistics]:
    """Return the statistics of a robot's messages from each source, from its first to its last decision."""
    names = [name.removesuffix(".received") for name in rows[0] if name.endswith(".received")] if rows else []
    found = []
    for name in names:
        received = int(rows[-1][f"{name}.received"] - rows[0][f"{name}.received"])
        lost = int(rows[-1][f"{name}.lost"] - rows[0][f"{name}.lost"])
        sender = "simulator" if name == "odometry" else name
        found.append(LinkStatistics(sender, receiver, received + lost, received, lost))
    return found


def _share(rows: list[Tick], test: Callable[[Tick], bool]) -> float:
    return sum(map(test, rows)) / len(rows) if rows else 0.0


def _percentile(rows: list[Tick], name: str, q: float) -> float:
    return float(np.percentile([row[name] for row in rows], q)) if rows else math.nan
