"""`play_rallies`: rallies of drones in the simulator, through the real nodes, and their result."""

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.core.types import Figures
from robomarl.domains.volleyball.ros.outcome import OVER, RallyResult, counts_of, result_of
from robomarl.ros.io.processes import Relay
from robomarl.ros.operator.console import DEACTIVATE
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import SILENT, SLOWER, START_LIMIT_S, Rehearsal, TeamNodes, rehearse

REST_S = 0.5
"""Time [s] after the end of a rally, for the last ticks to be published."""


def play_rallies(fleet: Fleet, plan: PlanOptions, rallies: int, relay: Relay = SILENT) -> RallyResult:
    """Play rallies, each to its end.

    Args:
        fleet: one team, or both teams of a match, and which scenario.
        plan: options of the plan; `seed` is that of the first rally, each one adds 1.
        rallies: how many.
        relay: gets every line that a node prints, with its name.

    Raises:
        UserError: a node did not come up, a robot was not activated, or a rally was not served.
    """

    def run(team: TeamNodes) -> RallyResult:
        found, last = [], None
        for _ in range(rallies):
            last = PlayedRally(team, fleet.teams == 1)
            found.append(counts_of(last.play(), last.ticks))
        assert last is not None, "at least one rally was asked for"
        return result_of(found, last.ticks, team.slipped_s, fleet.teams > 1)

    return rehearse(fleet, plan, run, relay)


class PlayedRally(Rehearsal):
    """One rally of a team that has been configured."""

    def __init__(self, team: TeamNodes, has_goals: bool) -> None:
        """Prepare; nothing happens before `play`. `has_goals`: robots are told their posts as goals."""
        super().__init__(team)
        self._has_goals = has_goals
        self._status: dict[str, float] = {}

    def play(self) -> Figures:
        """Reset, activate, wait for the end, deactivate; return the simulator's figures.

        Raises:
            UserError: a robot was not activated, or gave up, or the rally did not end.
        """
        console, robots = self.console, self.console.team
        goals = console.reset()
        console.send_goals(dict(zip(robots, goals, strict=True)) if self._has_goals else {})
        self.listen()
        for rows in self.ticks.values():
            rows.clear()
        refused = console.start(robots)
        if told := [f"{name} was not activated: {why}" for name, why in refused.items() if why]:
            raise UserError("; ".join(told) + ".")
        self._wait()
        console.change(DEACTIVATE, robots)
        self.rest(REST_S)
        figures = console.finish()
        self.team.slipped_s = figures["slipped_s"]
        return figures

    def _wait(self) -> None:
        self.until(lambda: self._status.get("rally_s", 0.0) > 0 or self._is_over(), START_LIMIT_S, "the serve")
        limit_s = SLOWER * self._status["time_limit_s"]
        self.until(self._is_over, limit_s, "the end of the rally")
        self.rest(REST_S)

    def _is_over(self) -> bool:
        return self._status.get("phase") == OVER

    def listen(self) -> None:
        """The simulator's status too; one of before the reset is of another rally."""
        super().listen()
        self._status = self.console.status.latest() or self._status
