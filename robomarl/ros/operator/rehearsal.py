"""The nodes of a fleet, in the simulator or beside its robots: brought up together, listened to, and stopped."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.ros.fieldtask import task_name
from robomarl.ros.io.environment import environment
from robomarl.ros.io.processes import Processes, Relay, child_environment, claimed_domain
from robomarl.ros.operator.console import CONFIGURE, Console, open_console
from robomarl.ros.operator.fleet_plan import plan_fleet
from robomarl.ros.operator.flight_outcome import Ticks
from robomarl.ros.operator.node_spec import NodeSpec
from robomarl.ros.operator.plan_options import PlanOptions, check_recording
from robomarl.ros.operator.readiness import next_steps
from robomarl.ros.preflight.price import fleet_price
from robomarl.ros.robot.state_machine import MOVING

START_LIMIT_S = 60.0
"""For all nodes to come up, load their bundles and hear each other, on a machine that has other things to do."""
AGAIN_S = 3.0
"""For a robot to answer that was started again; then it is asked anew."""
SLOWER = 4.0
"""Largest factor by which the simulator's time may be slower than ours on a busy machine."""
SILENT: Relay = lambda name, line: None  # noqa: E731
R = TypeVar("R")
"""Result of a rehearsal."""


def rehearse(fleet: Fleet, plan: PlanOptions, run: Callable[["TeamNodes"], R], relay: Relay = SILENT) -> R:
    """Bring a fleet up in the simulator, let all robots load their bundles, and run the rehearsal.

    Args:
        fleet: robots and scenario.
        plan: nodes to start; autostart and the link emulator are always off.
        run: the nodes -> result of the rehearsal.
        relay: gets every line that a node prints, with its name.

    Raises:
        UserError: a node did not come up, a bundle was rejected, or a node died.
    """
    plan = replace(plan, sim=True, autostart=False, link=False)
    with bring_up(fleet, plan, plan.domain_id, relay) as team:
        team.configure()
        return run(team)


def stay_up(
    fleet: Fleet, plan: PlanOptions, relay: Relay, duration_s: float = 0.0, called: str = ""
) -> dict[str, float]:
    """Bring a fleet up and leave it to the operator until Ctrl-C; nodes that end by themselves are started
    again.

    Args:
        fleet: the robots.
        plan: nodes to start.
        relay: gets every line that a node prints.
        duration_s: time [s] after which it ends; 0 for never.
        called: name or file of the fleet in the commands that are told; "" for its name.

    Raises:
        UserError: as `rehearse`.
    """
    with bring_up(fleet, replace(plan, tell_goals=True), plan.domain_id, relay) as team:
        relay("up", fleet_price(fleet) + ".")
        team.configure()
        end_s = time.monotonic() + (duration_s or math.inf)
        with suppress(KeyboardInterrupt), team.respawning():
            relay("up", f"all nodes are up after {team.bring_up_s:.1f} s; Ctrl-C ends them.")
            first, then = next_steps(called or fleet.name, team.environment["ROS_DOMAIN_ID"], plan.autostart)
            relay("up", first)
            readiness = team.console.readiness(lambda line: relay("up", line))
            while time.monotonic() < end_s:
                team.console.poll()
                team.configure_again()
                readiness.look(then)
        return {"bring_up_s": team.bring_up_s, "configure_s": team.configure_s}


class TeamNodes:
    """The nodes of a fleet that have come up. Made by `bring_up`."""

    def __init__(self, console: Console, processes: Processes, started_s: float, index: dict[str, int]) -> None:
        """Take over running nodes; `index` is the index of every robot in the team."""
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
            UserError: one refused; gives the error that it logged.
        """
        begin_s = time.monotonic()
        done = self.console.change(CONFIGURE, self.console.team, START_LIMIT_S)
        for name in [name for name, ok in done.items() if not ok]:
            raise UserError(f"{name} was not configured: {self.last_error(name)}")
        self.configure_s = time.monotonic() - begin_s
        self.bring_up_s = time.monotonic() - self._started_s

    @contextmanager
    def respawning(self) -> Iterator[None]:
        """Restart nodes that end by themselves while the console waits, instead of ending all."""
        self.console.watch = self._revive
        try:
            yield
        finally:
            self.console.watch = self.processes.check

    def configure_again(self) -> None:
        """Let robots with restarted processes load their bundles."""
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
    """Start the nodes of a fleet, wait until they answer, and always stop them at the end."""
    specs: list[NodeSpec] = plan_fleet(fleet, plan)
    check_recording(plan.record)
    team = tuple(robot.name for robot in fleet.own)
    chosen = (plan.robots or team) if plan.policies else ()
    base = "/" + plan.namespace.strip("/") if plan.namespace.strip("/") else ""
    task = task_name(fleet.scenario)
    with claimed_domain(domain_id) as domain, Processes(relay) as processes:
        shared = environment(plan.sim, domain, plan.keystore)
        started_s = time.monotonic()
        processes.start(specs, child_environment(shared))
        with open_console(chosen, shared, base, plan.sim, processes.check, task) as console:
            up = TeamNodes(console, processes, started_s, {r.name: r.index for r in fleet.own})
            up.environment = shared
            console.recorders = frozenset(spec.full_name for spec in specs if spec.executable == "recorder_node")
            up.wait()
            yield up


class Rehearsal:
    """Listener to a configured team during a rehearsal."""

    def __init__(self, team: TeamNodes) -> None:
        """Prepare; nothing happens by itself."""
        self.team, self.console = team, team.console
        self.ticks: Ticks = {name: [] for name in team.console.team}
        """Ticks of the robots so far."""

    def listen(self) -> None:
        """Read the messages received since the last call; some kinds of rehearsal read more than the robots' ticks."""
        for name, rows in self.ticks.items():
            rows += self.console.take_ticks(name)

    def until(self, condition: Callable[[], bool], limit_s: float, what: str) -> None:
        """Listen until something is so; raises `UserError` where it was not within the limit."""

        def listened() -> bool:
            self.listen()
            return condition()

        self.console.wait(listened, limit_s, what)

    def rest(self, duration_s: float) -> None:
        """Listen for a while."""
        end_s = time.monotonic() + duration_s
        self.until(lambda: time.monotonic() >= end_s, duration_s + 1, "")

    def moves(self, robots: Iterable[str]) -> bool:
        """Return True if one of the robots moves, or has not been received yet."""
        return any(not (rows := self.ticks[name]) or rows[-1]["state"] in MOVING for name in robots)
