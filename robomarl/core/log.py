"""`FlightLog`: record of one episode or flight, as arrays, independent of the recorder.

Evaluation, the ROS recorder and the reports share it. World frame ENU, wxyz quaternions, SI units.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np


class FlightLog(NamedTuple):
    """T times, N robots, A action elements."""

    time_s: np.ndarray
    """[T] since the start."""
    pos_m: np.ndarray
    """[T, N, 3] true positions."""
    quat_wxyz: np.ndarray
    """[T, N, 4] true attitudes."""
    vel_m_s: np.ndarray
    """[T, N, 3] true velocities."""
    goal_m: np.ndarray
    """[T, N, 3] goals."""
    nominal: np.ndarray
    """[T, N, A] commands that the policies asked for."""
    command: np.ndarray
    """[T, N, A] commands that were sent."""
    active: np.ndarray
    """[T, N] bool: the safety filter changed the command."""
    radius_m: float
    """Radius of each robot's sphere."""
    separation_m: float
    """Safety distance between centres."""
    load_pose: np.ndarray = np.zeros((0, 7))
    """[T, 7] centre of mass and attitude of the load; [0, 7] where nothing is carried."""
    load_place_m: np.ndarray = np.zeros((0, 3))
    """[T, 3] origin of the load's own frame, which is to be at the goal. [0, 3] if it was not logged."""
    load_goal: np.ndarray = np.zeros((0, 7))
    """[T, 7] where the load is to go, and its attitude there."""
    tension_n: np.ndarray = np.zeros((0, 0))
    """[T, N] pull of each cable."""
    tied_m: np.ndarray = np.zeros((0, 0, 3))
    """[T, N, 3] where each cable is tied to the load; [0, 0, 3] in logs from before it was logged."""
    cable_m: np.ndarray = np.zeros((0, 0))
    """[T, N] length of each cable; infinite from when it is cut."""

    def closest_m(self) -> np.ndarray:
        """[T] least distance between two centres at each time; +inf for one robot."""
        gap = np.linalg.norm(self.pos_m[:, :, None] - self.pos_m[:, None], axis=-1)
        gap[:, np.arange(gap.shape[1]), np.arange(gap.shape[1])] = np.inf
        return gap.min(axis=(1, 2))


def save_flight(path: Path, log: FlightLog) -> None:
    """Write a log as a compressed NPZ file."""
    np.savez_compressed(path, **log._asdict())


def load_flight(path: Path) -> FlightLog:
    """Read a log that `save_flight` wrote."""
    with np.load(path, allow_pickle=False) as data:
        values = {name: data[name] for name in FlightLog._fields if name in data.files}
    values["radius_m"], values["separation_m"] = float(values["radius_m"]), float(values["separation_m"])
    return FlightLog(**values)
