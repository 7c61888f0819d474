"""The judge: outcome of a flight, from the simulator's true state at every physics step. No ROS."""

import math

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.domains.flight.field.landings import Landings
from robomarl.domains.flight.lab.payload.flight_log import load_columns, one_of, stacked
from robomarl.domains.flight.lab.payload.state import Load, origin
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.domains.flight.lab.tasks.registry import task_of
from robomarl.domains.flight.lab.world import FlightWorld, positions, velocities

SET_DOWN_M_S = 1.5
"""A load that comes down faster has fallen."""


MAX_LOG_S = 600.0
"""The log ends there, the flight does not: a rehearsal that stays up for hours must not fill the memory."""


class Judge:
    """Monitor of one flight after another; it collects the log at the policy's rate."""

    def __init__(self, scenario: FlightScenario, steps_per_row: int) -> None:
        """Take the rules of the scenario's task.

        Args:
            scenario: with `policy_hz` equal to the rate of the steps.
            steps_per_row: physics steps for each row of the log.
        """
        self._scenario, self._task = scenario, task_of(scenario)
        self._every = steps_per_row
        self.reset()

    def reset(self) -> None:
        """A new flight."""
        self._steps = self.collisions = 0
        self.succeeded_s, self.failed, self.min_distance_m = math.nan, False, math.inf
        self._touching = self._set_down = False
        floor_m, radius_m = self._scenario.arena.low_m[2], self._scenario.vehicle_config.body.radius_m
        self._landings = Landings(self._scenario.count, floor_m, radius_m)
        self._rows: list[tuple[np.ndarray, ...]] = []
        self._load_rows: list[dict[str, np.ndarray]] = []

    @property
    def flight_s(self) -> float:
        """Time [s] since the first command."""
        return self._steps * self._scenario.period_s

    def watch(self, world: FlightWorld, command: np.ndarray, contact: bool) -> None:
        """Take in one physics step of a flight.

        Args:
            world: state after the step, one team.
            command: [N, A] commands of the low-level controllers.
            contact: the engine itself found a robot touching another or an obstacle.
        """
        if self._steps % self._every == 0 and self.flight_s < MAX_LOG_S:
            self._rows.append(_row(world, command))
            self._load_rows.append(one_of(load_columns(world, self._scenario.period_s), 0))
        self._steps += 1
        touching = self._sees_contact(world, contact)
        self._set_down = self._set_down or self._is_put_down(world)
        failed = touching or self._has_failed(world)
        self.failed = self.failed or failed and not self._set_down
        if math.isnan(self.succeeded_s) and self._task.succeeded(self._scenario, world).all():
            self.succeeded_s = self.flight_s

    def watch_climb(self, world: FlightWorld, contact: bool) -> None:
        """Take in one physics step of a climb to the hand-over: not a flight yet, but contact is a failure."""
        self.failed = self._sees_contact(world, contact) or self.failed

    def _sees_contact(self, world: FlightWorld, contact: bool) -> bool:
        self.min_distance_m = min(self.min_distance_m, float(world.closest_m.min()))
        touching = contact or self.min_distance(world) < 2 * self._scenario.vehicle_config.body.radius_m
        self.collisions += touching and not self._touching
        self._touching = touching
        return touching

    def _has_failed(self, world: FlightWorld) -> bool:
        """Return True if the flight failed by the task's rules. A landing robot counts as at the arena's floor,
        which is above the ground.
        """
        if isinstance(world.load, Load):
            return bool(self._task.failed(self._scenario, world).any())
        (x, y, z), pos_m = world.body.pos, positions(world.body)[0]
        lands = self._landings.note(pos_m, velocities(world.body)[0], self.flight_s)
        at_floor = np.where(lands, np.maximum(z, self._scenario.arena.low_m[2]), z)
        seen = world._replace(body=world.body._replace(pos=(x, y, at_floor)))  # type: ignore[arg-type]
        return self._landings.came_up(pos_m) or bool(self._task.failed(self._scenario, seen).any())

    def _is_put_down(self, world: FlightWorld) -> bool:
        """Return True if the load has come down to the ground slowly, which ends the flight."""
        if not isinstance(world.load, Load):
            return False
        low = origin(world.load.rigid, world.load.cargo.com_m)[0, 2] < self._scenario.arena.low_m[2]
        return bool(low and abs(world.load.rigid.vel[2][0]) < SET_DOWN_M_S)

    @staticmethod
    def min_distance(world: FlightWorld) -> float:
        """Least distance between two centres within the last step [m]."""
        return float(world.closest_m.min())

    def log(self) -> FlightLog | None:
        """Return the true log; the policies' nominal commands are unknown here and NaN. None before the first
        command.
        """
        if not self._rows:
            return None
        pos, quat, vel, goal, command = (np.stack(part) for part in zip(*self._rows, strict=True))
        return FlightLog(
            time_s=np.arange(len(pos)) * self._every * self._scenario.period_s,
            pos_m=pos,
            quat_wxyz=quat,
            vel_m_s=vel,
            goal_m=goal,
            nominal=np.full_like(command, np.nan),
            command=command,
            active=np.zeros(command.shape[:2], bool),
            radius_m=self._scenario.vehicle_config.body.radius_m,
            separation_m=self._scenario.vehicle_config.safety.separation_m,
            **stacked(self._load_rows),
        )


def _row(world: FlightWorld, command: np.ndarray) -> tuple[np.ndarray, ...]:
    quat = np.stack(world.body.quat, -1)
    return positions(world.body)[0], quat[0], velocities(world.body)[0], world.goal_m[0].copy(), command.copy()
