"""The plant that ground robots are measured on: each alone on the `mujoco` engine, on a floor without walls."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from robomarl.core.filter.model.look_ahead import heading
from robomarl.core.geometry import components
from robomarl.core.hardware.vehicle import DifferentialDrive
from robomarl.domains.ground.lab.controllers.waypoint import commanded_velocity, driving
from robomarl.domains.ground.lab.model import MODEL
from robomarl.domains.ground.lab.scenario import GridStart, GroundArena, GroundScenario
from robomarl.lab.plants.conditions import Condition
from robomarl.lab.sim.model.engines import make_model_sim

FLOOR = GroundArena((-50.0, -50.0, -0.1), (50.0, 50.0, 0.5))
GRID = GridStart(2.0, 1.0, 1.0)
"""Grid with one cell for the robot, and one for an unused goal."""


class Drivers:
    """Robots on the floor, of which the commanded point is watched; headings are drawn. See `Plant`."""

    def __init__(self, scenario: GroundScenario, flights: int, seed: int) -> None:
        """Compile the model with `flights` robots; their headings are drawn from the seed."""
        alone = dataclasses.replace(
            scenario,
            **{"task": "navigation", "count": 1, "team": (), "zones": (), "arena": FLOOR, "start": GRID},
            **{"least_gain_per_s": None, "sees_plans": False},
        )
        self._scenario, self._sim = alone, make_model_sim(MODEL, alone, "mujoco", flights, seed)

    @property
    def period_s(self) -> float:
        """Time [s] between two decisions."""
        return self._scenario.period_s

    def start(self, conditions: Sequence[Condition], vel_m_s: np.ndarray) -> None:
        """Begin anew; a wheel's speed and a turn give the commanded point its velocity."""
        world, vehicle = self._sim.reset(), self._scenario.vehicle_config
        wanted, turn = vel_m_s[:, None, :2], np.zeros((len(vel_m_s), 1))
        if isinstance(vehicle, DifferentialDrive):
            toward, across = _axes(world.quat_wxyz)
            turn = (wanted * across).sum(-1) / vehicle.drive.look_ahead_m
            wanted = (wanted * toward).sum(-1, keepdims=True) * toward
        still = world.vel_m_s * 0
        moving, turning = still + _padded(wanted), still + turn[..., None] * np.array([0.0, 0.0, 1.0])
        self._sim.set_world(
            world._replace(vel_m_s=moving.astype(np.float32), omega_rad_s=turning.astype(np.float32), pos_m=still)
        )

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """[E, 3] true positions [m] and velocities [m/s] of the commanded point."""
        own, vehicle = self._sim.views().own, self._scenario.vehicle_config
        place, vel = own.pos_m[..., :2], commanded_velocity(self._scenario, driving(self._sim.views()))
        if isinstance(vehicle, DifferentialDrive):
            place = place + vehicle.drive.look_ahead_m * _axes(own.quat_wxyz)[0]
        return _padded(place)[:, 0].astype(float), _padded(vel)[:, 0].astype(float)

    def step(self, accel_m_s2: np.ndarray, yaw_rate: np.ndarray) -> None:
        """One decision, [E, 3] and [E]."""
        command = np.concatenate([accel_m_s2, yaw_rate[:, None]], -1)
        self._sim.step(command[:, None])


def _axes(quat_wxyz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[..., 2] each: ahead of robots, and to their left."""
    x, y = heading(components(quat_wxyz), np)
    return np.stack([x, y], -1), np.stack([-y, x], -1)


def _padded(plane: np.ndarray) -> np.ndarray:
    """[..., 2] as [..., 3]."""
    return np.concatenate([plane, plane[..., :1] * 0], -1)
