"""`RealTimeTeam`: MuJoCo's robots, one physics step at a time, so that commands act when they arrive. No ROS.

It is the engine that verifies policies, stepped at the physics rate: decisions, delay and radio are the real
ones of the nodes and of DDS, and the scenario's own are left out.
"""

from dataclasses import replace

import numpy as np

from robomarl.ros_nodes.inbox import Estimate
from robomarl.ros_nodes.sim_node.judge import Judge, Score
from robomarl.ros_nodes.sim_node.onboard import Mode, Onboard
from robomarl.sim.engines.mujoco import MujocoTeam
from robomarl.sim.scenario import RateConfig, Scenario
from robomarl.sim.world import World, positions, velocities

TAKEN_OFF_M = 0.1
"""So far above the arena's floor, a robot that began on the ground has taken off."""


class RealTimeTeam:
    """One team. Array axes are [N, ...], in the order of the robots' indices."""

    def __init__(self, scenario: Scenario, ground: bool = False) -> None:
        """Compile the model; call `reset` before the first step.

        Args:
            scenario: what is simulated.
            ground: robots start on the ground; the judge waits until all of them have taken off.
        """
        self.scenario, self._ground = scenario, ground
        self._fine = stepwise(scenario)
        self.onboard = Onboard(scenario.vehicle_config, scenario.count)
        self.judge = Judge(self._fine, scenario.substeps)
        self._resets, self._seed = -1, -1
        self._sim = MujocoTeam(self._fine, 1, 0)

    @property
    def dt_s(self) -> float:
        """Time that one step takes."""
        return self.scenario.physics_dt_s

    def reset(self, seed: int) -> None:
        """New places, goals, weather and vehicles, drawn from the seed; everybody hovers."""
        self._sim = MujocoTeam(self._fine, 1, seed)
        world = self._sim.reset()
        self.onboard.reset(world.measured.pos_m[0])
        if self._ground:
            self._put_down(world)
        self.judge.reset()
        self._resets, self._seed = self._resets + 1, seed

    def command(self, index: int, command: np.ndarray) -> None:
        """A command [4] arrived at a robot."""
        self.onboard.receive(index, command)

    def set_goal(self, index: int, goal_m: np.ndarray) -> None:
        """A robot was given another goal [3]: for the judge, no robot is told here."""
        goals = self.world.goal_m.copy()
        goals[0, index] = goal_m
        self._sim.set_world(self.world._replace(goal_m=goals))

    def step(self) -> None:
        """One physics step."""
        measured = self.world.measured
        command = self.onboard.step(measured.pos_m[0], measured.vel_m_s[0], self.dt_s)
        world = self._sim.step(command[None])
        if self.judge.flight_s or self._has_begun(world):
            self.judge.watch(world, command, bool(self._sim.contact[0]))

    def _has_begun(self, world: World) -> bool:
        if not self._ground:
            return bool((self.onboard.mode != Mode.WAITING).any())
        low_m = self.scenario.arena.low_m[2] + TAKEN_OFF_M
        return bool((self.onboard.mode == Mode.FOLLOWING).all() and (positions(world.body)[0, :, 2] > low_m).all())

    def _put_down(self, world: World) -> None:
        """Where they are, but on the ground and at rest."""
        body = world.body
        x, y, z = body.pos
        still = tuple(np.zeros_like(part) for part in body.vel)
        level = (np.ones_like(z), *(np.zeros_like(z) for _ in range(3)))
        place = (x, y, np.full_like(z, self.scenario.vehicle_config.body.radius_m))
        down = body._replace(pos=place, vel=still, omega=still, quat=level)
        self._sim.set_world(world._replace(body=down))  # type: ignore[arg-type]
        self.onboard.ground()
        self._sim.step(self.onboard.step(positions(down)[0], velocities(down)[0], self.dt_s)[None])

    @property
    def world(self) -> World:
        """What is true now; axes [1, N, ...]."""
        return self._sim.world

    @property
    def goals_m(self) -> np.ndarray:
        """[N, 3] where the robots are asked to be."""
        return self.world.goal_m[0]

    def estimates(self, truth: Estimate) -> list[Estimate]:
        """What each robot's estimator reports now, noise included; `truth` is that of now."""
        measured, quat, omega = self.world.measured, truth.quat_wxyz, truth.omega_rad_s
        rows = zip(measured.pos_m[0], quat, measured.vel_m_s[0], omega, strict=True)
        return [Estimate(*row) for row in rows]

    def truth(self) -> Estimate:
        """True states of all robots, [N, ...] each."""
        body = self.world.body
        quat, omega = np.stack(body.quat, -1)[0], np.stack(body.omega, -1)[0]
        return Estimate(positions(body)[0], quat, velocities(body)[0], omega)

    def score(self, slipped_s: float = 0.0) -> Score:
        """The judge's figures now."""
        judge = self.judge
        flown = (judge.flight_s, judge.succeeded_s, float(judge.failed), judge.collisions, judge.min_distance_m)
        return Score(self._resets, self._seed, *flown, self.scenario.time_limit_s, slipped_s)


def stepwise(scenario: Scenario) -> Scenario:
    """The scenario with one decision for each physics step and nothing between decision and rotor."""
    hz = scenario.rates.physics_hz
    return replace(
        scenario,
        rates=RateConfig(policy_hz=hz, physics_hz=hz),
        radio=replace(scenario.radio, latency_s=0.0),
        randomize=replace(scenario.randomize, delay_s=(0.0, 0.0), packet_loss=(0.0, 0.0)),
    )
