"""`VolleyMujoco`: a batch of teams with their ball, moved by MuJoCo.

Attitude controller, motors' lag and referee are those of `fast`; rigid bodies, the ball's flight
and its contacts with rackets are MuJoCo's.
"""

import copy
from collections.abc import Callable

import numpy as np

from robomarl.core.geometry import components
from robomarl.core.view import Plan
from robomarl.domains.volleyball.lab.commands import asked_thrusts
from robomarl.domains.volleyball.lab.engines.mjcf import build_model, spring
from robomarl.domains.volleyball.lab.physics.ball import FlyingBall
from robomarl.domains.volleyball.lab.physics.drone import Drone, spun
from robomarl.domains.volleyball.lab.scenario import VolleyScenario
from robomarl.domains.volleyball.lab.world import ball_of, drones_of, with_bodies
from robomarl.lab.sim.engines.rollouts import Rollouts
from robomarl.lab.sim.model.batch import ModelSim
from robomarl.lab.sim.model.model import Model
from robomarl.lab.sim.model.world import TeamWorld

Rules = tuple[Model, Callable[..., TeamWorld]]
"""The model, and (scenario, world before, world after, [E, M] bool touched, draws) -> the world with the referee's
record."""
POSE, TWIST = 7, 6
"""Numbers of a free joint: place and attitude, and velocities."""


class VolleyMujoco(ModelSim):
    """E teams; each episode has contacts with its own restitution."""

    scenario: VolleyScenario

    def __init__(self, rules: Rules, scenario: VolleyScenario, num_envs: int, seed: int) -> None:
        """Compile the model."""
        import mujoco

        model, self._judged = rules
        super().__init__(model, scenario, num_envs, seed)
        self._model = build_model(scenario)
        control = int(mujoco.mjtState.mjSTATE_CTRL)  # pyright: ignore[reportAttributeAccessIssue]
        self._rollouts = Rollouts(self._model, num_envs, control, scenario.contact_steps)

    def _started(self, world: TeamWorld) -> None:
        if self.scenario.ball is None:
            return
        values = np.broadcast_to(world.own.restitution, (self.num_envs,))
        made = {value: self._bouncing(float(value)) for value in np.unique(values)}
        self._rollouts.models = [made[value] for value in values]

    def _bouncing(self, restitution: float) -> object:
        """Return the model with this restitution of all rackets."""
        model = copy.copy(self._model)
        for index in range(self.scenario.robots):
            model.geom(f"racket{index}").solref = spring(self.scenario, restitution)
        return model

    def _advance(self, world: TeamWorld, command: np.ndarray, draws: np.ndarray, plan: Plan | None = None) -> TeamWorld:
        scenario, allowed = self.scenario, self.model.clipped(self.scenario, command)
        drone, ball = drones_of(world), ball_of(world)
        touched = np.zeros((self.num_envs, scenario.robots), bool)
        wanted = components(allowed)
        self._write(drone, ball)
        for _ in range(scenario.substeps):
            thrusts = asked_thrusts(scenario, drone, wanted)
            throttle = self._throttled(drone, thrusts)
            self._rollouts.step()
            if scenario.ball is not None:
                touched |= (self._rollouts.sensed < 0).any(1)
            drone, ball = self._read(throttle)
        after = self._judged(scenario, world, with_bodies(world, drone, ball), touched, draws)
        return self.model.completed(scenario, world, after, plan)

    def _throttled(self, drone: Drone, thrusts: tuple) -> tuple:
        """Write the rotors' thrusts in each of MuJoCo's steps, and return their throttles after the last."""
        scenario, vehicle = self.scenario, self.scenario.vehicle_config
        step_s = 1 / scenario.rates.contact_hz
        for step in range(scenario.contact_steps):
            middle = spun(vehicle, drone.throttle, thrusts, (step + 0.5) * step_s)
            each = np.stack([vehicle.rotors.max_thrust_n * t * t for t in middle], -1)
            self._rollouts.input[:, step] = each.reshape(self.num_envs, -1)
        return spun(vehicle, drone.throttle, thrusts, scenario.physics_dt_s)

    def _write(self, drone: Drone, ball: FlyingBall) -> None:
        """Set MuJoCo's state; its angular velocities are in the body frame, as ours are."""
        poses = np.stack([*drone.pos, *drone.quat], -1).reshape(self.num_envs, -1)
        twists = np.stack([*drone.vel, *drone.omega], -1).reshape(self.num_envs, -1)
        has_ball = self.scenario.ball is not None
        balls = [np.stack(part, -1) if has_ball else poses[:, :0] for part in ball]
        self._rollouts.state[:, 1:] = np.concatenate([poses, balls[0], twists, balls[1]], -1)  # time comes first

    def _read(self, throttle: tuple) -> tuple[Drone, FlyingBall]:
        """Return robots and ball of MuJoCo's state."""
        count, state = self.scenario.robots, self._rollouts.state[:, 1:]
        three = 3 if self.scenario.ball is not None else 0
        poses = state[:, : POSE * count].reshape(-1, count, POSE)
        rest = state[:, POSE * count + three :]
        twists = rest[:, : TWIST * count].reshape(-1, count, TWIST)
        parts = poses[..., :3], poses[..., 3:], twists[..., :3], twists[..., 3:]
        pos, quat, vel, omega = map(components, parts)
        drone = Drone(pos, quat, vel, omega, throttle)
        if not three:
            return drone, FlyingBall(*(components(np.zeros((self.num_envs, 3))),) * 2)
        place, speed = state[:, POSE * count : POSE * count + 3], rest[:, TWIST * count :]
        return drone, FlyingBall(components(place), components(speed))
