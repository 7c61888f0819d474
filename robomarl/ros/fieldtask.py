"""What a task adds to the node graph: the topics that it senses, and how their latest values become `view.sensed`.

A task without sensors of its own needs no entry: it is `PLAIN`. One with sensors is made by its domain's `field_task`,
from the scenario that a bundle carries in its contract; the domain's simulator publishes the same topics. No ROS
here: what reads and writes messages is named, not imported.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.domain.onboard import LazyImport
from robomarl.core.domain.registry import onboard_of
from robomarl.core.hardware.field import scenario_content
from robomarl.core.view import Goal, LocalView, NothingSensed
from robomarl.ros.io.messages import Detections, TeamSnapshot
from robomarl.ros.robot.state_machine import TeamFallback
from robomarl.ros.topics import COMMAND, GOAL, WORLD, Topic

_ROLE = np.int32(0)


@dataclass(frozen=True)
class Sensor:
    """One topic that a task senses."""

    topic: Topic
    reader: LazyImport
    """Makes (value, stamp [s]) of a message."""
    shared: bool = True
    """One topic for the team (in the namespace `BASE/world`); otherwise one for each robot."""

    def name(self, robot: str, base: str = "") -> str:
        """Absolute name of the topic that this robot listens to."""
        return self.topic.of(WORLD if self.shared else robot, base)


class Seat(NamedTuple):
    """Who a robot is in its team."""

    index: int = 0
    size: int = 1
    """Robots in its team."""
    away: bool = False
    """Of a game: its team attacks towards -x of the map."""
    pitch_m: tuple[float, float] = (0.0, 0.0)
    """Of a game: length and width of the field; 0: the scenario's."""


@dataclass(frozen=True)
class FieldTask:
    """A task as the nodes see it."""

    sensors: tuple[Sensor, ...] = ()
    sensed: Callable[[Mapping[str, Any], TeamSnapshot], tuple] = lambda values, snapshot: NothingSensed()
    """Latest value of every sensor by the topic's name (None before the first), and what else is known, to
    `LocalView.sensed`."""
    max_age_s: float = 0.1
    """A sensor that is older counts as lost."""
    lifted: Callable[[LocalView], bool] = lambda view: True
    """The load hangs free: PICKUP is over. Always so where there is none."""
    goal: Topic = GOAL
    """Where the goal is told: to each robot, or to the team (in the namespace `BASE/world`)."""
    fixed_goal: Goal | None = None
    """A goal that nobody tells: then nobody is listened to."""
    commands: tuple[Topic, ...] = (COMMAND,)
    """What the robot is moved by."""
    writer: LazyImport | None = None
    """(robot, period [s]) -> a function that makes the messages of `commands`, in that order, of a command [A], the
    estimate that it was decided on (None: none) and its stamp [s]. None: there is `COMMAND` only."""
    away: bool = False
    """The robot thinks in the map turned by half a turn about its origin."""
    told: Callable[[tuple, float], Detections | None] = lambda sensed, age_s: None
    """What is told to team-mates of `LocalView.sensed`, with the age of the estimate that goes with it [s]."""
    role: np.int32 = _ROLE
    """`LocalView.role` of this robot."""
    team_rule: TeamFallback = TeamFallback.CONTINUE
    """What all robots do as soon as one of them holds, lands, or does not sense what the task needs. Robots without
    a load brake one by one, and lose themselves without their sensors; carriers have a team's fallback."""
    put_back_s: float = math.inf
    """Robots are put elsewhere in play, as at a kick-off: one that is told another place for so long is there."""
    station: Callable[[LocalView], np.ndarray | None] = lambda view: None
    """[2] where a robot is to be when it lifts or sets down, world x and y [m]; None: where it is."""

    def goal_name(self, robot: str, base: str = "") -> str:
        """Absolute name of the topic on which this robot is told its goal."""
        return self.goal.of(robot if self.goal is GOAL else WORLD, base)


PLAIN = FieldTask()


def field_task(content: Mapping[str, Any], seat: Seat = Seat()) -> FieldTask:  # noqa: B008
    """The task of a scenario, for one robot; `PLAIN` if it senses nothing."""
    make = onboard_of(content).field_task
    return PLAIN if make is None else make(content, seat)


def task_name(scenario: str) -> str:
    """The task that a scenario file names; "" where there is no such file."""
    return str(scenario_content(scenario).get("task", ""))
