"""`bench kills --case ssl`: what is between a player's command and its wheels dies in a match over the league's wires.

Each match is brought up anew, and so many seconds after it began something happens to one robot, or to all. The time is
from then on until the robot stands, and stays so for a second. The others play on.
"""

import math
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from benchmarks import Row
from robomarl.core.hardware.fleet import load_fleet
from robomarl.domains.soccer.ros.rehearsal import Match
from robomarl.ros import topics
from robomarl.ros.io.node_base import Mailbox
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import SILENT, TeamNodes, bring_up
from robomarl.ros.robot.state_machine import Order

FLEET, BUNDLE, VICTIM = "soccer_2v2", "soccer_2v2", 0
SECONDS = (2.0, 5.0)
"""Of the match, when it happens."""
MATCH_S = 60.0
RESTS_M_S, RESTS_FOR_S, PATIENCE_S = 0.05, 1.0, 20.0
BRAKES_S, LATE_S = 2.0 / 1.75, 0.4
"""From the largest speed with the vehicle file's brake; and for a message, a tick, and a busy machine."""


@dataclass(frozen=True)
class PlayerKill:
    """One row of the table."""

    does: Callable[["PlayerMatch"], None]
    begins_s: float
    """When the robot begins to stop, at the latest: docs/ssl.md."""

    @property
    def within_s(self) -> float:
        """When it stands, at the latest."""
        return self.begins_s + BRAKES_S + LATE_S


class PlayerMatch:
    """One match, and how fast the victim is."""

    def __init__(self, team: TeamNodes) -> None:
        """Listen to the simulator."""
        self.team, self.match = team, Match(team, MATCH_S)
        node = team.console._node
        self._truth = Mailbox(node, topics.TRUTH, topics.TRUTH.of("sim", ""), _speed, depth=2000)
        self._faults = node.create_client(SetParameters, "/sim/set_parameters")
        self.moved_s = -math.inf
        """Stamp of the last moment at which it moved."""
        self.stamp_s = -math.inf

    def watch(self) -> None:
        """Take what has come."""
        for (stamp_s, speed_m_s), _ in self._truth.take():
            self.stamp_s = stamp_s
            self.moved_s = stamp_s if speed_m_s > RESTS_M_S else self.moved_s

    def rests_after(self, kill: PlayerKill) -> float:
        """Do it; returns how long it took until the victim stood."""
        self.team.console.watch = lambda: None  # who dies now may
        began_s = time.time()
        kill.does(self)

        def stands() -> bool:
            self.watch()
            return self.stamp_s - max(self.moved_s, began_s) > RESTS_FOR_S

        self.match.until(stands, PATIENCE_S, "the robot to stand")
        return max(self.moved_s - began_s, 0.0)

    def kill(self, node: str) -> None:
        """A process dies."""
        self.team.processes.kill(node, signal.SIGKILL)

    def fault(self, what: str) -> None:
        """Something goes wrong with the victim."""
        name = self.team.console.team[VICTIM]
        given = Parameter("faults", value=[f"{name}={what}"]).to_parameter_msg()
        self._faults.call_async(SetParameters.Request(parameters=[given]))


def _speed(message: Any) -> tuple[float, float]:
    stamp, moved = message.header.stamp, message.points[0].velocities[VICTIM].linear
    return stamp.sec + stamp.nanosec / 1e9, math.hypot(moved.x, moved.y)


def _press(match: PlayerMatch) -> None:
    match.team.console.order(Order.ESTOP, ["all"])


KILLS = {
    "policy node killed": PlayerKill(lambda m: m.kill(f"/{m.team.console.team[VICTIM]}/policy_node"), 0.1),
    "adapter killed": PlayerKill(lambda m: m.kill("/ssl_node"), 0.5),
    "E-stop": PlayerKill(_press, 0.1),
    "radio lost": PlayerKill(lambda m: m.fault("deaf"), 0.5),
    "vision lost": PlayerKill(lambda m: m.fault("unseen"), 0.2),
}


def play(kill: PlayerKill, at_s: float) -> tuple[float, int]:
    """One match, brought up anew; returns when the robot stood, and the impacts that our robots caused from then on."""
    with TemporaryDirectory() as root:  # a pressed E-stop stays pressed there
        plan = PlanOptions(bundle=BUNDLE, sim=True, vehicles="ssl", root=root, match_s=MATCH_S)
        with bring_up(load_fleet(FLEET), plan, None, SILENT) as team:
            team.configure()
            match = PlayerMatch(team)
            match.match.listen()
            match.match.start()
            match.match.rest(at_s)
            match.watch()
            before = match.team.console.finish()["impacts_first"]
            stood_s = match.rests_after(kill)
            return stood_s, int(match.team.console.finish()["impacts_first"] - before)


def rows() -> Iterator[Row]:
    """Each kill at each second."""
    for name, kill in KILLS.items():
        for at_s in SECONDS:
            case, (stood_s, impacts) = f"ssl: {name} after {at_s:g} s", play(kill, at_s)
            yield Row(case, "stands", stood_s, "s")
            yield Row(case, "impacts caused", impacts, "")
            yield Row(case, "as stated", float(stood_s <= kill.within_s), "")
