"""A recorder's report on its recording, and its use by a robot that must not fly unrecorded. No ROS here."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from robomarl.ros.robot.inbox import Problem

QUIET_S = 3.0
"""Time [s] without a message after which a topic with regular messages counts as missing."""
RECORDED = "recorded"


class Told(NamedTuple):
    """A recorder's report on its recording."""

    level: int
    text: str
    robots: Mapping[str, str]
    """`RECORDED`, or the missing topics, by robot."""


class RecordingWatch:
    """Latest report of a recorder, for a robot that must not fly unrecorded."""

    def __init__(self, robot: str, wanted: bool) -> None:
        """Start without a report.

        Args:
            robot: robot that must be recorded.
            wanted: True: without a recording the robot is not READY; False: nothing here is a problem.
        """
        self._robot, self._wanted = robot, wanted
        self._told, self._heard_s = Told(0, "", {}), -math.inf

    def hear(self, told: Told, steady_s: float) -> None:
        """A recorder said something."""
        self._told, self._heard_s = told, steady_s

    def problems(self, steady_s: float) -> list[Problem]:
        """Return the problems that keep the robot from beginning to move."""
        if not self._wanted:
            return []
        if steady_s - self._heard_s > QUIET_S:
            return [Problem("recorder", "nothing heard of one; start recorder_node")]
        said = self._told.robots.get(self._robot, "does not record this robot")
        return [] if said == RECORDED else [Problem("recorder", f"{said} ({self._told.text})")]
