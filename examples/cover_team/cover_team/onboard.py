"""What the robots import: where the middle of a robot's cell is, and the topic of what is to be watched."""

from typing import Any, NamedTuple

import numpy as np

from robomarl.core.domain.onboard import LazyImport, Onboard
from robomarl.core.features import feature
from robomarl.core.geometry import namespace
from robomarl.ros.fieldtask import FieldTask, Sensor
from robomarl.ros.topics import NodeGraph, Topic

SOURCE = Topic("source", "geometry_msgs/msg/PointStamped", False, False, 5, "policy rate", "map", "what is watched")
ROLES = ("watch", "sweep_left", "sweep_right")
"""By the robots' index. Who watches counts what is near the source; who sweeps counts every place alike."""
COLUMNS, ROWS = 12, 8
CELLS = np.array([((i + 0.5) / COLUMNS, (k + 0.5) / ROWS) for i in range(COLUMNS) for k in range(ROWS)], np.float32)
"""[P, 2] places that the area is counted in, as shares of its width and height."""


class CoverSensed(NamedTuple):
    """What a robot senses: the place that is watched, and the corners of the area, [..., 2] each."""

    source_m: Any
    low_m: Any
    high_m: Any


def cell_middle(view):
    """[..., 2] the middle of the cell of a robot: of what is nearer to it than to any mate that it hears.

    Robots that all drive there cover the area best for its density (Lloyd; Cortes et al., IEEE T-RO 2004).
    """
    xp, sensed = namespace(view.own.pos_m), view.sensed
    low, high = sensed.low_m[..., None, :], sensed.high_m[..., None, :]
    places = low + (high - low) * CELLS  # [..., P, 2]
    mates = view.heard.pos_m[..., None, :2]  # [..., K, 1, 2]
    away_m2 = ((places - view.own.pos_m[..., None, :2]) ** 2).sum(-1)
    theirs_m2 = xp.where(view.heard.mask[..., None], ((places[..., None, :, :] - mates) ** 2).sum(-1), np.inf)
    near_source = xp.exp(-((places - sensed.source_m[..., None, :]) ** 2).sum(-1)) + 0.01
    counts = xp.where(view.role[..., None] == ROLES.index("watch"), near_source, 1.0)  # a density
    mine = counts * (away_m2 <= theirs_m2.min(-2, initial=np.inf)) + 1e-6
    return (mine[..., None] * places).sum(-2) / mine.sum(-1)[..., None]


@feature(("x", "y"), "m", "world", ("own.pos_m", "heard.pos_m", "heard.mask", "role", "sensed"))
def cell_error(view, rule):
    """From the robot to the middle of its cell."""
    return cell_middle(view) - view.own.pos_m[..., :2]


@feature(ROLES, "-", "none", ("role",))
def cover_role(view, rule):
    """One-hot: which role the robot has."""
    return (view.role[..., None] == np.arange(len(ROLES))) * 1.0


def source_to(message):
    """The place in a message, and its stamp [s]."""
    from robomarl.ros.convert import stamp_of

    return np.array([message.point.x, message.point.y]), stamp_of(message.header)


def field_task(content, seat):
    """What a robot senses: the source by a topic, and the area by the scenario, which is in its bundle."""
    low_m, high_m = np.array(content["area_low_m"]), np.array(content["area_high_m"])

    def sensed(values, snapshot):
        source_m = values["source"]
        return CoverSensed(low_m if source_m is None else source_m, low_m, high_m)

    sensors = (Sensor(SOURCE, LazyImport("cover_team.onboard:source_to")),)
    return FieldTask(sensors, sensed, role=np.int32(seat.index))


ONBOARD = Onboard((), ("cover_team.onboard",), field_task, graph=lambda: NodeGraph(sensed=(SOURCE,)))
