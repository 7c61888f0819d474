"""Bodies besides teammates that a robot keeps clear of, as scenario and robot files describe them."""

from dataclasses import dataclass
from typing import Literal

from robomarl.core.config import NonNegative, Positive
from robomarl.core.hardware.sections import Vector3


@dataclass(frozen=True)
class Obstacle:
    """Something that never moves, world frame."""

    kind: Literal["sphere", "capsule", "box"]
    """Its shape; the axes of a box are those of the world."""
    from_m: Vector3
    """Centre of the sphere, one end of the capsule's axis, or the lowest corner of the box."""
    to_m: Vector3 | None = None
    """Far end of the axis, or the highest corner; a sphere has none."""
    radius_m: NonNegative = 0.0
    """Radius of sphere and capsule; for a box, the distance by which its faces are moved outwards."""
    name: str = ""
    """For people; nothing reads it."""

    def __post_init__(self) -> None:
        """Check that the kind has the fields that it needs."""
        if (self.kind == "sphere") != (self.to_m is None):
            raise ValueError(f"to_m must be {'left out of a sphere' if self.kind == 'sphere' else 'given'}.")
        if self.kind == "box" and any(a > b for a, b in zip(self.from_m, self.to_m or self.from_m, strict=True)):
            raise ValueError(f"from_m = {self.from_m} must be the lowest corner of the box, to_m the highest.")
        if self.kind != "box" and not self.radius_m:
            raise ValueError(f"radius_m of a {self.kind} must be larger than 0.")


@dataclass(frozen=True)
class Strangers:
    """Moving bodies that do not run this filter: opponents, people, unknown robots."""

    separation_m: Positive
    """Distance kept between their centres and ours."""
    accel_m_s2: NonNegative
    """Bound of their acceleration, any direction."""
    speed_m_s: Positive
    """Bound of their speed."""
    position_error_m: NonNegative
    """Bound of the error of their observed position."""
    velocity_error_m_s: NonNegative
    """Bound of the error of their observed velocity."""
    max_age_s: Positive
    """Older sightings stop the vehicle."""
    answer: Literal["stop", "evade"] = "stop"
    """`stop`: at rest before they can be there, so never moving when hit. `evade`: faster away than they come,
    which needs `accel_m_s2` below our brake, and room to go to."""
    gain_per_s: Positive | None = None
    """Class-K gain of their rows: how late to brake before them; by default the vehicle's."""
    remember_s: Positive | None = None
    """Time for which a stranger that went out of sight counts, after `max_age_s` at its likely position;
    by default no longer than that. Read by filters of players."""
    clear_rad: NonNegative = 0.0
    """Angle about the heading within which the vehicle sees every stranger that stands there; 0: that is not sure."""


@dataclass(frozen=True)
class Tail:
    """A part of the vehicle that is no sphere: a straight line from its centre, a cable or a suspended load."""

    to_m: Vector3
    """Its far end relative to the centre, world frame."""
    separation_m: Positive
    """Distance kept between this line and a mate's line, from centre to far end; swing and radii included."""
    clearance_m: Positive
    """Distance kept between this line and the surface of obstacles, or a stranger's centre; swing included."""
