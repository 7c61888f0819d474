"""What a recorder tells of its recording, and what a robot that must not fly unrecorded makes of it. No ROS here."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from robomarl.ros.robot.inbox import Problem

QUIET_S = 3.0
"""A topic that is told all the time and of which nothing has arrived for so long is missing."""
RECORDED = "recorded"


class Told(NamedTuple):
    """What a recorder says of its recording."""

    level: int
    text: str
    robots: Mapping[str, str]
    """By robot: `RECORDED`, or what is missing of it."""


class RecordingWatch:
    """What a robot that must not fly unrecorded has heard of a recorder."""

    def __init__(self, robot: str, wanted: bool) -> None:
        """Nothing has been heard.

        Args:
            robot: whose recording counts.
            wanted: without a recording the robot is not READY; otherwise nothing here is a problem.
        """
        self._robot, self._wanted = robot, wanted
        self._told, self._heard_s = Told(0, "", {}), -math.inf

    def hear(self, told: Told, steady_s: float) -> None:
        """A recorder said something."""
        self._told, self._heard_s = told, steady_s

    def problems(self, steady_s: float) -> list[Problem]:
        """What stands against beginning to move."""
        if not self._wanted:
            return []
        if steady_s - self._heard_s > QUIET_S:
            return [Problem("recorder", "nothing heard of one; start recorder_node")]
        said = self._told.robots.get(self._robot, "does not record this robot")
        return [] if said == RECORDED else [Problem("recorder", f"{said} ({self._told.text})")]
