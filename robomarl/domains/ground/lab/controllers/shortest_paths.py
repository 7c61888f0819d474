"""`ShortestPaths`: the shortest path around obstacles on the floor, by their corners. Array-generic.

A visibility graph (Lozano-Pérez and Wesley, 1979): the shortest path bends at corners only. The
paths between corners are computed once; a robot determines which corners it sees, and which the
goal sees.
"""

import numpy as np
from scipy.sparse.csgraph import shortest_path

from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.geometry import namespace, norm
from robomarl.core.types import Array
from robomarl.domains.ground.lab.scenario import GroundScenario

CORNER_M = 0.03
"""Distance [m] of path corners beyond the vehicle's clearance, so that its filter lets it round them."""
FAR = 1e3
"""Length [m] assigned to a segment that an obstacle blocks."""


class ShortestPaths:
    """Shortest paths of one scenario. Obstacles other than boxes along the axes count as the boxes that enclose
    them.
    """

    def __init__(self, scenario: GroundScenario) -> None:
        """Take the obstacles, the vehicle's radius and its clearance."""
        vehicle, arena = scenario.vehicle_config, scenario.arena
        low, high = _boxes(arena.obstacles)
        self._low, self._high = low - vehicle.body.radius_m, high + vehicle.body.radius_m
        # `SafetyParams` has checked that a vehicle among obstacles has a clearance.
        out = (vehicle.safety.clearance_m or 0.0) + CORNER_M
        sides = np.stack([low - out, high + out])
        every = np.array([[sides[i, :, 0], sides[j, :, 1]] for i in (0, 1) for j in (0, 1)])
        corners = np.moveaxis(every, 1, -1).reshape(-1, 2).astype(np.float32)
        inside = ((corners[:, None] > self._low) & (corners[:, None] < self._high)).all(-1).any(-1)
        off = ((corners < arena.low_m[:2]) | (corners > arena.high_m[:2])).any(-1)
        self._corners = corners[~(inside | off)]
        legs = self._legs(self._corners[:, None], self._corners)
        self._between = shortest_path(np.where(legs < FAR, legs, 0.0)).clip(max=FAR).astype(np.float32)

    def offset(self, place_m: Array, goal_m: Array) -> Array:
        """Places and goals [..., 2] -> [..., 2] as long as the way, in the direction in which it begins."""
        xp = namespace(place_m)
        here, there = place_m[..., None, :], goal_m[..., None, :]
        rest = (self._between + self._legs(self._corners, there)[..., None, :]).min(-1)
        lengths = xp.concatenate([self._legs(here, there), self._legs(here, self._corners) + rest], -1)
        first = xp.concatenate([there - here, self._corners - here], -2)
        length = lengths.min(-1, keepdims=True)
        is_way = (lengths == length)[..., None]
        toward = (is_way * first / xp.maximum(norm(first)[..., None], 1e-6)).sum(-2)
        return length * toward / xp.maximum(norm(toward)[..., None], 1e-6)

    def _legs(self, start_m: Array, end_m: Array) -> Array:
        """[...] length of straight pieces between places [..., 2], `FAR` where something is in between."""
        xp = namespace(start_m, end_m)
        way = (end_m - start_m)[..., None, :]
        slope = xp.where(xp.abs(way) < 1e-6, 1e-6, way)
        enter, leave = ((side - start_m[..., None, :]) / slope for side in (self._low, self._high))
        begins = xp.maximum(xp.minimum(enter, leave).max(-1), 0.0)
        ends = xp.minimum(xp.maximum(enter, leave).min(-1), 1.0)
        square = xp.where((begins < ends).any(-1), FAR**2, (way * way).sum(-1)[..., 0])
        # Last: XLA works out a root once, and what ends in a choice once for each of its uses.
        return xp.sqrt(square)


def _boxes(obstacles: tuple[Obstacle, ...]) -> tuple[np.ndarray, np.ndarray]:
    """[B, 2] lowest and highest corners."""
    ends = np.array([(o.from_m[:2], (o.to_m or o.from_m)[:2]) for o in obstacles], np.float32).reshape(-1, 2, 2)
    out = np.array([[o.radius_m] for o in obstacles], np.float32).reshape(-1, 1)
    return ends.min(1) - out, ends.max(1) + out
