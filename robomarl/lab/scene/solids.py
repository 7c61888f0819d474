"""Obstacles, boxes and lines as parts of a scene."""

from collections.abc import Sequence

import numpy as np

from robomarl.core.filter.model.bodies import Obstacle
from robomarl.lab.scene.scene import RGB, Point, Primitive

OBSTACLE_RGB: RGB = (120, 128, 140)


def obstacle_part(obstacle: Obstacle) -> Primitive:
    """Return an obstacle of a scenario file as a part, world frame."""
    radius = obstacle.radius_m
    if obstacle.to_m is None:
        return Primitive("sphere", (radius, 0, 0), obstacle.from_m, rgb=OBSTACLE_RGB)
    if obstacle.kind == "capsule":
        return Primitive("capsule", (radius, 0, 0), obstacle.from_m, obstacle.to_m, OBSTACLE_RGB)
    low, high = np.array(obstacle.from_m) - radius, np.array(obstacle.to_m) + radius
    return box_part(low, high, OBSTACLE_RGB)


def box_part(low_m: Sequence[float] | np.ndarray, high_m: Sequence[float] | np.ndarray, rgb: RGB) -> Primitive:
    """Return the box between two corners, [3] each."""
    low, high = np.asarray(low_m, float), np.asarray(high_m, float)
    return Primitive("box", _point(high - low), _point((low + high) / 2), rgb=rgb)


def strip(start_m: Sequence[float], end_m: Sequence[float], width_m: float, rgb: RGB) -> Primitive:
    """Return a flat strip along x or y on the floor, from one point [2] to another."""
    low, high = np.minimum(start_m, end_m) - width_m / 2, np.maximum(start_m, end_m) + width_m / 2
    return box_part((*low, 0.0), (*high, 0.002), rgb)


def _point(values: np.ndarray) -> Point:
    x, y, z = values.tolist()
    return x, y, z
