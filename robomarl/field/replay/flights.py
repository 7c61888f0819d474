"""Flights of a recording as `FlightLog`s, from the robots' own estimates, for the pages that show flights."""

from array import array
from typing import NamedTuple

import numpy as np

from robomarl.core.log import FlightLog
from robomarl.ros.robot.state_machine import POLICY, State

STEP_S = 0.05
"""Time between two rows of a log."""
GAP_S = 0.3
"""Without any row for longer, another flight begins."""
SHORTEST_S = 1.0
"""Minimum duration of a flight."""
HEAD = 3
"""Columns of a kept row before the vectors: the step, the state, whether the command was filtered."""


class RobotRow(NamedTuple):
    """One robot at one tick."""

    state: State
    pos_m: np.ndarray
    quat_wxyz: np.ndarray
    vel_m_s: np.ndarray
    goal_m: np.ndarray
    nominal: np.ndarray
    command: np.ndarray
    filtered: bool


VECTORS = ("pos_m", "quat_wxyz", "vel_m_s", "goal_m", "nominal", "command")


class FlightRows:
    """Collects where all robots are while their policies move them.

    A row is kept as plain numbers (200 bytes for a drone), as a recording may be hours long.
    """

    def __init__(self, robots: int) -> None:
        """Start empty; no robot has moved."""
        self._robots = robots
        self._rows: dict[int, array] = {}
        self._widths: tuple[int, ...] = ()

    def note(self, robot: int, at_s: float, pose: RobotRow) -> None:
        """A tick of a robot; the latest in each step counts."""
        vectors = [getattr(pose, name) for name in VECTORS]
        self._widths = tuple(len(vector) for vector in vectors)
        rows = self._rows.setdefault(robot, array("d"))
        step, width = int(at_s / STEP_S), HEAD + sum(self._widths)
        if rows and rows[-width] == step:
            del rows[-width:]
        rows.extend((step, pose.state, pose.filtered))
        for vector in vectors:
            rows.extend(vector.tolist())

    def add(self, other: "FlightRows") -> None:
        """Add the rows of other robots of the team."""
        self._rows.update(other._rows)
        self._widths = self._widths or other._widths

    def flights(self, radius_m: float, separation_m: float) -> list[FlightLog]:
        """All flights: as long as every robot moves and at least one follows its policy."""
        if len(self._rows) < self._robots:
            return []
        steps, rows = self._together()
        flown = np.isin(rows[..., 1], [float(state) for state in POLICY]).any(1)
        steps, rows = steps[flown], rows[flown]
        cuts = np.flatnonzero(np.diff(steps) * STEP_S > GAP_S) + 1
        parts = zip(np.split(steps, cuts), np.split(rows, cuts), strict=True)
        return [self._log(*part, radius_m, separation_m) for part in parts if len(part[0]) * STEP_S >= SHORTEST_S]

    def _together(self) -> tuple[np.ndarray, np.ndarray]:
        """[T] steps in which all robots moved, and their rows [T, N, columns]."""
        width = HEAD + sum(self._widths)
        tables = [np.array(self._rows[robot]).reshape(-1, width) for robot in range(self._robots)]
        # A clock may jump back: the latest row of a step is the last one that was noted.
        latest = [np.unique(table[::-1, 0], return_index=True) for table in tables]
        steps = latest[0][0]
        for other, _ in latest[1:]:
            steps = np.intersect1d(steps, other, assume_unique=True)
        of_robot = [
            table[::-1][where[np.searchsorted(own, steps)]] for table, (own, where) in zip(tables, latest, strict=True)
        ]
        return steps, np.stack(of_robot, 1)

    def _log(self, steps: np.ndarray, rows: np.ndarray, radius_m: float, separation_m: float) -> FlightLog:
        parts = np.split(rows[..., HEAD:], np.cumsum(self._widths)[:-1], axis=-1)
        return FlightLog(
            time_s=(steps - steps[0]) * STEP_S,
            active=rows[..., 2] > 0,
            radius_m=radius_m,
            separation_m=separation_m,
            **dict(zip(VECTORS, parts, strict=True)),
        )
