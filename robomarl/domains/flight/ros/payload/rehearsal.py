"""`fly_mission`: one mission of a carrying team, in the simulator, through the real nodes, and its result."""

import time
from dataclasses import replace

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.domains.flight.ros.payload.mission import Mission, load_mission
from robomarl.domains.flight.ros.payload.outcome import MissionResult, load_figures
from robomarl.ros.io.processes import Relay
from robomarl.ros.operator.flight_outcome import complete_log, figures_of, states_of
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import SILENT, SLOWER, Rehearsal, TeamNodes, rehearse
from robomarl.ros.robot.state_machine import State

LIFT_LIMIT_S = 60.0
"""Time limit [s] from the activation until all robots fly their policies, on a machine that has other things to do."""
LAND_LIMIT_S = 60.0
"""Time limit [s] from the end of the mission until all robots stand."""
REST_S = 1.5
"""Time [s] after that, for the vehicles to switch off."""


def fly_mission(
    fleet: Fleet, plan: PlanOptions, lose: tuple[str, float] | None = None, relay: Relay = SILENT
) -> MissionResult:
    """Fly a mission: from the ground, with slack cables, to the ground.

    Args:
        fleet: which robots, and which scenario.
        plan: which mission, with which options.
        lose: a robot to lose by ending its process, and how long after all fly their policies [s].
        relay: gets every line that a node prints, with its name.

    Raises:
        UserError: there is no such mission or robot, a node did not come up, or the team did not take
            off.
    """
    mission = load_mission(plan.mission)
    if lose is not None and lose[0] not in (names := [robot.name for robot in fleet.robots]):
        raise UserError(f"Fleet {fleet.name} has no robot {lose[0]!r}; it has {', '.join(names)}.")
    return rehearse(fleet, replace(plan, ground=True), lambda team: MissionFlight(team, mission).fly(lose), relay)


class MissionFlight(Rehearsal):
    """One mission of a team that has been configured."""

    def __init__(self, team: TeamNodes, mission: Mission) -> None:
        """Prepare; nothing happens before `fly`."""
        super().__init__(team)
        self._mission = mission
        self._times: list[tuple[float, float]] = []

    def fly(self, lose: tuple[str, float] | None = None) -> MissionResult:
        """Reset, activate, wait for the end, judge.

        Args:
            lose: a robot to lose by ending its process, and how long after all fly their policies, in the
                simulator's time.

        Raises:
            UserError: a robot refused, or the team did not take off.
        """
        console, team = self.console, list(self.console.team)
        console.reset()
        refused = {name: why for name, why in console.start(team).items() if why}
        if refused:
            raise UserError("; ".join(f"{name} was not activated: {why}" for name, why in refused.items()) + ".")
        self.until(lambda: self._are(team, (State.ACTIVE,)), LIFT_LIMIT_S, "all robots to lift their load")
        began_s = self._times[-1][1]
        if lose is not None:
            limit_s = SLOWER * lose[1] + LAND_LIMIT_S
            self.until(lambda: self._times[-1][1] - began_s >= lose[1], limit_s, "the time to end a process")
            self.team.processes.kill(next(n for n in self.team.processes.running if f"/{lose[0]}/policy_node" in n))
            team.remove(lose[0])
        limit_s = SLOWER * self._mission.land_s + LAND_LIMIT_S
        self.until(lambda: not self.moves(team), limit_s, "all robots to stand")
        self.rest(REST_S)
        return self._judge(lose)

    def _judge(self, lose: tuple[str, float] | None) -> MissionResult:
        score = self.console.finish()
        complete_log(score, self.ticks)
        reason = "the load was lost, or two robots touched" if score["failed"] else ""
        flight = figures_of(
            {**score, "succeeded_s": score["flight_s"], "time_limit_s": float("inf")}, self.ticks, reason
        )
        load = load_figures(flight, self.ticks, self._flight_s, lose)
        states = states_of(self.ticks)
        stand = all(states[name] == State.STOP.name for name in states if lose is None or name != lose[0])
        ok = not score["failed"] and load.set_down and stand
        return MissionResult(flight, states, score["slipped_s"], ok, load)

    def _flight_s(self, stamp_s: float) -> float:
        """The judge's time at a stamp: they differ when the simulator falls behind."""
        stamps, times = zip(*self._times, strict=True)
        return float(np.interp(stamp_s, stamps, times))

    def _are(self, robots: list[str], states: tuple[State, ...]) -> bool:
        return all(rows and rows[-1]["state"] in states for rows in map(self.ticks.__getitem__, robots))

    def listen(self) -> None:
        """The judge's time too."""
        super().listen()
        if (status := self.console.status.latest()) is not None:
            self._times.append((time.time(), status["flight_s"]))
