"""Doors: gaps between two obstacles that a robot's body fits through, and the reference of its certificate does not."""

import itertools
from collections.abc import Sequence

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.filter.model.bodies import Obstacle


def check_doors(obstacles: Sequence[Obstacle], radius_m: float, kept_m: float, name: str) -> None:
    """Refuse a door that is open to bodies and closed to references.

    Args:
        obstacles: obstacles of a scenario. Capsules that lean are left out.
        radius_m: radius of a robot's body.
        kept_m: distance from obstacles at which references rest.
        name: name of the scenario.

    Raises:
        UserError: there is such a door; names both obstacles, its width and the width that references need.
    """
    for one, other in itertools.combinations(filter(_is_upright, obstacles), 2):
        wide_m = gap_m(one, other)
        if 2 * radius_m < wide_m < 2 * kept_m:
            between = f"{one.name or one.kind} and {other.name or other.kind}"
            raise UserError(
                f"{name}: the gap between {between} is {wide_m:.3g} m wide, and references stay {kept_m:.3g} m from "
                f"each: none passes; make it wider than {2 * kept_m:.3g} m, or close it."
            )


def gap_m(one: Obstacle, other: Obstacle) -> float:
    """Horizontal distance [m] between two upright obstacles; infinite where one is above the other."""
    (low, high), (low_2, high_2) = _corners(one), _corners(other)
    apart = np.maximum(np.maximum(low_2 - high, low - high_2), 0.0)
    if apart[2] > one.radius_m + other.radius_m:
        return float("inf")
    return float(np.hypot(*apart[:2])) - one.radius_m - other.radius_m


def _is_upright(obstacle: Obstacle) -> bool:
    """Return True for a ball, a box, and a capsule that stands: their horizontal distances are those of boxes."""
    low, high = _corners(obstacle)
    return obstacle.kind == "box" or not (high - low)[:2].any()


def _corners(obstacle: Obstacle) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest corner [3] of what is the radius away from the surface."""
    ends = np.array([obstacle.from_m, obstacle.to_m or obstacle.from_m])
    return ends.min(0), ends.max(0)
