"""`RealTimeTeam`: MuJoCo's robots, one physics step at a time, so that commands act when they arrive. No ROS.

It is the engine that verifies policies, stepped at the physics rate: decisions, delay and radio are the real
ones of the nodes and of DDS, and the scenario's own are left out.
"""

from dataclasses import replace

import numpy as np

from robomarl.core.geometry import quat_from_yaw, yaw_of
from robomarl.core.types import GRAVITY_M_S2
from robomarl.core.vectors import to_world
from robomarl.core.view import Goal
from robomarl.domains.flight.core.control.indi import Reading, rest_control
from robomarl.domains.flight.field.judge import Judge
from robomarl.domains.flight.field.vehicle_failsafe import Mode, VehicleFailsafe
from robomarl.domains.flight.lab.engines.mujoco import MujocoTeam
from robomarl.domains.flight.lab.payload.state import Load, Rigid, attitude, origin
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.world import FlightWorld, positions, velocities
from robomarl.lab.sim.scenario import RateConfig
from robomarl.ros.flight_score import Score
from robomarl.ros.robot.hover.control import LEVEL_M
from robomarl.ros.robot.inbox import Estimate

ON_FEET = (Mode.GROUNDED, Mode.LANDED)
"""Modes of vehicles that stand on the ground."""
TAKEN_OFF_M = 0.1
"""Height [m] above the arena's floor from which a robot that began on the ground has taken off."""


class RealTimeTeam:
    """One team. Array axes are [N, ...], in the order of the robots' indices."""

    def __init__(self, scenario: FlightScenario, ground: bool = False, handover_m: float = 0.0) -> None:
        """Compile the model; call `reset` before the first step.

        Args:
            scenario: the simulated scenario.
            ground: robots start on the ground.
            handover_m: the judge's clock starts when all robots have taken off and climbed there.
        """
        self.scenario, self._ground, self._handover_m = scenario, ground, handover_m
        self._fine = stepwise(scenario)
        self.width = len(scenario.command_limits[0])
        """A, elements of a command."""
        self.onboard = VehicleFailsafe(scenario.vehicle_config, scenario.count, self.width)
        self.every = scenario.substeps // self._fine.substeps
        """Steps from one decision of the policies to the next."""
        self.judge = Judge(self._fine, self.every)
        self._resets, self._seed = -1, -1
        self._sim = self._engine(0)

    @property
    def dt_s(self) -> float:
        """Time that one step takes."""
        return self._fine.period_s

    def reset(self, seed: int) -> None:
        """New places, goals, weather and vehicles, drawn from the seed; everybody hovers."""
        self._sim = self._engine(seed)
        world = self._sim.reset()
        self.onboard.reset(world.measured.pos_m[0])
        if self._ground:
            self._put_down(world)
        self.judge.reset()
        self._resets, self._seed = self._resets + 1, seed

    def command(self, index: int, command: np.ndarray) -> None:
        """A command [A] arrived at a robot."""
        self.onboard.receive(index, command)

    def set_goal(self, index: int, goal_m: np.ndarray) -> None:
        """A robot was given another goal [3]: for the judge, no robot is told here."""
        goals = self.world.goal_m.copy()
        goals[0, index] = goal_m
        self._sim.set_world(self.world._replace(goal_m=goals))

    def set_load_goal(self, goal: Goal) -> None:
        """The team was given another goal for its load: for the judge, as above."""
        load = self.world.carried
        turned = np.broadcast_to(goal.quat_wxyz, load.goal_quat.shape).astype(load.goal_quat.dtype)
        places = np.broadcast_to(goal.pos_m, self.world.goal_m.shape).astype(self.world.goal_m.dtype)
        self._sim.set_world(self.world._replace(goal_m=places, load=load._replace(goal_quat=turned)))

    def stop(self) -> None:
        """The E-stop is pressed, and the vehicles hear it."""
        self.onboard.stop()

    def stand_still(self, duration_s: float) -> None:
        """Let real time [s] pass without a step."""
        measured = self.world.measured
        self.onboard.pass_time(measured.pos_m[0], measured.vel_m_s[0], duration_s)

    def step(self) -> None:
        """One physics step."""
        stands, before = np.isin(self.onboard.mode, ON_FEET), self.world
        command = self._drive()
        self._stop_motors()
        world = self._sim.step(command[None])
        if stands.any():
            self._sim.set_world(world := on_feet(before, world, stands))
        if self.judge.flight_s or self._has_begun(world):
            self.judge.watch(world, command, bool(self._sim.contact[0]))
        elif self._ground:
            self.judge.watch_climb(world, bool(self._sim.contact[0]))

    def _engine(self, seed: int) -> MujocoTeam:
        """One team on MuJoCo."""
        return MujocoTeam(self._fine, 1, seed)

    def _drive(self) -> np.ndarray:
        """Return the commands [N, A] of the low-level controllers for this step."""
        measured = self.world.measured
        return self.onboard.step(measured.pos_m[0], measured.vel_m_s[0], self.dt_s)

    def _stop_motors(self) -> None:
        """Mark vehicles with motors that stop now: from here on they hang or fall, in the engine and for the judge."""
        off, load = self.onboard.mode == Mode.OFF, self.world.load
        if not off.any() or not isinstance(load, Load):
            return
        now_s = self.world.step[..., None] * self._fine.period_s
        stops = off & (load.cargo.off_s > now_s)
        if stops.any():
            cargo = load.cargo._replace(off_s=np.where(stops, now_s, load.cargo.off_s))
            self._sim.set_world(self.world._replace(load=load._replace(cargo=cargo)))

    def _has_begun(self, world: FlightWorld) -> bool:
        if not self._ground:
            return bool((self.onboard.mode != Mode.WAITING).any())
        low_m, load = self.scenario.arena.low_m[2] + TAKEN_OFF_M, world.load
        if isinstance(load, Load) and origin(load.rigid, load.cargo.com_m)[0, 2] < low_m:
            return False
        low_m = max(low_m, self._handover_m - LEVEL_M)
        return bool((self.onboard.mode == Mode.FOLLOWING).all() and (positions(world.body)[0, :, 2] > low_m).all())

    def _put_down(self, world: FlightWorld) -> None:
        """Put the vehicles on the ground below their places, at rest."""
        body = world.body
        x, y, z = body.pos
        still = tuple(np.zeros_like(part) for part in body.vel)
        level = (np.ones_like(z), *(np.zeros_like(z) for _ in range(3)))
        place = (x, y, np.full_like(z, self.scenario.vehicle_config.body.radius_m))
        down = body._replace(pos=place, vel=still, omega=still, quat=level)
        world = world._replace(body=down)  # type: ignore[arg-type]
        self._sim.set_world(world if self.scenario.load is None else grounded(self.scenario, world))
        self.onboard.ground()
        self._sim.step(self.onboard.step(positions(down)[0], velocities(down)[0], self.dt_s)[None])

    @property
    def world(self) -> FlightWorld:
        """True state of the world now; axes [1, N, ...]."""
        return self._sim.world

    @property
    def goals_m(self) -> np.ndarray:
        """[N, 3] where the robots are asked to be."""
        return self.world.goal_m[0]

    @property
    def goals(self) -> list[Goal]:
        """Goals as poses: upright, or with the attitude wanted of the robots' load."""
        load, upright = self.world.load, np.array([1.0, 0.0, 0.0, 0.0])
        turned = load.goal_quat[0] if isinstance(load, Load) else [upright] * len(self.goals_m)
        return [Goal(*pose) for pose in zip(self.goals_m, turned, strict=True)]

    def estimates(self, truth: Estimate) -> list[Estimate]:
        """Return the current estimate of each robot's estimator, noise included; `truth` is the current truth."""
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


