"""A team that carries, without ROS: autopilots and simulated robots in one process, in the simulator's time."""

from pathlib import Path

import numpy as np

from robomarl.core.geometry import quat_from_yaw
from robomarl.core.view import Goal
from robomarl.domains.flight.field.sim_team import RealTimeTeam
from robomarl.domains.flight.lab.payload.state import Load, origin
from robomarl.domains.flight.ros.payload.topics import LOAD_POSE
from robomarl.lab.sim.scenario import load_scenario
from robomarl.ros.robot.assembly import assemble
from robomarl.ros.robot.certified.words import TeamWords
from robomarl.ros.robot.decision import Decision
from robomarl.ros.robot.inbox import Broadcast, Now
from robomarl.ros.robot.startup import Loaded, load_pilot
from robomarl.ros.robot.state_machine import Order, State
from robomarl.ros.settings import PolicySettings

LATE_S = 0.002
"""From the stamp of what is sensed to the tick."""
HANDOVER_M = 0.8


def goal(x: float, y: float, z: float, yaw_rad: float = 0.0) -> Goal:
    return Goal(np.array([x, y, z]), quat_from_yaw(np.float64(yaw_rad)))


class LoadRig:
    """Three robots on the ground around their load."""

    def __init__(self, bundle: Path, seed: int = 0, filter_name: str = "full") -> None:
        scenario = load_scenario("lift_3")
        self.names = tuple(f"robot_{i}" for i in range(scenario.count))
        about = {"team": self.names, "bundle": str(bundle), "vehicle": scenario.vehicle, "handover_m": HANDOVER_M}
        seats = [{"index": i, "filter": filter_name} for i in range(scenario.count)]
        settings = [PolicySettings(**about, **seat) for seat in seats]
        self.robots = [assemble(each, self.loaded(each)) for each in settings]
        self.team = RealTimeTeam(scenario, ground=True)
        self.team.reset(seed)
        self.now_s, self.steps = 0.0, 0
        self.gone: set[int] = set()
        """Robots whose process has ended."""
        self.blind: set[int] = set()
        """Robots that do not hear where the load is."""
        self.decisions: list[Decision | None] = [None] * scenario.count
        self.states: list[list[State]] = [[] for _ in self.names]
        """Of every robot, each once when it enters it."""

    def loaded(self, settings: PolicySettings) -> Loaded:
        """The bundle of a robot with these settings."""
        return load_pilot(settings)

    @property
    def now(self) -> Now:
        return Now(1000 + self.now_s, 10 + self.now_s)

    @property
    def load(self) -> Load:
        load = self.team.world.load
        assert isinstance(load, Load), "lift_3 has a load"
        return load

    @property
    def place_m(self) -> np.ndarray:
        """[3] of the load's own frame."""
        return origin(self.load.rigid, self.load.cargo.com_m)[0]

    @property
    def left(self) -> list[int]:
        return [i for i in range(len(self.robots)) if i not in self.gone]

    def send(self, where: Goal) -> None:
        for robot in self.robots:
            robot.inputs.inbox.put_goal(where)
        self.team.set_load_goal(where)

    def order(self, *orders: Order) -> list[str]:
        return [self.robots[i].autopilot.order(order, self.now) for order in orders for i in self.left]

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / self.team.dt_s)):
            self.step()

    def run_until(self, state: State, limit_s: float) -> None:
        """Until all robots that are left are in a state."""
        while not all(self.robots[i].autopilot.state is state for i in self.left):
            assert (limit_s := limit_s - self.team.dt_s) > 0, [r.autopilot.state for r in self.robots]
            self.step()

    def step(self) -> None:
        if self.steps % self.team.every == 0:
            self._hear()
            self._decide()
        self.team.step()
        self.steps += 1
        self.now_s += self.team.dt_s

    def _hear(self) -> None:
        now, estimates = self.now, self.team.estimates(self.team.truth())
        pose = Goal(self.load.measured_pos_m[0, 0].astype(float), self.load.measured_quat[0, 0].astype(float))
        for i in self.left:
            inbox, agreement, heartbeat, _ = self.robots[i].inputs
            inbox.put_own(estimates[i], *now)
            heartbeat.hear("monitor", False, now.steady_s)
            if i not in self.blind:
                inbox.put_sensed(LOAD_POSE.name, pose, *now)
            for k in set(self.left) - {i}:
                mate, said = self.robots[k], self.decisions[k]
                agreement.hear(mate.inputs.agreement.own._replace(state=mate.autopilot.state), now.steady_s)
                inbox.put_bundle(self.names[k], mate.loaded.id)
                if said is not None and not self.is_lost(k, i):
                    own, words = estimates[k], self.words(k)
                    inbox.put_mate(self.names[k], Broadcast(own.pos_m, own.vel_m_s, said.plan, words=words), *now)

    def is_lost(self, sender: int, receiver: int) -> bool:
        """Whether the radio loses this robot's message to that one now."""
        return False

    def words(self, index: int) -> TeamWords | None:
        """What a certified robot tells its teammates."""
        robot = self.robots[index]
        rows = robot.autopilot.words
        return None if rows is None else TeamWords(robot.inputs.inbox.mates, rows)

    def _decide(self) -> None:
        now = Now(*(moment + LATE_S for moment in self.now))
        for i in self.left:
            self.decisions[i] = decision = self.robots[i].autopilot.tick(now)
            if decision.command is not None:
                self.team.command(i, decision.command)
            state = self.robots[i].autopilot.state
            if self.states[i][-1:] != [state]:
                self.states[i].append(state)
