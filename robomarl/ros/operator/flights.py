"""`fly`: simulated flights of a fleet through the real nodes, one bring-up for all flights, and their results."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from robomarl.core.hardware.fleet import Fleet
from robomarl.fleet.waiting import Waiting
from robomarl.ros.io.processes import Relay
from robomarl.ros.operator.console import DEACTIVATE
from robomarl.ros.operator.flight_outcome import FlightFigures, complete_log, figures_of, why_failed
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import SILENT, SLOWER, START_LIMIT_S, Rehearsal, TeamNodes, rehearse

GRACE_S = 1.0
"""Time [s] to wait, by our clock, beyond the judge's limit; the judge's clock starts with the first command."""


@dataclass(frozen=True)
class FlightsResult:
    """Result of `fly`."""

    flights: tuple[FlightFigures, ...]
    bring_up_s: float
    """Time from the first process to all nodes configured [s]."""
    ready_s: dict[str, float]
    """Per robot: from the start of its process until it answered; loading the bundle comes after."""
    configure_s: float
    """For all robots at once to load, check and warm up their bundles."""
    slipped_s: float
    """How much the simulator fell behind real time, all in all."""
    recording: str
    """The bag; empty if there is none."""


def fly(
    fleet: Fleet,
    plan: PlanOptions,
    flights: int = 1,
    duration_s: float = 0.0,
    relay: Relay = SILENT,
    landed: Callable[[FlightFigures], None] = lambda figures: None,
) -> FlightsResult:
    """Fly a fleet in the simulator.

    Args:
        fleet: robots and scenario.
        plan: nodes to start; `seed` is that of the first flight, each one adds 1.
        flights: number of flights.
        duration_s: longest flight [s]; 0: the scenario's time limit.
        relay: gets every line that a node prints, with its name.
        landed: called after each flight.

    Raises:
        UserError: as `rehearse`.
    """

    def run(team: TeamNodes) -> FlightsResult:
        flown = []
        for number in range(flights):
            flown.append(TeamFlight(team, plan.seed + number, duration_s).fly())
            landed(flown[-1])
        return FlightsResult(tuple(flown), team.bring_up_s, team.ready_s, team.configure_s, team.slipped_s, plan.record)

    return rehearse(fleet, plan, run, relay)


def latest_end(before_s: float, now_s: float, left_s: float) -> float:
    """When, by our clock, a flight that has begun is given up: a simulator may be that much slower than real time."""
    return min(before_s, now_s + SLOWER * left_s + GRACE_S)


class TeamFlight(Rehearsal):
    """One flight of a team that has been configured."""

    def __init__(self, team: TeamNodes, seed: int, duration_s: float) -> None:
        """Prepare; nothing happens before `fly`."""
        super().__init__(team)
        self._seed, self._duration_s = seed, duration_s or math.inf
        self._status: dict[str, float] = {}
        self._flying: set[str] = set()

    def fly(self) -> FlightFigures:
        """Reset, send goals, activate, wait for the end, deactivate, judge."""
        console, robots = self.console, self.console.team
        goals = console.reset()
        console.send_goals(dict(zip(robots, goals, strict=True)))
        self.listen()
        for rows in self.ticks.values():
            rows.clear()
        refused = console.start(robots)
        reason = "; ".join(f"{name} was not activated: {why}" for name, why in refused.items() if why)
        if not reason:
            reason = self._watch()
        console.change(DEACTIVATE, robots)
        self.listen()
        score = console.finish()
        self.team.slipped_s = score["slipped_s"]
        complete_log(score, self.ticks)
        return figures_of(score, self.ticks, reason)

    def _watch(self) -> str:
        """Wait for the end of the flight; return the reason for a failure, "" if there is none."""
        begins_by = time.monotonic() + START_LIMIT_S
        ends_by = math.inf
        waiting = Waiting(lambda: f"the flight of seed {self._seed} to end{self._at()}")
        while time.monotonic() < min(begins_by, ends_by):
            waiting.look()
            self.console.poll()
            self.listen()
            status = self._status
            if status.get("seed") != self._seed:
                continue
            if status["failed"]:
                return why_failed(status)
            if not math.isnan(status["succeeded_s"]):
                return ""
            if gone := self._gave_up():
                return f"{gone} gave up: {self.team.last_error(gone)}"
            limit_s = min(status["time_limit_s"], self._duration_s)
            if status["flight_s"] > 0:
                begins_by = math.inf
            ends_by = latest_end(ends_by, time.monotonic(), limit_s - status["flight_s"])
            if status["flight_s"] >= limit_s:
                break
        return "not all robots arrived in time"

    def _at(self) -> str:
        """Return the time of the flight and its limit; "" before it has begun."""
        if self._status.get("seed") != self._seed or self._status["flight_s"] <= 0:
            return ", which has not begun"
        limit_s = min(self._status["time_limit_s"], self._duration_s)
        return f", {self._status['flight_s']:.0f} s of at most {limit_s:.0f} s flown"

    def _gave_up(self) -> str:
        """A robot that was active and is not any more."""
        active = {name for name, rows in self.ticks.items() if rows and rows[-1]["active"]}
        gone = self._flying - active
        self._flying |= active
        return min(gone, default="")

    def listen(self) -> None:
        """The simulator's status too."""
        super().listen()
        self._status = self.console.status.latest() or self._status