def on_feet(before: FlightWorld, world: FlightWorld, stands: np.ndarray) -> FlightWorld:
    """Vehicles [N] on the ground stay where they are: to the engine they are spheres, which wind would roll."""
    body, then = world.body, before.body
    parts = {
        name: tuple(np.where(stands, a, b) for a, b in zip(getattr(then, name), getattr(body, name), strict=True))
        for name in ("pos", "quat")
    }
    parts |= {name: tuple(np.where(stands, 0.0, b) for b in getattr(body, name)) for name in ("vel", "omega")}
    return world._replace(body=body._replace(**parts))


def grounded(scenario: FlightScenario, world: FlightWorld) -> FlightWorld:
    """Return the world with the load on the ground, level, below its place; rotors idle, cables slack."""
    load, (section, _) = world.carried, scenario.carried
    heading = quat_from_yaw(yaw_of(attitude(load.rigid)))
    turn = tuple(heading[..., i] for i in range(4))
    x, y, _ = np.moveaxis(origin(load.rigid, load.cargo.com_m), -1, 0)
    centre = to_world(turn, load.cargo.com_m)
    place = (x + centre[0], y + centre[1], centre[2] - section.box_low_m[2])
    still = tuple(np.zeros_like(part) for part in place)
    zero = np.zeros_like(world.body.pos[0])
    body = world.body._replace(rotors=(zero,) * 4)
    control = rest_control(Reading(body.quat, body.vel, body.omega, body.rotors), (zero, zero, zero + GRAVITY_M_S2))
    rigid = Rigid(place, turn, still, still)
    return world._replace(body=body, control=control, load=load._replace(rigid=rigid, tension_n=zero))


def stepwise(scenario: FlightScenario) -> FlightScenario:
    """The scenario with one decision for each physics step and nothing between decision and rotor.

    A team with a load is stepped at the policy's rate: following the load takes as long as the physics, and a command
    that waits for less than a period is within the delay that policies are trained for.
    """
    hz = scenario.rates.physics_hz
    return replace(
        scenario,
        rates=scenario.rates if scenario.load else RateConfig(policy_hz=hz, physics_hz=hz),
        radio=replace(scenario.radio, latency_s=0.0),
        randomize=replace(scenario.randomize, delay_s=(0.0, 0.0), packet_loss=(0.0, 0.0)),
    )
