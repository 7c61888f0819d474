"""The `mujoco` engine: real contacts, many games side by side, for verification.

Each sub-step runs the robots' controllers for all games at once in numpy, and then MuJoCo's finer steps of every
game in a thread pool (`mujoco.rollout`). No JAX here.
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo comes without type stubs for most of its names.
import math

import mujoco
import numpy as np

from robomarl.domains.soccer.lab.engines.batching import cast, fired, stack, unstack, world_command
from robomarl.domains.soccer.lab.engines.mjcf import build_game
from robomarl.domains.soccer.lab.game import SoccerWorld
from robomarl.domains.soccer.lab.physics.ball import Ball, brake
from robomarl.domains.soccer.lab.physics.contact import Contacts, in_body, kick, meet_each_other, shift
from robomarl.domains.soccer.lab.physics.omni_drive import OmniRobots, drive
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.sim.engines.rollouts import Rollouts

_INPUT = int(mujoco.mjtState.mjSTATE_CTRL)


class MujocoPlay:
    """The engine's `Play`: moves robots and ball of E games through the sub-steps of one decision."""

    def __init__(self, scenario: SoccerScenario, num_envs: int, threads: int | None = None) -> None:
        """Compile the model.

        Args:
            scenario: the simulated scenario.
            num_envs: E, games side by side.
            threads: in MuJoCo's pool; by default one for each of at most 8 cores, and none for one game.
        """
        self._scenario, self._model = scenario, build_game(scenario)
        steps, players = round(scenario.rates.contact_hz / scenario.rates.physics_hz), scenario.players
        self._batch = Rollouts(self._model, num_envs, _INPUT, steps, threads)
        body = scenario.robot.body
        self._inertia = (body.mass_kg, body.mass_kg, body.mass_kg * body.radius_m**2 / 2)
        self._control = self._batch.input[:, :, : 3 * players].reshape(num_envs, steps, players, 3)
        self._on_ball = self._batch.input[:, :, 3 * players :]

    def __call__(self, game: SoccerWorld) -> tuple[OmniRobots, Ball, Contacts]:
        """Robots, ball and contacts one decision later; see `robomarl.domains.soccer.lab.game.Play`."""
        scenario, robots, ball = self._scenario, game.robots, game.ball
        contacts = Contacts(robots.x * 0, robots.x * 0, robots.x > math.inf)
        for i in range(scenario.substeps):
            command = world_command(scenario, game, np.asarray(i))
            robots, ball, contacts = self._fire(robots, ball, command[3], contacts)
            self._write(robots, ball)
            spun = self._rub(ball, game.hidden.rolling_m_s2)
            accel = drive(scenario, robots, command, game.hidden.accel_scale)
            contacts = self._impacts(robots, accel, contacts)
            for k, part in enumerate(accel):
                self._control[..., k] = (part * self._inertia[k])[:, None]
            self._batch.step()
            robots, ball = self._read(robots, spun)
        return cast(robots, game), cast(ball, game), cast(contacts, game)

    def _fire(
        self, robots: OmniRobots, ball: Ball, speed: np.ndarray, contacts: Contacts
    ) -> tuple[OmniRobots, Ball, Contacts]:
        """The plate hits the ball, which leaves from the face: a spring that it is bouncing on pushes it no more."""
        scenario, rows, seen = self._scenario, unstack(robots), unstack(contacts)
        for i, robot in enumerate(rows):
            added = kick(scenario, robot, ball, speed[:, i])
            depth = scenario.kicker.face_m + scenario.ball.radius_m - in_body(robot, ball.x, ball.y)[0]
            ball = shift(ball, robot.c, robot.s, added, np.where(added != 0, np.maximum(depth, 0.0), 0.0))
            rows[i], seen[i] = fired(scenario, robot, seen[i], added != 0)
        return stack(rows), ball, stack(seen)

    def _rub(self, ball: Ball, rolling: np.ndarray) -> Ball:
        """The carpet's friction on the ball, constant over the sub-step; the ball that it leaves, not yet moved."""
        after, _ = brake(self._scenario, ball, rolling)
        per_s = self._scenario.ball.mass_kg * self._scenario.rates.physics_hz
        self._on_ball[:] = per_s * np.stack([after.vx - ball.vx, after.vy - ball.vy], -1)[:, None]
        return after

    def _impacts(self, robots: OmniRobots, accel: tuple, contacts: Contacts) -> Contacts:
        """Impacts that will begin in this sub-step, by the rule of `fast`; MuJoCo makes the forces."""
        dt_s = self._scenario.physics_dt_s
        moving = robots._replace(vx=robots.vx + dt_s * accel[0], vy=robots.vy + dt_s * accel[1])
        return stack(meet_each_other(self._scenario, unstack(moving), unstack(contacts))[1])

    def _write(self, robots: OmniRobots, ball: Ball) -> None:
        num, width = len(self._batch.state), 3 * self._scenario.players
        pose = np.stack([robots.x, robots.y, np.arctan2(robots.s, robots.c)], -1).reshape(num, width)
        motion = np.stack([robots.vx, robots.vy, robots.turn], -1).reshape(num, width)
        lies, rolls = np.stack([ball.x, ball.y], -1), np.stack([ball.vx, ball.vy], -1)
        self._batch.state[:, 1:] = np.concatenate([pose, lies, motion, rolls], -1)

    def _read(self, robots: OmniRobots, ball: Ball) -> tuple[OmniRobots, Ball]:
        """Robots and ball where MuJoCo has brought them; kickers and spin come from the arguments."""
        half, players, dt_s = 3 * self._scenario.players, self._scenario.players, self._scenario.physics_dt_s
        place, motion = self._batch.state[:, 1 : 3 + half], self._batch.state[:, 3 + half :]
        (x, y, yaw), (vx, vy, turn) = (
            np.moveaxis(part[:, :half].reshape(-1, players, 3), -1, 0).copy() for part in (place, motion)
        )
        lies, rolls = place[:, half:].T.copy(), motion[:, half:].T.copy()
        charge_s = np.maximum(robots.charge_s - dt_s, 0.0)
        robots = OmniRobots(x, y, np.cos(yaw), np.sin(yaw), vx, vy, turn, charge_s)
        return robots, Ball(lies[0], lies[1], rolls[0], rolls[1], ball.ux, ball.uy)
