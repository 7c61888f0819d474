"""`fly_mission`: one mission of a team that carries, in the simulator, through the real nodes, and what came of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.config import UserError
from robomarl.domains.payload.ros_nodes.mission import Mission, load_mission
from robomarl.domains.payload.ros_nodes.outcome import MissionResult, load_figures
from robomarl.hardware_configs.fleet import Fleet
from robomarl.ros_nodes.io.processes import Relay
from robomarl.ros_nodes.operator.flight_outcome import Tick, complete_log, figures_of
from robomarl.ros_nodes.operator.plan_options import PlanOptions
from robomarl.ros_nodes.operator.rehearsal import SLOWER, TeamNodes, bring_up
from robomarl.ros_nodes.robot.state_machine import MOVING, State

LIFT_LIMIT_S = 60.0
"""From the activation until all robots fly their policies, on a machine that has other things to do."""
LAND_LIMIT_S = 60.0
"""From the end of the mission until all robots stand."""
REST_S = 1.5
"""After that, for the vehicles to switch off."""


@dataclass(frozen=True)
class MissionOptions:
    """What `fly_mission` is to do."""

    mission: str
    """Name or file."""
    bundle: str = ""
    """Instead of the robots' own."""
    root: str = ""
    """Relative folders of the fleet file are below it."""
    out: str = "runs/flights"
    """Folder for logs; it is made."""
    record: str = ""
    """Folder of a recording; none without it."""
    seed: int = 0
    domain_id: int | None = None
    """ROS domain; by default one that nobody uses."""
    lose: tuple[str, float] | None = None
    """A robot whose process is ended, and how long after all fly their policies [s]."""
    params_file: str = ""
    """ROS parameter file that all nodes read first."""


def fly_mission(fleet: Fleet, options: MissionOptions, relay: Relay = lambda name, line: None) -> MissionResult:
    """Fly a mission: from the ground, with slack cables, to the ground.

    Args:
        fleet: which robots, and which scenario.
        options: which mission, with what.
        relay: gets every line that a node prints, with its name.

    Raises:
        UserError: there is no such mission or robot, a node did not come up, or the team did not take off.
    """
    mission = load_mission(options.mission)
    if options.lose is not None and options.lose[0] not in (names := [robot.name for robot in fleet.robots]):
        raise UserError(f"Fleet {fleet.name} has no robot {options.lose[0]!r}; it has {', '.join(names)}.")
    plan = PlanOptions(
        bundle=options.bundle,
        root=options.root,
        sim=True,
        ground=True,
        mission=options.mission,
        record=options.record,
        params_file=options.params_file,
        seed=options.seed,
        log_dir=str(Path(options.out).absolute()),
    )
    with bring_up(fleet, plan, options.domain_id, relay) as team:
        team.configure()
        return MissionFlight(team, mission).fly(options.lose)


class MissionFlight:
    """One mission of a team that has been configured."""

    def __init__(self, team: TeamNodes, mission: Mission) -> None:
        """Prepare; nothing happens before `fly`."""
        self._team, self._console, self._mission = team, team.console, mission
        self._ticks: dict[str, list[Tick]] = {name: [] for name in team.console.team}
        self._times: list[tuple[float, float]] = []

    def fly(self, lose: tuple[str, float] | None = None) -> MissionResult:
        """Reset, activate, wait for the end, judge.

        Args:
            lose: a robot whose process is ended, and how long after all fly their policies, in the simulator's time.

        Raises:
            UserError: a robot refused, or the team did not take off.
        """
        console, team = self._console, list(self._console.team)
        console.reset()
        refused = {name: why for name, why in console.start(team).items() if why}
        if refused:
            raise UserError("; ".join(f"{name} was not activated: {why}" for name, why in refused.items()) + ".")
        self._until(lambda: self._are(team, (State.ACTIVE,)), LIFT_LIMIT_S, "all robots to lift their load")
        began_s = self._times[-1][1]
        if lose is not None:
            limit_s = SLOWER * lose[1] + LAND_LIMIT_S
            self._until(lambda: self._times[-1][1] - began_s >= lose[1], limit_s, "the time to end a process")
            self._team.processes.kill(next(n for n in self._team.processes.running if f"/{lose[0]}/policy_node" in n))
            team.remove(lose[0])
        limit_s = SLOWER * self._mission.land_s + LAND_LIMIT_S
        self._until(lambda: not self._moves(team), limit_s, "all robots to stand")
        self._pass(REST_S)
        return self._judge(lose)

    def _judge(self, lose: tuple[str, float] | None) -> MissionResult:
        score = self._console.finish()
        complete_log(score, self._ticks)
        reason = "the load was lost, or two robots touched" if score["failed"] else ""
        flight = figures_of(
            {**score, "succeeded_s": score["flight_s"], "time_limit_s": float("inf")}, self._ticks, reason
        )
        load = load_figures(flight, self._ticks, self._flight_s, lose)
        states = {name: State(int(rows[-1]["state"])).name for name, rows in self._ticks.items()}
        stand = all(states[name] == State.STOP.name for name in states if lose is None or name != lose[0])
        return MissionResult(flight, load, states, score["slipped_s"], not score["failed"] and load.set_down and stand)

    def _flight_s(self, stamp_s: float) -> float:
        """The judge's time at a stamp: they differ when the simulator falls behind."""
        stamps, times = zip(*self._times, strict=True)
        return float(np.interp(stamp_s, stamps, times))

    def _are(self, robots: list[str], states: tuple[State, ...]) -> bool:
        return all(rows and rows[-1]["state"] in states for rows in map(self._ticks.__getitem__, robots))

    def _moves(self, robots: list[str]) -> bool:
        return any(self._ticks[name][-1]["state"] in MOVING for name in robots)

    def _pass(self, duration_s: float) -> None:
        end_s = time.monotonic() + duration_s
        self._until(lambda: time.monotonic() >= end_s, duration_s + 1, "time to pass")

    def _until(self, condition: Callable[[], bool], limit_s: float, what: str) -> None:
        def listened() -> bool:
            for name, rows in self._ticks.items():
                rows += self._console.take_ticks(name)
            if (status := self._console.status.latest()) is not None:
                self._times.append((time.time(), status["flight_s"]))
            return condition()

        self._console.wait(listened, limit_s, what)
