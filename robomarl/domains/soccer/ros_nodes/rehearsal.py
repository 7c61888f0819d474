"""`play_match`: one match of two teams in the simulator, through the real nodes, and what came of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from std_srvs.srv import Trigger

from robomarl.config import UserError
from robomarl.domains.soccer.ros_nodes.fleet_rules import rules_of
from robomarl.domains.soccer.ros_nodes.outcome import MatchResult, match_result
from robomarl.domains.soccer.ros_nodes.referee import NOTHING_YET, Phase, Said
from robomarl.domains.soccer.ros_nodes.referee_client import RefereeClient
from robomarl.hardware_configs.fleet import Fleet
from robomarl.ros_nodes.io.processes import Relay
from robomarl.ros_nodes.operator.flight_outcome import Tick
from robomarl.ros_nodes.operator.plan_options import PlanOptions
from robomarl.ros_nodes.operator.rehearsal import SLOWER, START_LIMIT_S, TeamNodes, bring_up
from robomarl.ros_nodes.robot.state_machine import MOVING

REST_S = 1.0
"""After the end, for the last ticks to be told."""
STOP_LIMIT_S = 20.0
"""From the end until all robots stand in STOP."""


@dataclass(frozen=True)
class MatchOptions:
    """What `play_match` is to do."""

    bundle: str = ""
    """Of all robots, instead of their own."""
    against: str = ""
    """Of the second team, if it is another one."""
    root: str = ""
    """Relative folders of the fleet file are below it."""
    out: str = "runs/flights"
    """Folder for logs; it is made."""
    record: str = ""
    """Folder of a recording; none without it."""
    seed: int = 0
    domain_id: int | None = None
    """ROS domain; by default one that nobody uses."""
    match_s: float = 0.0
    """Length of the match; 0: the scenario's."""
    params_file: str = ""
    """ROS parameter file that all nodes read first."""

    @property
    def plan(self) -> PlanOptions:
        """What is started for it."""
        return PlanOptions(
            bundle=self.bundle,
            against=self.against,
            root=self.root,
            sim=True,
            record=self.record,
            params_file=self.params_file,
            seed=self.seed,
            log_dir=str(Path(self.out).absolute()),
            match_s=self.match_s,
        )


def play_match(fleet: Fleet, options: MatchOptions, relay: Relay = lambda name, line: None) -> MatchResult:
    """Play a match to its end.

    Args:
        fleet: both teams, and which scenario.
        options: with what.
        relay: gets every line that a node prints, with its name.

    Raises:
        UserError: the fleet is no game's, a node did not come up, or the match could not be started.
    """
    if fleet.teams != 2:
        raise UserError(f"Fleet {fleet.name} is one team; a match is between two, so write teams: 2.")
    with bring_up(fleet, options.plan, options.domain_id, relay) as team:
        team.configure()
        return Match(team, rules_of(fleet, options.match_s)["match_s"]).play()


class Match:
    """One match of a game that has been configured."""

    def __init__(self, team: TeamNodes, match_s: float) -> None:
        """Prepare; nothing happens before `play`. `match_s`: how long it lasts."""
        self._console, self._match_s = team.console, match_s
        self._referee: RefereeClient = team.console.beside
        self.ticks: dict[str, list[Tick]] = {name: [] for name in team.console.team}
        self.said: Said = NOTHING_YET
        """The referee's last word."""

    def play(self) -> MatchResult:
        """Reset, start, wait for the end, judge.

        Raises:
            UserError: it could not be started, or did not end.
        """
        self.start()
        limit_s = SLOWER * self._match_s + START_LIMIT_S
        self.until(lambda: self.said.phase is Phase.OVER, limit_s, "the end of the match")
        self.until(lambda: not self._moves(), STOP_LIMIT_S, "all robots to stop")
        self.rest(REST_S)
        return match_result(self._console.finish(), self.said, self.ticks)

    def start(self) -> None:
        """A new match, with all robots playing.

        Raises:
            UserError: says what the referee said.
        """
        for order in ("reset", "start"):
            if refused := self.ask(order, START_LIMIT_S):
                raise UserError(f"The referee did not {order} the match: {refused}.")
        self.until(lambda: self.said.phase is Phase.PLAYING, START_LIMIT_S, "the match to begin")

    def ask(self, service: str, limit_s: float = 10.0) -> str:
        """Call a service of the referee; returns why it refused."""
        answer = self._referee.services[service].call_async(Trigger.Request())
        self._console.wait(answer.done, limit_s, f"the referee to {service}")
        result = answer.result()
        return "" if result is not None and result.success else getattr(result, "message", "no answer")

    def until(self, condition: Callable[[], bool], limit_s: float, what: str) -> None:
        """Listen until something is so.

        Raises:
            UserError: it was not within the limit.
        """

        def listened() -> bool:
            for name, rows in self.ticks.items():
                rows += self._console.take_ticks(name)
            self.said = self._referee.match.latest() or self.said
            return condition()

        self._console.wait(listened, limit_s, what)

    def rest(self, duration_s: float) -> None:
        """Listen for a while."""
        end_s = time.monotonic() + duration_s
        self.until(lambda: time.monotonic() >= end_s, duration_s + 1, "time to pass")

    def _moves(self) -> bool:
        return any(not rows or rows[-1]["state"] in MOVING for rows in self.ticks.values())
