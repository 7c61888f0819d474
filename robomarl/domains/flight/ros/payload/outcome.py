"""`LoadFigures`: results of a flight with a load, from the simulator's true log. No ROS."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomarl.core.geometry import rotation_angle
from robomarl.core.log import FlightLog, load_flight
from robomarl.ros.operator.flight_outcome import FlightFigures, RehearsalResult, Ticks
from robomarl.ros.robot.state_machine import State

SETTLED_S = 3.0
"""Time [s] at the end of every set-point over which errors are averaged."""
DOWN_M = 0.05
"""A load that has come so close to the place where it stays is down."""
SLACK_N = 1.0
"""All cables together pull less than this when the ground carries the load."""


@dataclass(frozen=True)
class SetPointFigures:
    """One goal of the load."""

    from_s: float
    """Begin in the log's time [s], since the load was lifted."""
    to_s: float
    position_error_m: float
    """Mean over the last `SETTLED_S`."""
    attitude_error_rad: float


@dataclass(frozen=True)
class LoadFigures:
    """A flight with a load."""

    flown_s: float
    """Time [s] from the lift until the load was down."""
    set_points: tuple[SetPointFigures, ...]
    set_down: bool
    """It was in the air until the team was asked to land, and rests on the ground at the end."""
    tension_max_n: float
    lost: str
    """Name of the robot that had its process ended; "" if none had."""
    lost_at_s: float | None
    """When, in the log."""
    after_loss_min_height_m: float | None
    """Lowest place of the load's frame between the loss and the landing."""
    after_loss_error_m: float | None
    """Distance [m] from the load to its goal, mean over the last `SETTLED_S` before the landing."""


@dataclass(frozen=True)
class MissionResult(RehearsalResult):
    """Result of `fly_mission`; `ok`: no failure, the load set down, all remaining robots on the ground."""

    load: LoadFigures

    @property
    def line(self) -> str:
        """The mission as one line."""
        load = self.load
        points = ", ".join(f"{100 * p.position_error_m:.1f} cm" for p in load.set_points)
        lost = f"; {load.lost} lost after {load.lost_at_s:.1f} s" if load.lost else ""
        end = "load set down" if load.set_down else "load NOT set down"
        return f"{'ok' if self.ok else 'FAILED'}: {load.flown_s:.1f} s in the air, settled at {points}{lost}; {end}"


def load_figures(
    flight: FlightFigures, ticks: Ticks, clock: Callable[[float], float], lose: tuple[str, float] | None = None
) -> LoadFigures:
    """Compute the figures of one flight.

    Args:
        flight: with its log.
        ticks: recorded rows of the robots.
        clock: from a stamp to the log's time [s]; a simulator that falls behind has one of its own.
        lose: the robot that had its process ended, and when.
    """
    log = load_flight(Path(flight.log))
    left = {name: rows for name, rows in ticks.items() if lose is None or name != lose[0]}
    landing = [row["stamp_s"] for rows in left.values() for row in rows if row["state"] == State.LAND]
    land_s = clock(min(landing)) if landing else float(log.time_s[-1])
    lost_s = clock(ticks[lose[0]][-1]["stamp_s"]) if lose else None
    height = log.load_place_m[:, 2]
    down = np.flatnonzero((log.time_s >= land_s) & (height < height[-1] + DOWN_M))
    after = _between(log, lost_s, land_s) if lost_s is not None else np.zeros(0, int)
    last = _between(log, max(lost_s or 0.0, land_s - SETTLED_S), land_s)
    return LoadFigures(
        flown_s=float(log.time_s[down[0] if len(down) else -1]),
        set_points=tuple(_set_points(log, min(land_s, lost_s or land_s))),
        set_down=bool(len(down) and len(last) and height[: last[-1]].min() > DOWN_M and resting(log)),
        tension_max_n=float(log.tension_n.max()),
        lost=lose[0] if lose else "",
        lost_at_s=lost_s,
        after_loss_min_height_m=float(log.load_place_m[after, 2].min()) if len(after) else None,
        after_loss_error_m=float(errors(log)[0][last].mean()) if len(after) and len(last) else None,
    )


def resting(log: FlightLog) -> bool:
    """The ground carries the load in the end."""
    return bool(log.tension_n[-1].sum() < SLACK_N)


def errors(log: FlightLog) -> tuple[np.ndarray, np.ndarray]:
    """[T] distance [m] and angle [rad] between the load and its goal."""
    distance = np.linalg.norm(log.load_place_m - log.load_goal[:, :3], axis=-1)
    return distance, rotation_angle(log.load_goal[:, 3:], log.load_pose[:, 3:])


def changes(log: FlightLog) -> np.ndarray:
    """Indices at which the load has a new goal, the first one included."""
    new = np.abs(np.diff(log.load_goal, axis=0)).max(-1) > 1e-6
    return np.concatenate([[0], 1 + np.flatnonzero(new)])


def _set_points(log: FlightLog, end_s: float) -> list[SetPointFigures]:
    starts = [float(log.time_s[i]) for i in changes(log) if log.time_s[i] < end_s]
    distance, angle = errors(log)
    found = []
    for begin_s, until_s in zip(starts, [*starts[1:], end_s], strict=True):
        rows = _between(log, max(begin_s, until_s - SETTLED_S), until_s)
        if len(rows):
            found.append(SetPointFigures(begin_s, until_s, float(distance[rows].mean()), float(angle[rows].mean())))
    return found


def _between(log: FlightLog, begin_s: float, end_s: float) -> np.ndarray:
    return np.flatnonzero((log.time_s >= begin_s) & (log.time_s < end_s))
