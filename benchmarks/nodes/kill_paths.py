"""`bench kills`: what is between a command and the motors dies in flight: real processes, simulated vehicles.

Each flight is brought up anew: `swap_4` from the ground, and so many seconds after the hand-over something happens to
one robot, or to all. Times are from then on, by the stamps of what the nodes say: until the vehicle does something else
(its adapter says so, or where that is gone it sinks), and until it stands on the ground. Then the operator lands the
others.
"""

import math
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from benchmarks import Row
from benchmarks.nodes import player_kills
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.io.processes import Relay
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import Rehearsal, TeamNodes, bring_up
from robomarl.ros.robot.state_machine import Order, State

FLEET, BUNDLE, VICTIM = "local_4", "policies/swap_4", 1
SECONDS = (1.0, 3.0)
"""Of the flight, when it happens."""
MESSAGES = {"crazyswarm": "crazyflie_interfaces", "px4_dds": "px4_msgs", "mavros": "mavros_msgs"}
"""What has to be importable, here and in child processes, by kind of vehicle."""
VEHICLES = ("crazyflie", "px4", *MESSAGES)
PLAYERS = "ssl"
GROUND_M, SINKS_M = 0.12, 0.1
"""Lower than this a vehicle stands; so much lower than at first it sinks."""
PATIENCE_S = 40.0
STAMP = re.compile(r"\[(\d+\.\d+)\]")
"""Of a line of a node's log, by the system's clock."""
ADAPTERS = {
    "crazyflie": "/crazyflie_node",
    "px4": "/mavlink_robot_1",
    "crazyswarm": "/crazyswarm_node",
    "px4_dds": "/px4_dds_robot_1",
    "mavros": "/mavros_adapter_robot_1",
}


@dataclass
class KillFlight:
    """One flight, and what is heard of it."""

    team: TeamNodes
    vehicles: str
    lines: list[str]
    """What nodes print; each says when."""
    heights_m: np.ndarray = field(default_factory=lambda: np.full(4, np.nan))
    sank_s: float = math.nan
    stood_s: float = math.nan

    def __post_init__(self) -> None:
        """Listen to the simulator."""
        node = self.team.console._node
        name = topics.TRUTH.of("sim", "")
        self._truth = Mailbox(node, topics.TRUTH, name, _heights, depth=2000)  # this process may be held up
        self.faults = node.create_client(SetParameters, "/sim/set_parameters")
        self.rehearsal = Rehearsal(self.team)
        self._from_m, self.began_s = math.inf, math.inf

    @property
    def names(self) -> tuple[str, ...]:
        """Of the robots."""
        return self.team.console.team

    def watch(self) -> None:
        """Take what has come."""
        self.rehearsal.listen()
        for (stamp_s, heights_m), _ in self._truth.take():
            self.heights_m = heights_m
            since_s, height_m = stamp_s - self.began_s, heights_m[VICTIM]
            if since_s >= 0 and math.isnan(self.sank_s) and height_m < self._from_m - SINKS_M:
                self.sank_s = since_s
            if since_s >= 0 and math.isnan(self.stood_s) and height_m < GROUND_M:
                self.stood_s = since_s

    def until(self, condition: Callable[[], bool], limit_s: float = PATIENCE_S, what: str = "it") -> None:
        """Watch until something is so."""

        def watched() -> bool:
            self.watch()
            return condition()

        self.team.console.wait(watched, limit_s, what)

    def start(self, at_s: float) -> None:
        """Fly until so long after the hand-over."""
        console = self.team.console
        goals = console.reset()
        console.send_goals(dict(zip(self.names, goals, strict=True)))
        refused = {name: why for name, why in console.start(self.names).items() if why}
        assert not refused, refused
        at = lambda name: bool(rows := self.rehearsal.ticks[name]) and rows[-1]["state"] == State.ACTIVE  # noqa: E731
        self.until(lambda: all(map(at, self.names)), what="all ACTIVE")
        end_s = time.monotonic() + at_s
        self.until(lambda: time.monotonic() >= end_s, at_s + 1)

    def happen(self, what: "Callable[[KillFlight], None]") -> None:
        """Do it; time counts from here."""
        self.team.console.watch = lambda: None  # who dies now may
        self._from_m, self.began_s = float(self.heights_m[VICTIM]), time.time()
        what(self)

    def said_s(self, *words: str) -> float:
        """When the victim's adapter first said one of these; NaN: never."""
        name = f"{self.names[VICTIM]}: "
        for line in tuple(self.lines):
            stamp = STAMP.search(line)
            when_s = float(stamp[1]) if stamp else -math.inf
            if when_s >= self.began_s and any(name + word in line for word in words):
                return when_s - self.began_s
        return math.nan


def _heights(message: Any) -> tuple[float, np.ndarray]:
    """When, and [N] heights."""
    stamp = message.header.stamp
    return stamp.sec + stamp.nanosec / 1e9, np.array([place.translation.z for place in message.points[0].transforms])


def kill_policy(flight: KillFlight) -> None:
    """The policy node dies."""
    flight.team.processes.kill(f"/{flight.names[VICTIM]}/policy_node", signal.SIGKILL)


def kill_adapter(flight: KillFlight) -> None:
    """The adapter dies: of Crazyflies that of all, of autopilots that of one."""
    flight.team.processes.kill(ADAPTERS[flight.vehicles], signal.SIGKILL)


def press(flight: KillFlight) -> None:
    """The E-stop is pressed, at the monitor."""
    flight.team.console.order(Order.ESTOP, ["all"])


def lose_radio(flight: KillFlight) -> None:
    """No packet passes to or from the vehicle."""
    _fault(flight, "radio")


