"""`play_match`: one match of two teams in the simulator, through the real nodes, and its result."""

from std_srvs.srv import Trigger

from robomarl.core.config import UserError
from robomarl.core.domain.base import of_kind
from robomarl.core.hardware.fleet import Fleet
from robomarl.domains.soccer.ros.fleet_rules import rules_of
from robomarl.domains.soccer.ros.outcome import MatchResult, match_result
from robomarl.domains.soccer.ros.referee import NOTHING_YET, Phase, Said
from robomarl.domains.soccer.ros.referee_client import RefereeClient
from robomarl.ros.io.processes import Relay
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import SILENT, SLOWER, START_LIMIT_S, Rehearsal, TeamNodes, rehearse

REST_S = 1.0
"""Time [s] after the end, for the last ticks to be published."""
STOP_LIMIT_S = 20.0
"""Time limit [s] from the end until all robots stand in STOP."""


def play_match(fleet: Fleet, plan: PlanOptions, relay: Relay = SILENT) -> MatchResult:
    """Play a match to its end.

    Args:
        fleet: both teams, and which scenario.
        plan: options of the plan, and the length.
        relay: gets every line that a node prints, with its name.

    Raises:
        UserError: the fleet is no game's, a node did not come up, or the match could not be started.
    """
    match_s = rules_of(fleet, plan.match_s)["match_s"]
    return rehearse(fleet, plan, lambda team: Match(team, match_s).play(), relay)


class Match(Rehearsal):
    """One match of a game that has been configured."""

    def __init__(self, team: TeamNodes, match_s: float) -> None:
        """Prepare; nothing happens before `play`. `match_s`: how long it lasts."""
        super().__init__(team)
        self._match_s = match_s
        self._referee = of_kind(team.console.beside, RefereeClient, "The operator's side of a game")
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
        self.until(lambda: not self.moves(self.ticks), STOP_LIMIT_S, "all robots to stop")
        self.rest(REST_S)
        return match_result(self.console.finish(), self.said, self.ticks)

    def start(self) -> None:
        """Start a new match, with all robots playing.

        Raises:
            UserError: with the referee's answer.
        """
        for order in ("reset", "start"):
            if refused := self.ask(order, START_LIMIT_S):
                raise UserError(f"The referee did not {order} the match: {refused}.")
        self.until(lambda: self.said.phase is Phase.PLAYING, START_LIMIT_S, "the match to begin")

    def ask(self, service: str, limit_s: float = 10.0) -> str:
        """Call a service of the referee; returns why it refused."""
        answer = self._referee.services[service].call_async(Trigger.Request())
        self.console.wait(answer.done, limit_s, f"the referee to {service}")
        result = answer.result()
        return "" if result is not None and result.success else getattr(result, "message", "no answer")

    def listen(self) -> None:
        """The referee too."""
        super().listen()
        self.said = self._referee.match.latest() or self.said
