"""`fly`: simulated flights of a fleet through the real nodes, one bring-up for all of them, and what came of each."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from robomarl.config import UserError
from robomarl.hardware_configs.fleet import Fleet
from robomarl.ros_nodes.fieldtask import task_name
from robomarl.ros_nodes.io.environment import environment
from robomarl.ros_nodes.io.processes import Processes, Relay, child_environment, claimed_domain
from robomarl.ros_nodes.operator.console import CONFIGURE, DEACTIVATE, Console, open_console
from robomarl.ros_nodes.operator.fleet_plan import plan_fleet
from robomarl.ros_nodes.operator.flight_outcome import FlightFigures, Tick, complete_log, figures_of, why_failed
from robomarl.ros_nodes.operator.node_spec import NodeSpec
from robomarl.ros_nodes.operator.plan_options import PlanOptions

START_LIMIT_S = 60.0
"""For all nodes to come up, load their bundles and hear each other, on a machine that has other things to do."""
AGAIN_S = 3.0
"""For a robot to answer that was started again; then it is asked anew."""
GRACE_S = 1.0
"""The judge's clock starts with the first command; so much longer than its limit we wait by ours."""
SLOWER = 4.0
"""On a busy machine the simulator's time may run so much slower than ours."""


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
    vehicles: str = ""
    """Adapter between robots and simulated vehicles."""
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
        vehicles=options.vehicles,
    )
    with bring_up(fleet, plan, options.domain_id, relay) as team:
        team.configure()
        flights = []
        for number in range(options.flights):
            flights.append(TeamFlight(team, options.seed + number, options.duration_s).fly())
            landed(flights[-1])
        slipped_s = team.slipped_s
    return FlightsResult(tuple(flights), team.bring_up_s, team.ready_s, team.configure_s, slipped_s, options.record)


def stay_up(
    fleet: Fleet, plan: PlanOptions, domain_id: int | None, relay: Relay, duration_s: float = 0.0
) -> dict[str, float]:
    """Bring a fleet up and leave it to the operator, until Ctrl-C; what ends by itself is started again.

    Args:
        fleet: which robots.
        plan: what to start.
        domain_id: ROS domain; None for one that nobody uses.
        relay: gets every line that a node prints.
        duration_s: end after so many seconds; 0 for never.

    Raises:
        UserError: as `fly`.
    """
    with bring_up(fleet, replace(plan, tell_goals=True), domain_id, relay) as team:
        team.configure()
        end_s = time.monotonic() + (duration_s or math.inf)
        with suppress(KeyboardInterrupt), team.respawning():
            while time.monotonic() < end_s:
                team.console.poll()
                team.configure_again()
        return {"bring_up_s": team.bring_up_s, "configure_s": team.configure_s}


class TeamNodes:
    """The nodes of a fleet that have come up. Made by `bring_up`."""

    def __init__(self, console: Console, processes: Processes, started_s: float, index: dict[str, int]) -> None:
        """Take over what runs; `index` of every robot in the team."""
        self.console, self.processes, self._started_s, self.index = console, processes, started_s, index
        self._revived: set[str] = set()
        self.environment: dict[str, str] = {}
        """That the nodes share, domain included."""
        self.ready_s: dict[str, float] = {}
        self.bring_up_s = self.configure_s = self.slipped_s = 0.0

    def wait(self) -> None:
        """Return when all nodes answer."""
        self.console.wait_for_nodes(START_LIMIT_S, self._up)

    def configure(self) -> None:
        """Let all policy nodes load their bundles.

        Raises:
            UserError: one refused; says what it logged.
        """
        begin_s = time.monotonic()
        done = self.console.change(CONFIGURE, self.console.team, START_LIMIT_S)
        for name in [name for name, ok in done.items() if not ok]:
            raise UserError(f"{name} was not configured: {self.last_error(name)}")
        self.configure_s = time.monotonic() - begin_s
        self.bring_up_s = time.monotonic() - self._started_s

    @contextmanager
    def respawning(self) -> Iterator[None]:
        """While the console waits, start again what has ended by itself, instead of ending all."""
        self.console.watch = self._revive
        try:
            yield
        finally:
            self.console.watch = self.processes.check

    def configure_again(self) -> None:
        """Let robots load their bundles whose processes were started again."""
        for name in tuple(self._revived):
            with suppress(UserError):  # a dead process is in discovery for a while, and does not answer
                if self.console.change(CONFIGURE, [name], AGAIN_S)[name]:
                    self._revived.discard(name)

    def _revive(self) -> None:
        started = self.processes.revive(child_environment(self.environment))
        robots = {spec.namespace.rpartition("/")[2] for spec in started if spec.lifecycle}
        self._revived |= robots & set(self.console.team)

    def last_error(self, robot: str) -> str:
        """The last error in a policy node's log."""
        process = next((p for n, p in self.processes.running.items() if n.endswith(f"/{robot}/policy_node")), None)
        self.console.poll()
        lines = [line for line in process.tail if "[ERROR]" in line or "[FATAL]" in line] if process else []
        return lines[-1].split("]: ", 1)[-1] if lines else "see its log."

    def _up(self, robot: str) -> None:
        self.ready_s[robot] = time.monotonic() - self._started_s


@contextmanager
def bring_up(fleet: Fleet, plan: PlanOptions, domain_id: int | None, relay: Relay) -> Iterator[TeamNodes]:
    """Start the nodes of a fleet, wait until they answer, and stop them at the end, whatever happens."""
    specs: list[NodeSpec] = plan_fleet(fleet, plan)
    team = tuple(r.name for r in sorted(fleet.robots, key=lambda r: r.index))
    chosen = (plan.robots or team) if plan.policies else ()
    base = "/" + plan.namespace.strip("/") if plan.namespace.strip("/") else ""
    task = task_name(fleet.scenario)
    with claimed_domain(domain_id) as domain, Processes(relay) as processes:
        shared = environment(plan.sim, domain, plan.keystore)
        started_s = time.monotonic()
        processes.start(specs, child_environment(shared))
        with open_console(chosen, shared, base, plan.sim, processes.check, task) as console:
            up = TeamNodes(console, processes, started_s, {r.name: r.index for r in fleet.robots})
            up.environment = shared
            up.wait()
            yield up


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