def empty_battery(flight: KillFlight) -> None:
    """Its battery is low from now on."""
    _fault(flight, "battery")


def _fault(flight: KillFlight, what: str) -> None:
    given = Parameter("faults", value=[f"{flight.names[VICTIM]}={what}"]).to_parameter_msg()
    flight.faults.call_async(SetParameters.Request(parameters=[given]))


@dataclass(frozen=True)
class Kill:
    """One row of the table."""

    does: Callable[[KillFlight], None]
    says: tuple[str, ...]
    """States of the guard that are the answer; none: the vehicle's own."""
    within_s: dict[str, float]
    """Longest time to the answer, by vehicle: what docs/crazyflie.md, docs/mavlink.md and docs/ros_vehicles.md state,
    and what a message takes."""
    grounded_s: float = 12.0
    """And to the ground."""


LATE_S = 0.4
"""For a message, a tick, and a machine that has other things to do."""
AUTOPILOT_S = 1.5 + 1.0
"""COM_OF_LOSS_T and COM_FAIL_ACT_T."""
ALONE_S = {"crazyflie": 1.0 + 1.0, "crazyswarm": 2.0 + 1.0} | dict.fromkeys(("px4", "px4_dds", "mavros"), AUTOPILOT_S)
"""A Crazyflie stops its motors by its watchdog; behind Crazyswarm2, which has none, by the time-out of set-points."""
KILLS = {
    "policy node killed": Kill(kill_policy, ("HOLDING",), dict.fromkeys(VEHICLES, 0.25 + LATE_S)),
    "adapter killed": Kill(kill_adapter, (), ALONE_S),
    "E-stop": Kill(press, ("LANDING",), dict.fromkeys(VEHICLES, 0.1 + LATE_S)),
    "radio lost": Kill(lose_radio, (), ALONE_S),
    "battery low": Kill(empty_battery, ("LANDING",), dict.fromkeys(VEHICLES, 2.0 + LATE_S)),
}
"""The answers of the vehicle itself are seen once it has sunk by 0.1 m: another second at most."""


@dataclass(frozen=True)
class Outcome:
    """What came of one flight."""

    answered_s: float
    grounded_s: float
    """Of the victim."""
    all_down: bool
    contacts: int
    closest_m: float

    def ok(self, kill: Kill, vehicles: str) -> bool:
        """As stated."""
        in_time = self.answered_s <= kill.within_s[vehicles] and self.grounded_s <= kill.grounded_s
        return in_time and self.all_down and self.contacts == 0


def fly(vehicles: str, kill: Kill, at_s: float) -> Outcome:
    """One flight, brought up anew."""
    lines: list[str] = []
    relay: Relay = lambda name, line: lines.append(line)  # noqa: E731
    with TemporaryDirectory() as root:  # a pressed E-stop stays pressed there
        plan = PlanOptions(bundle=BUNDLE, sim=True, vehicles=vehicles, ground=True, root=root)
        return _flown(plan, relay, lines, kill, at_s)


def _flown(plan: PlanOptions, relay: Relay, lines: list[str], kill: Kill, at_s: float) -> Outcome:
    vehicles = plan.vehicles
    with bring_up(load_fleet(FLEET), plan, None, relay) as team:
        team.configure()
        flight = KillFlight(team, vehicles, lines)
        flight.start(at_s)
        flight.happen(kill.does)
        flight.until(lambda: not math.isnan(flight.stood_s), what="the vehicle to stand on the ground")
        _land_others(flight, kill)
        all_down = bool((flight.heights_m < GROUND_M).all())
        answered_s = flight.said_s(*kill.says) if kill.says else flight.sank_s
        score = team.console.finish()
        return Outcome(answered_s, flight.stood_s, all_down, int(score["collisions"]), score["min_distance_m"])


def _land_others(flight: KillFlight, kill: Kill) -> None:
    """The operator lands who still flies."""
    down = lambda: bool((flight.heights_m < GROUND_M).all())  # noqa: E731
    if kill.does is not press:
        flight.team.console.order(Order.LAND, ["all"])
    flight.until(down, what="all to stand on the ground")


def rows(cases: tuple[str, ...] = ()) -> list[Row]:
    """The table: each kill at each second, for each kind of vehicle whose messages are there.

    Raises:
        UserError: a kind was named whose messages are not.
    """
    missing = {kind for kind, package in MESSAGES.items() if find_spec(package) is None}
    for kind in sorted(missing & set(cases)):
        raise UserError(f"bench kills: --case {kind} needs {MESSAGES[kind]}; source the workspace that has it.")
    chosen = cases or tuple(kind for kind in (*VEHICLES, PLAYERS) if kind not in missing)
    flown = [row for vehicles in chosen if vehicles != PLAYERS for name in KILLS for row in _rows(vehicles, name)]
    return [*flown, *(player_kills.rows() if PLAYERS in chosen else ())]


def _rows(vehicles: str, name: str) -> Iterator[Row]:
    for at_s in SECONDS:
        case, outcome = f"{vehicles}: {name} after {at_s:g} s", fly(vehicles, KILLS[name], at_s)
        yield Row(case, "answer", outcome.answered_s, "s")
        yield Row(case, "on the ground", outcome.grounded_s, "s")
        yield Row(case, "closest", outcome.closest_m, "m")
        yield Row(case, "contacts", outcome.contacts, "")
        yield Row(case, "as stated", float(outcome.ok(KILLS[name], vehicles)), "")


CASES = dict.fromkeys((*VEHICLES, PLAYERS))
"""Kinds of vehicles, for `--case`."""
