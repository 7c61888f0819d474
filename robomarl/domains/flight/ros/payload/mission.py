"""`Mission`: where a load is to go and when, from `ros_nodes/missions/NAME.yaml`. No ROS here."""

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robomarl.core.config import NonNegative, Positive, build
from robomarl.core.geometry import quat_from_yaw, quat_multiply
from robomarl.core.hardware.sections import Vector3
from robomarl.core.paths import missions_dir
from robomarl.core.tables import read_yaml
from robomarl.core.view import Goal


@dataclass(frozen=True)
class SetPoint:
    """One goal of the load."""

    at_s: NonNegative
    """Time [s] since all robots became ACTIVE; the first set-point is published before, so that the robots can start
    at all.
    """
    pos_m: Vector3
    """Place of the load's own frame, world."""
    roll_rad: float = 0.0
    """Turned last, about the load's own forward axis."""
    pitch_rad: float = 0.0
    """Turned second, about its own left axis."""
    yaw_rad: float = 0.0
    """Turned first: the heading."""

    @property
    def goal(self) -> Goal:
        """Set-point as a pose."""
        half_pitch, half_roll = self.pitch_rad / 2, self.roll_rad / 2
        pitch = np.array([np.cos(half_pitch), 0.0, np.sin(half_pitch), 0.0])
        roll = np.array([np.cos(half_roll), np.sin(half_roll), 0.0, 0.0])
        return Goal(
            np.array(self.pos_m), quat_multiply(quat_multiply(quat_from_yaw(np.float64(self.yaw_rad)), pitch), roll)
        )


@dataclass(frozen=True)
class Mission:
    """A flight with a load. Made by `load_mission`."""

    version: Literal[1]
    """Version of the file's layout."""
    name: str
    """Name of the mission, for reports."""
    set_points: tuple[SetPoint, ...]
    land_s: Positive
    """When all robots get the order to land."""

    def __post_init__(self) -> None:
        """Check the order."""
        times = [point.at_s for point in self.set_points]
        if not times or times[0] != 0:
            raise ValueError("set_points must begin with one at at_s = 0.")
        if any(later <= earlier for earlier, later in itertools.pairwise([*times, self.land_s])):
            raise ValueError("set_points must be in the order of their at_s, all before land_s.")

    def at(self, time_s: float) -> SetPoint:
        """The set-point that holds at a time."""
        return [point for point in self.set_points if point.at_s <= max(time_s, 0.0)][-1]


def load_mission(name: str) -> Mission:
    """Read a mission by name (of `ros_nodes/missions/`) or by the path of a YAML file.

    Raises:
        UserError: unknown name, bad YAML, a wrong key or value.
    """
    return build(Mission, *read_yaml(name, "mission", missions_dir()))
