"""Start places and goals of robots without a load: sections of a scenario file."""

from dataclasses import dataclass
from typing import Literal

from robomarl.core.config import NonNegative, Positive, UserError
from robomarl.core.hardware.sections import Vector3

Box = tuple[Vector3, Vector3]
"""Lowest and highest corner, world frame [m]."""


@dataclass(frozen=True)
class StartConfig:
    """Start places of the robots."""

    ring_radius_m: Positive
    """Radius of the ring, or more where `min_spacing_m` asks for it."""
    min_spacing_m: Positive
    """Least distance between neighbours on the ring."""
    height_m: Positive
    """Height of the ring."""
    jitter_m: NonNegative = 0.0
    """Uniform offset of each start, each axis."""
    speed_m_s: NonNegative = 0.0
    """Uniform start velocity, each axis."""
    yaw_rad: NonNegative = 0.0
    """Uniform start heading within plus and minus this."""
    places_m: tuple[Vector3, ...] = ()
    """Instead of the ring: where each robot starts, world frame."""


@dataclass(frozen=True)
class GoalConfig:
    """Goals of the robots."""

    kind: Literal["far_side", "random", "places"]
    """The far side of the ring, random places within it, or `places_m`."""
    jitter_m: NonNegative = 0.0
    """Uniform offset of each goal, each axis."""
    min_separation_m: NonNegative = 0.0
    """Least distance between two random goals."""
    places_m: tuple[Vector3, ...] = ()
    """Goal of each robot for the kind `places`, world frame [m]."""


def check_places(start: StartConfig, goal: GoalConfig, count: int) -> None:
    """Check that there is a place for each robot.

    Raises:
        ValueError: there is not, or places are given that no robot is sent to.
    """
    if start.places_m and len(start.places_m) != count:
        raise ValueError(f"start.places_m has {len(start.places_m)} places for {count} robots.")
    if (wanted := count if goal.kind == "places" else 0) != len(goal.places_m):
        raise ValueError(f"goal.places_m has {len(goal.places_m)} places; kind = {goal.kind!r} needs {wanted}.")
    if bool(start.places_m) != (goal.kind == "places"):
        raise ValueError("start.places_m and goal.kind = 'places' belong together: write both, or none.")


def used_boxes(start: StartConfig, goal: GoalConfig, ring_radius_m: float) -> dict[str, Box]:
    """Boxes in which robots start and are sent, by section of the file; the ring is turned at random.

    Args:
        start: where they start.
        goal: where they are sent.
        ring_radius_m: of this team's ring.
    """
    ring = ((-ring_radius_m, -ring_radius_m, start.height_m), (ring_radius_m, ring_radius_m, start.height_m))
    starts, goals = start.places_m or ring, goal.places_m or ring
    return {"start": _around(starts, start.jitter_m), "goal": _around(goals, goal.jitter_m)}


def _around(places_m: tuple[Vector3, ...], jitter_m: float) -> Box:
    axes = tuple(zip(*places_m, strict=True))
    low, high = (tuple(end(axis) + sign * jitter_m for axis in axes) for end, sign in ((min, -1), (max, 1)))
    return low, high


def check_room(used_m: dict[str, Box], arena_m: Box, file: str) -> None:
    """Check that no robot starts or is sent outside of the arena, where episodes end.

    Args:
        used_m: boxes by section of the file.
        arena_m: the arena.
        file: of the scenario, for the error.

    Raises:
        UserError: names the axis, and how far the arena has to reach.
    """
    for section, (low, high) in used_m.items():
        for axis, *ends in zip("xyz", low, high, *arena_m, strict=True):
            if ends[0] < ends[2] or ends[1] > ends[3]:
                raise UserError(
                    f"{file}: [arena] is too small: what [{section}] says reaches from {ends[0]:.4g} to {ends[1]:.4g} "
                    f"m on axis {axis}, the arena from {ends[2]:g} to {ends[3]:g}; make low_m and high_m wider, or "
                    f"[{section}] smaller."
                )
