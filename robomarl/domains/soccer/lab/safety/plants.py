"""The plant that players are measured on: each alone on the `mujoco` engine of its game."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from robomarl.domains.soccer.lab.batch import make_soccer
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.plants.plants import Links, values

FIELD_M = 400.0
"""Length and width [m] of the field, on which no robot meets the boards."""
ROLLS = {"accel_scale": 1.0}
"""Parameters of the section `randomize` that `Players` apply beside the delay, with their default values."""


def felt_by_players(scenario: SoccerScenario) -> tuple[str, ...]:
    """Parameters of the section `randomize` that change how a robot follows its commands, the delay left out."""
    return tuple(ROLLS)


class Players:
    """Robots of a game, each alone on a wide field with the ball and its opponent out of its way; see `Plant`."""

    def __init__(self, scenario: SoccerScenario, flights: int, seed: int, threads: int) -> None:
        """Compile the model; see `Flyers`."""
        field = dataclasses.replace(scenario.field, length_m=FIELD_M, width_m=FIELD_M)
        rules = dataclasses.replace(scenario.rules, stuck_s=1e6)  # the ball lies still, and the game goes on
        opponent = dataclasses.replace(scenario.opponent, roles=scenario.opponent.roles[:1])
        wide = dataclasses.replace(
            scenario, count=1, roles=scenario.roles[:1], opponent=opponent, field=field, rules=rules
        )
        self._sim, self._seed = make_soccer(wide, "mujoco", flights, seed, threads), seed

    @property
    def period_s(self) -> float:
        """Time [s] between two decisions."""
        return self._sim.scenario.period_s

    def start(self, conditions: Sequence[Condition], vel_m_s: np.ndarray) -> None:
        """Begin anew, away from the ball; the opponent stays where it is."""
        scenario, game = self._sim.scenario, self._sim.reset()
        drawn = values(conditions, ROLLS)
        self._links = Links(conditions, scenario.physics_dt_s, self._seed)
        hidden = game.hidden._replace(accel_scale=drawn["accel_scale"] + 0 * game.hidden.accel_scale)
        robots = game.robots
        away = np.array([FIELD_M / 8, -FIELD_M / 8], np.float32) + 0 * robots.x
        moving = np.array([1.0, 0.0], np.float32) * np.asarray(vel_m_s[:, :2].T, np.float32)[..., None]
        robots = robots._replace(x=away, y=away, vx=moving[0], vy=moving[1], turn=0 * robots.turn)
        queue = (0 * game.queue[0],) * (2 + self._links.longest // scenario.substeps)
        self._sim.set_world(game._replace(robots=robots, hidden=hidden, queue=queue))

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """[E, 3] true positions [m] and velocities [m/s]."""
        robots, still = self._sim.world.robots, 0 * self._sim.world.robots.x[:, 0]
        pos, vel = (robots.x[:, 0], robots.y[:, 0], still), (robots.vx[:, 0], robots.vy[:, 0], still)
        return np.stack(pos, -1).astype(float), np.stack(vel, -1).astype(float)

    def step(self, accel_m_s2: np.ndarray, yaw_rate: np.ndarray) -> None:
        """One decision, [E, 3] and [E]."""
        command = np.zeros((len(accel_m_s2), 2, 4))
        command[:, 0, :2], command[:, 0, 2] = accel_m_s2[:, :2], yaw_rate
        game = self._sim.world
        delays = self._links.draw() + 0 * game.hidden.delay_substeps
        self._sim._world = game._replace(hidden=game.hidden._replace(delay_substeps=delays))
        self._sim.step(command)
