"""Where robots that carry nothing start, and where they are sent: sections of a scenario file."""

from dataclasses import dataclass
from typing import Literal

from robomarl.config import NonNegative, Positive
from robomarl.hardware_configs.vehicle import Vector3


@dataclass(frozen=True)
class StartConfig:
    """Where the robots start."""

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
    """Where the robots are sent."""

    kind: Literal["far_side", "random", "places"]
    """The far side of the ring, random places within it, or `places_m`."""
    jitter_m: NonNegative = 0.0
    """Uniform offset of each goal, each axis."""
    min_separation_m: NonNegative = 0.0
    """Least distance between two random goals."""
    places_m: tuple[Vector3, ...] = ()
    """Of the kind `places`: where each robot is sent, world frame."""


def check_places(start: StartConfig, goal: GoalConfig, count: int) -> None:
    """Check that there is a place for each robot.

    Raises:
        ValueError: there is not, or places are named that nobody is sent to.
    """
    if start.places_m and len(start.places_m) != count:
        raise ValueError(f"start.places_m has {len(start.places_m)} places for {count} robots.")
    if (wanted := count if goal.kind == "places" else 0) != len(goal.places_m):
        raise ValueError(f"goal.places_m has {len(goal.places_m)} places; kind = {goal.kind!r} needs {wanted}.")
    if bool(start.places_m) != (goal.kind == "places"):
        raise ValueError("start.places_m and goal.kind = 'places' belong together: write both, or none.")
