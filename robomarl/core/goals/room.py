"""Check that robots can rest at their goals: inside the arena and its margin, clear of obstacles,
clear of each other.

Every fault is words for people: which goal, which limit, both numbers.
"""

import itertools
from collections.abc import Mapping

import numpy as np

from robomarl.core.filter.filter import SafetyParams
from robomarl.core.goals.rest import RestDistances, margins, nearest_m
from robomarl.core.hardware.sections import Vector3

AXES = "xyz"
ROUNDING_M = 1e-3
"""Tolerance [m] of a resting distance: it is measured, and reported, to a millimetre."""


def goal_fault(params: SafetyParams, place_m: np.ndarray, reach_m: float = 0.0) -> str:
    """Return the reason why a robot cannot rest at a place; "" if it can.

    Args:
        params: parameters of the robot's filter, including arena and obstacles.
        place_m: [3] the goal, world frame [m].
        reach_m: distance from the goal at which a robot has arrived.
    """
    if not np.isfinite(place_m).all():
        return f"{_place(place_m)} is not finite"
    if fault := box_fault(params, place_m):
        return fault
    fault = _wall_fault(params, place_m, reach_m) or _obstacle_fault(params, place_m, reach_m)
    return f"{fault}; it has arrived within {reach_m:g} m" if fault and reach_m else fault


def box_fault(params: SafetyParams, place_m: np.ndarray) -> str:
    """Return the reason why a place of a team's payload is outside the arena, without its margin; "" if it is
    inside."""
    if not np.isfinite(place_m).all():
        return f"{_place(place_m)} is not finite"
    if params.arena is None:
        return ""
    for axis, value, low, high in zip(AXES, place_m, params.arena.low_m, params.arena.high_m, strict=True):
        if not low <= value <= high:
            return (
                f"{_place(place_m)} is outside the arena: {axis} = {value:g} m, and it reaches from {low:g} to "
                f"{high:g} m"
            )
    return ""


def _wall_fault(params: SafetyParams, place_m: np.ndarray, reach_m: float) -> str:
    if params.arena is None:
        return ""
    sides = zip(AXES, place_m, params.arena.low_m, params.arena.high_m, _wall_margins(params), strict=True)
    for axis, value, low, high, margin in sides:
        gap = min(value - low, high - value)
        if gap + reach_m < margin - ROUNDING_M:
            return (
                f"{_place(place_m)} is {gap:.3g} m from the arena's limit on axis {axis} ({low:g} to {high:g} m), and "
                f"the robot rests no nearer to it than {margin:.3f} m"
            )
    return ""


def _wall_margins(params: SafetyParams) -> tuple[float, float, float]:
    """Return the margin along each axis [m]; a vehicle that drives has no floor to keep from."""
    found = margins(params)
    return found.wall_m, found.wall_m, found.floor_m or 0.0


def inside(params: SafetyParams, place_m: np.ndarray) -> np.ndarray:
    """The place [3] nearest to one that is within the arena and its margin, world frame [m]."""
    if params.arena is None:
        return np.array(place_m)
    low, high, margin = (np.array(part) for part in (*_corners(params), _wall_margins(params)))
    middle = (low + high) / 2
    return np.clip(place_m, np.minimum(low + margin, middle), np.maximum(high - margin, middle))


def _corners(params: SafetyParams) -> tuple[Vector3, Vector3]:
    assert params.arena is not None, "only called with an arena"
    return params.arena.low_m, params.arena.high_m


def _obstacle_fault(params: SafetyParams, place_m: np.ndarray, reach_m: float) -> str:
    for number, obstacle in enumerate(params.obstacles):
        gap, least = nearest_m(obstacle, place_m, params.planar), margins(params).obstacle_m or 0.0
        if gap + reach_m < least - ROUNDING_M:
            name = f"{obstacle.name!r}" if obstacle.name else f"{number} ({obstacle.kind})"
            return (
                f"{_place(place_m)} is {gap:.3g} m from obstacle {name}, and the robot rests no nearer to it than "
                f"{least:.3f} m"
            )
    return ""


def spacing_faults(rest: RestDistances, goals_m: Mapping[str, np.ndarray]) -> list[str]:
    """Return the faults of teammates' goals: pairs nearer to each other than two robots rest, the worst pair first.

    Args:
        rest: resting distances of the robots' filter.
        goals_m: [3] each, by the name of the robot that is sent there.
    """
    found: list[tuple[float, str]] = []
    for (name, first), (other, second) in itertools.combinations(goals_m.items(), 2):
        apart = np.asarray(second, float) - np.asarray(first, float)
        share = float(rest.needed_share(apart))
        if (1 - share) * rest.beside_m > ROUNDING_M:
            found.append((share, f"the goals of {name} and {other} are {_apart(rest, apart)}"))
    return [text for _, text in sorted(found)]


def _apart(rest: RestDistances, apart: np.ndarray) -> str:
    """How far apart two goals are, and how far they have to be."""
    if rest.above_m is None:
        return f"{np.hypot(*apart[:2]):.3g} m apart, and robots rest no nearer to each other than {rest.beside_m:.3f} m"
    level, height = float(np.hypot(*apart[:2])), abs(float(apart[2]))
    return (
        f"{np.linalg.norm(apart):.3g} m apart ({level:.3g} m beside and {height:.3g} m above each other), and robots "
        f"rest no nearer than {rest.beside_m:.3f} m beside and {rest.above_m:.3f} m above each other"
    )


def _place(place_m: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:g}" for value in place_m) + ")"
