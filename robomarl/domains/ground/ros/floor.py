"""`FLOOR`: message of an overhead system to all robots about the floor, and its use by one robot.

A row of three numbers for each thing (place x, y [m], kind) and one for each robot, with a third
number that says if it carries something. In `foraging`, the resource that is taken next comes
first. The scenario in a bundle's contract has the number of things, and the capability of its
robot.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from robomarl.core.domain.onboard import Content, LazyImport
from robomarl.domains.ground.core.sensed import THINGS, FloorSensed, capabilities
from robomarl.ros.fieldtask import PLAIN, BoundReader, FieldTask, Seat, Sensor
from robomarl.ros.io.messages import TeamSnapshot
from robomarl.ros.topics import NodeGraph, Topic

FLOOR = Topic(
    "floor", "geometry_msgs/msg/PoseArray", False, False, 5, "policy rate", "map",
    "what ground robots are told: `position` of each pose is the place of a thing and, as z, what it is; then one for "
    "each robot, z 1 while it carries (of shelves 2 where requested)",
)  # fmt: skip


def graph() -> NodeGraph:
    """The usual topics, and the floor."""
    return NodeGraph(sensed=(FLOOR,))


def field_task(content: Content, seat: Seat) -> FieldTask:
    """Return the field task of one robot; `PLAIN` if robots receive nothing about the floor."""
    task = str(content["task"])
    if task not in THINGS:
        return PLAIN
    count, index = THINGS[task], seat.index
    able = capabilities(cast("Sequence[Mapping[str, Any]]", content["team"]))[index]
    nothing = np.zeros((count + seat.size, 3))

    def sensed(values: Mapping[str, np.ndarray | None], snapshot: TeamSnapshot) -> FloorSensed:
        told = values.get(FLOOR.name)
        rows = nothing if told is None else told
        return FloorSensed(able, rows[count + index, 2], rows[:count])

    sender = "the floor's system of this task and team"
    reader = BoundReader(LazyImport("robomarl.ros.convert:places_reader"), (len(nothing), sender))
    return FieldTask((Sensor(FLOOR, reader),), sensed)
