"""What a task adds to the node graph: the topics that it senses, and how their latest values become `view.sensed`.

A task without sensors of its own needs no entry: it is `PLAIN`. One with sensors puts a `FieldTask` into
`FIELD_TASKS` under the task's name, which a bundle carries in its contract; the simulator publishes the same
topics from a function in `robomarl.ros_nodes.sim_node.sensors`. No ROS here: readers are named, not imported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robomarl.ros_nodes.topics import Topic
from robomarl.view import LocalView, NothingSensed


@dataclass(frozen=True)
class Sensor:
    """One topic that a task senses."""

    topic: Topic
    reader: str
    """Function of `robomarl.ros_nodes.wire` or `.convert` that makes (value, stamp [s]) of a message."""
    shared: bool = True
    """One topic for the team (`BASE/sim` or the estimator's namespace `BASE/world`); otherwise one for each robot."""

    def name(self, robot: str, base: str = "") -> str:
        """Absolute name of the topic that this robot listens to."""
        return self.topic.of("world" if self.shared else robot, base)


@dataclass(frozen=True)
class FieldTask:
    """A task as the nodes see it."""

    sensors: tuple[Sensor, ...] = ()
    sensed: Callable[[Mapping[str, Any]], tuple] = lambda values: NothingSensed()
    """Latest value of every sensor by the topic's name (None before the first) to `LocalView.sensed`."""
    max_age_s: float = 0.1
    """A sensor that is older counts as lost, like the robot's own estimate."""
    lifted: Callable[[LocalView], bool] = lambda view: True
    """The load hangs free: PICKUP is over. Always so where there is none."""


PLAIN = FieldTask()
FIELD_TASKS: dict[str, FieldTask] = {}
"""By the name of the task, as in the scenario file."""


def field_task(name: str) -> FieldTask:
    """The task of that name; `PLAIN` if it senses nothing."""
    return FIELD_TASKS.get(name, PLAIN)
