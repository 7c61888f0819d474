"""What the robots import: one sensed number, one feature, one topic."""

from typing import Any, NamedTuple

import numpy as np

from robomarl.core.domain.onboard import LazyImport, Onboard
from robomarl.core.features import feature
from robomarl.ros.fieldtask import FieldTask, Sensor
from robomarl.ros.topics import NodeGraph, Topic

FLAG = Topic("flag", "geometry_msgs/msg/PointStamped", False, False, 5, "policy rate", "map", "where the flag stands")


class FlagSensed(NamedTuple):
    flag_m: Any  # [...] how far in front of its goal the flag of each robot stands, along x


@feature(("x",), "m", "world", ("sensed.flag_m", "own.pos_m", "goal.pos_m"))
def flag_error(view, rule):
    return (view.sensed.flag_m + view.goal.pos_m[..., 0] - view.own.pos_m[..., 0])[..., None]


def flag_to(message):
    return message.point.x, message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


def field_task(content, seat):
    sensors = (Sensor(FLAG, LazyImport("flag_team.onboard:flag_to")),)
    return FieldTask(sensors, lambda values, snapshot: FlagSensed(np.float64(values["flag"] or 0.0)))


ONBOARD = Onboard((), ("flag_team.onboard",), field_task, graph=lambda: NodeGraph(sensed=(FLAG,)))
