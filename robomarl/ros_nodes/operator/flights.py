"""`fly`: simulated flights of a fleet through the real nodes, one bring-up for all of them, and what came of each."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from robomarl.hardware_configs.fleet import Fleet
from robomarl.ros_nodes.io.processes import Relay
from robomarl.ros_nodes.operator.console import DEACTIVATE
from robomarl.ros_nodes.operator.flight_outcome import FlightFigures, Tick, complete_log, figures_of, why_failed
from robomarl.ros_nodes.operator.plan_options import PlanOptions
from robomarl.ros_nodes.operator.rehearsal import SLOWER, START_LIMIT_S, TeamNodes, bring_up

GRACE_S = 1.0
"""The judge's clock starts with the first command; so much longer than its limit we wait by ours."""


@dataclass(frozen=True)
class FlightsResult:
    """What `fly` found."""

    flights: tuple[FlightFigures, ...]
    bring_up_s: float
    """From the first process to all nodes configured."""
    ready_s: dict[str, float]
    """Per robot: from the start of its process until it answered; loading the bundle comes after."""
    configure_s: float
    """For all robots at once to load, check and warm up their bundles."""
    slipped_s: float
    """How much the simulator fell behind real time, all in all."""
    recording: str
    """The bag; empty if there is none."""


@dataclass(frozen=True)
class FlyOptions:
    """What `fly` is to do."""

    flights: int = 1
    seed: int = 0
    """Of the first flight; each one adds 1."""
    bundle: str = ""
    """Instead of the robots' own."""
    root: str = ""
    """Relative folders of the fleet file are below it."""
    out: str = "runs/flights"
    """Folder for logs; it is made."""
    record: str = ""
    """Folder of a recording; none without it."""
    duration_s: float = 0.0
    """Longest flight; 0: the scenario's time limit."""
    domain_id: int | None = None
    """ROS domain; by default one that nobody uses."""
    ground: bool = False
    """Robots start on the ground; the flight's clock starts when all have climbed to the hand-over."""


def fly(
    fleet: Fleet,
    options: FlyOptions,
    relay: Relay = lambda name, line: None,
    landed: Callable[[FlightFigures], None] = lambda figures: None,
) -> FlightsResult:
    """Fly a fleet in the simulator.

    Args:
        fleet: which robots, and which scenario.
        options: how often and with what.
        relay: gets every line that a node prints, with its name.
        landed: called after each flight.

    Raises:
        UserError: a node did not come up, a bundle was refused, or a node died.
    """
    plan = PlanOptions(
        bundle=options.bundle,
        root=options.root,
        sim=True,
        record=options.record,
        seed=options.seed,
        log_dir=str(Path(options.out).absolute()),
        ground=options.ground,
    )
    with bring_up(fleet, plan, options.domain_id, relay) as team:
        team.configure()
        flights = []
        for number in range(options.flights):
            flights.append(TeamFlight(team, options.seed + number, options.duration_s).fly())
            landed(flights[-1])
        slipped_s = team.slipped_s
    return FlightsResult(tuple(flights), team.bring_up_s, team.ready_s, team.configure_s, slipped_s, options.record)


class TeamFlight:
    """One flight of a team that has been configured."""

    def __init__(self, team: TeamNodes, seed: int, duration_s: float) -> None:
        """Prepare; nothing happens before `fly`."""
        self._team, self._console = team, team.console
        self._seed, self._duration_s = seed, duration_s or math.inf
        self._ticks: dict[str, list[Tick]] = {name: [] for name in team.console.team}
        self._status: dict[str, float] = {}
        self._flying: set[str] = set()

    def fly(self) -> FlightFigures:
        """Reset, send goals, activate, wait for the end, deactivate, judge."""
        console, robots = self._console, self._console.team
        goals = console.reset()
        console.send_goals(dict(zip(robots, goals, strict=True)))
        self._listen()
        for rows in self._ticks.values():
            rows.clear()
        refused = console.start(robots)
        reason = "; ".join(f"{name} was not activated: {why}" for name, why in refused.items() if why)
        if not reason:
            reason = self._watch()
        console.change(DEACTIVATE, robots)
        self._listen()
        score = console.finish()
        self._team.slipped_s = score["slipped_s"]
        complete_log(score, self._ticks)
        return figures_of(score, self._ticks, reason)

    def _watch(self) -> str:
        """Wait for the end of the flight; returns what was wrong."""
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            self._console.poll()
            self._listen()
            status = self._status
            if status.get("seed") != self._seed:
                continue
            if status["failed"]:
                return why_failed(status)
            if not math.isnan(status["succeeded_s"]):
                return ""
            if gone := self._gave_up():
                return f"{gone} gave up: {self._team.last_error(gone)}"
            limit_s = min(status["time_limit_s"], self._duration_s)
            left_s = limit_s - status["flight_s"]
            deadline = min(deadline, time.monotonic() + SLOWER * left_s + GRACE_S)
            if status["flight_s"] >= limit_s:
                break
        return "not all robots arrived in time"

    def _gave_up(self) -> str:
        """A robot that was active and is not any more."""
        active = {name for name, rows in self._ticks.items() if rows and rows[-1]["active"]}
        gone = self._flying - active
        self._flying |= active
        return min(gone, default="")

    def _listen(self) -> None:
        for name, rows in self._ticks.items():
            rows += self._console.take_ticks(name)
        self._status = self._console.status.latest() or self._status
