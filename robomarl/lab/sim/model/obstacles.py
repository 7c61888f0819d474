"""Obstacles in the arena, which never move: the robots' distances to the nearest one."""

from collections.abc import Sequence
from typing import Protocol

from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.filter.model.body_kinds import POINT, Shape
from robomarl.core.filter.model.motion import Vec3
from robomarl.core.filter.model.separation import apart
from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array


class HasObstacles(Protocol):
    """The section `arena` of a scenario."""

    @property
    def obstacles(self) -> Sequence[Obstacle]:
        """Obstacles, which never move."""
        ...


class InArena(Protocol):
    """A scenario with an arena."""

    @property
    def arena(self) -> HasObstacles:
        """The arena and what stands in it."""
        ...


def obstacle_gap(scenario: InArena, pos: Vec3) -> Array:
    """[..., N] distance [m] from each centre to the nearest surface, 0 inside a box; infinite without obstacles.

    Args:
        scenario: with the obstacles, world frame.
        pos: three components [..., N].
    """
    xp = namespace(pos[0])
    nearest = pos[0] * 0.0 + xp.inf
    for obstacle in scenario.arena.obstacles:
        start, far = obstacle.from_m, obstacle.to_m
        beyond = tuple(b - a for a, b in zip(start, far, strict=True)) if far else None
        shape = POINT if beyond is None else Shape(box=beyond) if obstacle.kind == "box" else Shape(line=beyond)
        offset = tuple(p - a for p, a in zip(pos, start, strict=True))
        away = norm(xp.stack(apart(offset, None, shape, xp), -1))
        nearest = xp.minimum(nearest, away - obstacle.radius_m)
    return nearest
