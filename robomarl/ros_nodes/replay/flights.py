"""Flights of a recording as `FlightLog`s, from the robots' own estimates, for the pages that show flights."""

from typing import NamedTuple

import numpy as np

from robomarl.log import FlightLog
from robomarl.ros_nodes.robot.state_machine import POLICY, State

STEP_S = 0.05
"""From one row of a log to the next."""
GAP_S = 0.3
"""Without any row for longer, another flight begins."""
SHORTEST_S = 1.0
"""What is shorter is no flight."""
NOWHERE = np.full(3, np.nan)


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


class FlightRows:
    """Collects where all robots are while their policies move them."""

    def __init__(self, robots: int) -> None:
        """Nobody has moved."""
        self._robots = robots
        self._rows: dict[int, dict[int, RobotRow]] = {}

    def note(self, robot: int, at_s: float, pose: RobotRow) -> None:
        """A tick of a robot; the latest in each step counts."""
        self._rows.setdefault(int(at_s / STEP_S), {})[robot] = pose

    def flights(self, radius_m: float, separation_m: float) -> list[FlightLog]:
        """All flights: as long as every robot moves and at least one follows its policy."""
        flown = [key for key in sorted(self._rows) if self._is_flown(self._rows[key])]
        cuts = [i for i in range(1, len(flown)) if (flown[i] - flown[i - 1]) * STEP_S > GAP_S]
        parts = [flown[a:b] for a, b in zip([0, *cuts], [*cuts, len(flown)], strict=True)]
        return [self._log(keys, radius_m, separation_m) for keys in parts if len(keys) * STEP_S >= SHORTEST_S]

    def _is_flown(self, row: dict[int, RobotRow]) -> bool:
        return len(row) == self._robots and any(pose.state in POLICY for pose in row.values())

    def _log(self, keys: list[int], radius_m: float, separation_m: float) -> FlightLog:
        def of(name: str) -> np.ndarray:
            return np.array([[getattr(self._rows[key][i], name) for i in range(self._robots)] for key in keys])

        return FlightLog(
            time_s=(np.array(keys) - keys[0]) * STEP_S,
            active=of("filtered"),
            radius_m=radius_m,
            separation_m=separation_m,
            **{name: of(name) for name in ("pos_m", "quat_wxyz", "vel_m_s", "goal_m", "nominal", "command")},
        )
