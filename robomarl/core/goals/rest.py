"""Resting distances of a vehicle: how near to each other, to walls and to obstacles its filter lets robots rest."""

import dataclasses
import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.filter import Arena, SafetyParams, from_vehicle
from robomarl.core.filter.model.bodies import Obstacle
from robomarl.core.goals.press import Errors, pressed_m
from robomarl.core.hardware.vehicle import AnyVehicle

PERIOD_S, AGE_S = 0.02, 0.04
"""Decision period [s] and message age [s] for a vehicle's file: decisions at 50 Hz, and messages as
old as two periods, the one in which they are sent and the one on their way."""
FAR_M = 1e3
"""No wall."""


class RestDistances(NamedTuple):
    """Least distances [m] at which two robots both rest.

    They are between the points that are commanded: the centres, or for differential drives the points
    in front of their axles. The centres of two such robots with equal heading are as far apart.
    """

    beside_m: float
    """Distance of two robots at equal height, with errors at their declared bounds."""
    above_m: float | None
    """Distance of two robots above each other, with errors at their declared bounds; None for vehicles that drive."""

    def needed_share(self, apart_m: np.ndarray) -> np.ndarray:
        """Return the distance [...] of two places over the resting distance in that direction; robots rest at
        both from 1 on.

        Args:
            apart_m: [..., 3] from the first place to the second, world frame [m].
        """
        height = 0.0 if self.above_m is None else apart_m[..., 2] / self.above_m
        return np.hypot(np.hypot(apart_m[..., 0], apart_m[..., 1]) / self.beside_m, height)


class Margins(NamedTuple):
    """Least distances [m] of a resting robot from fixed bodies, with exact estimates: none rests nearer than this.

    They are of the point that is commanded, as in `RestDistances`.
    """

    wall_m: float
    """Distance from a wall of the arena."""
    floor_m: float | None
    """Distance from floor and ceiling of the arena; None for vehicles that drive."""
    obstacle_m: float | None
    """Distance from the surface of an obstacle; None for a vehicle without `safety.clearance_m` in its file."""


def vehicle_rest(vehicle: AnyVehicle) -> RestDistances:
    """The distances of a vehicle's file, at 50 Hz and with messages that are 0.04 s old.

    Raises:
        UserError: the vehicle's figures do not fit each other or the period.
    """
    return rest_distances(from_vehicle(vehicle, PERIOD_S), AGE_S)


def vehicle_margins(vehicle: AnyVehicle) -> Margins:
    """The margins of a vehicle's file at 50 Hz; raises as `vehicle_rest`."""
    return margins(from_vehicle(vehicle, PERIOD_S))


def rest_distances(params: SafetyParams, age_s: float, share: float = 1.0) -> RestDistances:
    """Return the distances of a filter; the robot's surroundings (arena, obstacles, strangers, boards) do
    not count.

    Args:
        params: parameters of the robots' filter.
        age_s: age of teammates' messages when they are read.
        share: of their declared bounds that errors have.
    """
    return _rest_distances(_bare(params), Errors(share, age_s))


def margins(params: SafetyParams) -> Margins:
    """The margins of a filter, wherever its walls and obstacles are."""
    return _margins(_bare(params))


def _bare(params: SafetyParams) -> SafetyParams:
    return dataclasses.replace(params, arena=None, obstacles=(), min_mates=0, strangers=None, boards_m=None, tail=None)


@lru_cache(maxsize=64)
def _rest_distances(bare: SafetyParams, worst: Errors) -> RestDistances:
    return RestDistances(_of_two(bare, 0, worst), None if bare.planar else _of_two(bare, 2, worst))


@lru_cache(maxsize=64)
def _margins(bare: SafetyParams) -> Margins:
    has_obstacles = bare.safety.clearance_m is not None
    return Margins(
        wall_m=_of_wall(bare, 0),
        floor_m=None if bare.planar else _of_wall(bare, 2),
        obstacle_m=_of_obstacle(bare) if has_obstacles else None,
    )


def _of_obstacle(bare: SafetyParams) -> float:
    """Return the distance of one robot that is pushed at a large box."""
    box = Obstacle("box", (-FAR_M, -FAR_M, -FAR_M), (0.0, FAR_M, FAR_M))
    return _of_one(dataclasses.replace(bare, obstacles=(box,)), 0)


def _of_two(bare: SafetyParams, axis: int, errors: Errors) -> float:
    """Return the distance of two robots that are pushed at each other along an axis."""
    towards = np.zeros((2, 3))
    towards[:, axis] = 1.0, -1.0
    places = -_start_m(bare) * towards
    pos = pressed_m(dataclasses.replace(bare, min_mates=1), places, towards, errors)
    return float(pos[1, axis] - pos[0, axis])


def _of_wall(bare: SafetyParams, axis: int) -> float:
    """Return the distance of one robot that is pushed at the lowest wall across an axis."""
    low = [-FAR_M] * 3
    low[axis] = 0.0
    arena = Arena((low[0], low[1], low[2]), (FAR_M, FAR_M, FAR_M))
    return _of_one(dataclasses.replace(bare, arena=arena), axis)


def _of_one(params: SafetyParams, axis: int) -> float:
    """Return the rest position of one robot that is pushed at the plane through the origin, from its high side."""
    towards = np.zeros((1, 3))
    towards[:, axis] = -1.0
    pos = pressed_m(params, -_start_m(params) * towards, towards, Errors())
    return float(pos[0, axis])


def _start_m(params: SafetyParams) -> float:
    """Return half of a distance at which the rows allow the speed of the push: separation, braking distance, and
    more."""
    s, speed = params.safety, params.limits.speed_m_s
    braking_m = speed**2 / (2 * s.brake_m_s2) + speed * (s.delay_s + AGE_S + 1 / s.gain_per_s)
    return s.separation_m * s.downwash_ratio + params.look_ahead_m + braking_m


def nearest_m(obstacle: Obstacle, place_m: np.ndarray, planar: bool) -> float:
    """Distance [m] from a place to the surface of an obstacle; below 0 inside a sphere or capsule, 0 - radius in a box.

    Args:
        obstacle: sphere, capsule or box.
        place_m: [3] world frame.
        planar: heights do not count.
    """
    first = np.array(obstacle.from_m)
    last = first if obstacle.to_m is None else np.array(obstacle.to_m)
    if obstacle.kind == "box":
        off = place_m - np.clip(place_m, first, last)
    else:
        line = (last - first) * ([1.0, 1.0, 0.0] if planar else 1.0)
        share = np.dot(place_m - first, line) / max(float(np.dot(line, line)), 1e-12)
        off = place_m - first - min(max(share, 0.0), 1.0) * (last - first)
    return math.hypot(*(off[:2] if planar else off)) - obstacle.radius_m
