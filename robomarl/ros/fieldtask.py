"""`FieldTask`: topics that a task adds to the node graph, and the way their latest values become
`view.sensed`.

A task without sensors of its own needs no entry: it is `PLAIN`. A task with sensors is made by its
domain's `field_task`, from the scenario that a bundle carries in its contract. The domain's
simulator publishes on these topics too. No ROS here: readers and writers of messages are named, not
imported.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.bundle.perception import Perception
from robomarl.core.domain.base import of_kind
from robomarl.core.domain.onboard import LazyImport
from robomarl.core.domain.registry import onboard_of
from robomarl.core.hardware.field import scenario_content
from robomarl.core.view import Goal, LocalView, NothingSensed
from robomarl.ros.io.messages import Detections, Estimate, Message, PoseHistory, TeamSnapshot
from robomarl.ros.robot.state_machine import TeamFallback
from robomarl.ros.topics import COMMAND, GOAL, WORLD, Topic

_ROLE = np.int32(0)


@dataclass(frozen=True)
class BoundReader:
    """A reader that is made for one robot, when its first message is read."""

    make: LazyImport
    """Makes the reader of `given`."""
    given: tuple[object, ...]

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The reader."""
        return self.make(*self.given)

    def __call__(self, message: Message) -> tuple[Any, float]:
        """Read one message."""
        return self.function(message)


@dataclass(frozen=True)
class Sensor:
    """One topic that a task senses."""

    topic: Topic
    reader: LazyImport | BoundReader
    """Makes (value, stamp [s]) of a message."""
    shared: bool = True
    """One topic for the team (in the namespace `BASE/world`); otherwise one for each robot."""
    max_age_s: float | None = None
    """A value that is older counts as lost; None: the task's `max_age_s`."""
    kept: "Kept | None" = None
    """Topic that the node publishes for the recorder, in place of one that is too large to record."""

    @property
    def recorded(self) -> "Sensor":
        """The sensor as a recording has it."""
        return self if self.kept is None else Sensor(self.kept.topic, self.kept.reader, self.shared)

    def name(self, robot: str, base: str = "") -> str:
        """Absolute name of the topic that this robot listens to."""
        return self.topic.of(WORLD if self.shared else robot, base)


@dataclass(frozen=True)
class Kept:
    """The smaller message that stands for a sensor's in a recording."""

    topic: Topic
    reader: LazyImport | BoundReader
    """Makes the same (value, stamp [s]) of its messages as the sensor's reader of the sensor's."""
    writer: LazyImport
    """Makes a message of (value, name of the robot)."""


class Seat(NamedTuple):
    """A robot's place in its team."""

    index: int = 0
    size: int = 1
    """Robots in its team."""
    away: bool = False
    """True if, in a game, the robot's team attacks towards -x of the map."""
    pitch_m: tuple[float, float] = (0.0, 0.0)
    """Length and width [m] of the field in a game; 0: the scenario's."""
    perception: Perception | None = None
    """The bundle's network that reads pictures; None for a robot that is told what it senses."""
    compressed: bool = False
    """Pictures come as `sensor_msgs/CompressedImage`."""


@dataclass(frozen=True)
class FieldTask:
    """A task as the nodes see it."""

    sensors: tuple[Sensor, ...] = ()
    sensed: Callable[[Mapping[str, Any], TeamSnapshot], tuple] = lambda values, snapshot: NothingSensed()
    """Function (latest value of every sensor by topic name, None before the first; snapshot of further inputs) ->
    `LocalView.sensed`.
    """
    max_age_s: float = 0.1
    """A sensor that is older counts as lost."""
    lifted: Callable[[LocalView], bool] = lambda view: True
    hangs: Callable[[LocalView], bool] = lambda view: False
    """Function that says True where the team's load is off the ground: it would fall."""
    """The load hangs free: PICKUP is over. Always so where there is none."""
    goal: Topic = GOAL
    """Topic of the goal: one for each robot, or one for the team (in the namespace `BASE/world`)."""
    fixed_goal: Goal | None = None
    """Goal that is not received from a topic; if it is set, no goal topic is subscribed to."""
    commands: tuple[Topic, ...] = (COMMAND,)
    """Topics that command the robot."""
    writer: LazyImport | None = None
    """(robot, period [s]) -> a function that makes the messages of `commands`, in that order, of a command [A], the
    estimate that it was decided on (None: none) and its stamp [s]. None: there is `COMMAND` only."""
    away: bool = False
    """The robot thinks in the map turned by half a turn about its origin."""
    told: Callable[[tuple, float], Detections | None] = lambda sensed, age_s: None
    """Function (`LocalView.sensed`, age [s] of the estimate sent with it) -> detections to send to teammates, or
    None.
    """
    role: np.int32 = _ROLE
    """`LocalView.role` of this robot."""
    team_rule: TeamFallback = TeamFallback.CONTINUE
    """Action of all robots as soon as one robot holds, lands, or does not sense an input of the task. Robots without
    a load brake one by one, and each counts as without a state estimate if its sensors fail. Carriers have a
    fallback of the team.
    """
    put_back_s: float = math.inf
    """Time [s] after which a robot with estimates of only another place is accepted to be there: robots are put
    elsewhere during play, as at a kick-off.
    """
    hear: Callable[[str, Any, PoseHistory], None] = lambda name, value, history: None
    """Function (topic's name, value, own estimates as they arrived) that is told every value of a sensor that is
    accepted, for senses with a memory."""
    placed: Callable[[Estimate, float], Estimate] = lambda estimate, stamp_s: estimate
    """Function (own estimate as it arrives, its stamp [s]) -> the estimate in the map, of robots that find their place
    by what they see."""
    doubt: Callable[[], str] = lambda: ""
    """Why the robot's own place can't be used; "" if it can."""
    station: Callable[[LocalView], np.ndarray | None] = lambda view: None
    """[2] where a robot is to be when it lifts or sets down, world x and y [m]; None: where it is."""
    waits: Callable[[LocalView], np.ndarray | None] = lambda view: None
    """[A] command of a robot that waits for its task to begin or to go on, in place of its policy's; None: the policy
    decides."""

    def goal_name(self, robot: str, base: str = "") -> str:
        """Absolute name of the topic on which this robot is told its goal."""
        return self.goal.of(robot if self.goal is GOAL else WORLD, base)


PLAIN = FieldTask()


def field_task(content: Mapping[str, Any], seat: Seat = Seat()) -> FieldTask:  # noqa: B008
    """The task of a scenario, for one robot; `PLAIN` if it senses nothing."""
    make = onboard_of(content).field_task
    return PLAIN if make is None else of_kind(make(content, seat), FieldTask, "What a domain's field_task returns")


def task_name(scenario: str) -> str:
    """The task that a scenario file names; "" where there is no such file."""
    return str(scenario_content(scenario).get("task", ""))
