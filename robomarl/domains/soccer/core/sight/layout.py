"""`SightLayout`: the output vector of the perception network, and `Sight`, the same by name.

The network takes `strip` [1, 32, 96, 3] uint8 (`robomarl.core.camera.strip`) and returns `sight` [1, S] float32:

1. the ball, one spot; then `opponents` spots and `mates` spots, the most certain first;
2. the pose: the field's centre x and y in the body frame [m], cosine and sine of twice the heading, and the
   standard deviations of the centre [m] and of the heading [rad].

A spot has five numbers: probability that the thing is there, azimuth [rad] counter-clockwise from the body's x axis
and distance on the ground [m], both from the point on the ground below the camera, and the standard deviations of
the azimuth [rad] and of the distance's logarithm.

The field looks equal after half a turn, so a picture has two poses; twice the heading and the centre in the body
frame are equal in both, and the tracker knows which of the two it is.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robomarl.domains.soccer.core.sight.spread import Place, Spread

FloatArray = NDArray[np.float64]
SPOT = 5
"""Numbers of a spot."""
POSE = 6
"""Numbers of the pose."""


class Spot(NamedTuple):
    """One thing in a picture."""

    probability: float
    azimuth_rad: float
    range_m: float
    azimuth_error_rad: float
    """Standard deviation."""
    log_range_error: float
    """Standard deviation of the distance's logarithm: about that of the distance as a share of it."""

    @property
    def place_m(self) -> Place:
        """Place from the point below the camera, along the body's axes."""
        return self.range_m * math.cos(self.azimuth_rad), self.range_m * math.sin(self.azimuth_rad)

    def spread(self, turn_rad: float = 0.0) -> Spread:
        """Return the covariance of `place_m` along axes that the body's are turned by this angle from."""
        c, s = math.cos(self.azimuth_rad + turn_rad), math.sin(self.azimuth_rad + turn_rad)
        along, across = (self.range_m * self.log_range_error) ** 2, (self.range_m * self.azimuth_error_rad) ** 2
        return c * c * along + s * s * across, c * s * (along - across), s * s * along + c * c * across


class SeenPose(NamedTuple):
    """The robot's pose as one picture shows it, but for half a turn."""

    centre_m: Place
    """The field's centre in the body frame."""
    half_turns_rad: float
    """Heading modulo half a turn, in (-pi/2, pi/2]."""
    centre_error_m: float
    """Standard deviation of each component."""
    heading_error_rad: float
    """Standard deviation."""


class Sight(NamedTuple):
    """Everything that one picture shows."""

    stamp_s: float
    """Middle of the exposure, by the robot's clock."""
    ball: Spot
    opponents: tuple[Spot, ...]
    mates: tuple[Spot, ...]
    pose: SeenPose


@dataclass(frozen=True)
class SightLayout:
    """Numbers of things that the network names."""

    opponents: int = 3
    mates: int = 2

    @property
    def spots(self) -> int:
        """All spots, the ball's first."""
        return 1 + self.opponents + self.mates

    @property
    def size(self) -> int:
        """S, numbers of the vector."""
        return SPOT * self.spots + POSE

    def read(self, vector: NDArray[np.float32], stamp_s: float) -> Sight:
        """Return a network's output [..., S] of one picture by name; raises `ValueError` for another size."""
        flat = vector.ravel().tolist()
        if len(flat) != self.size:
            raise ValueError(f"The output sight has {len(flat)} numbers; the layout has {self.size}.")
        spots = tuple(Spot(*flat[SPOT * i : SPOT * (i + 1)]) for i in range(self.spots))
        x, y, cos, sin, centre_error, heading_error = flat[SPOT * self.spots :]
        pose = SeenPose((x, y), math.atan2(sin, cos) / 2, centre_error, heading_error)
        last = 1 + self.opponents
        return Sight(stamp_s, spots[0], spots[1:last], spots[last:], pose)

    @property
    def names(self) -> tuple[str, ...]:
        """[S] name of each number."""
        things = ["ball"] + [f"opponent{i}" for i in range(self.opponents)] + [f"mate{i}" for i in range(self.mates)]
        spots = [f"{thing}.{field}" for thing in things for field in Spot._fields]
        pose = ("centre_x", "centre_y", "cos_double", "sin_double", "centre_error", "heading_error")
        return (*spots, *(f"pose.{name}" for name in pose))
