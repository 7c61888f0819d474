"""Sensor data of ground robots besides themselves and their teammates, and the roles in a scenario.

An overhead system sends the things on the floor to the whole team in one message, rows of three
numbers. No ROS here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robomarl.core.types import Array

RANKS = 3
"""Numbers of a robot's capability: two of its role, and which of its role it is, from 0."""
THINGS = {
    "discovery": 6,
    "foraging": 2,
    "material_transport": 2,
    "arctic_transport": 18,
    "predator_prey": 1,
    "warehouse": 0,
    "rware": 6,
}
"""Rows that a task's robots are told of, besides one for each robot."""


class FloorSensed(NamedTuple):
    """Sensor data of one robot."""

    capability: Array
    """[..., 3] see `capabilities`."""
    carries: Array
    """[...] 1 while it carries something; 2 where that is requested."""
    things: Array
    """[..., M, 3] place x, y [m], world, and kind, as the task defines it."""


def capabilities(team: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """[N, 3] float32: the two numbers of each robot's role, and its rank in it; of `[[team]]` of a scenario file."""
    rows = [(*role["capability"], rank) for role in team for rank in range(role["count"])]
    return np.array(rows, np.float32).reshape(-1, RANKS)
