"""Where vehicles' local frames begin, each by its own estimator, in the frame that all share.

Azimuthal equidistant projection on a sphere (Snyder, Map projections: a working manual, USGS 1395, page 195), as PX4's
estimator places its own local frame.
"""

import math
from typing import NamedTuple

import numpy as np

EARTH_M = 6371000.0
"""Radius that PX4 calculates with."""


class Geodetic(NamedTuple):
    """A point of the Earth."""

    latitude_deg: float
    longitude_deg: float
    altitude_m: float


def ned_between(begin: Geodetic, there: Geodetic) -> np.ndarray:
    """[3] from a point to another, north, east, down [m], in the frame of the first."""
    lat0, lat = math.radians(begin.latitude_deg), math.radians(there.latitude_deg)
    turn = math.radians(there.longitude_deg - begin.longitude_deg)
    # The angle by its half, so that metres do not drown in rounding.
    half = math.sin((lat - lat0) / 2) ** 2 + math.cos(lat0) * math.cos(lat) * math.sin(turn / 2) ** 2
    angle = 2 * math.asin(math.sqrt(min(half, 1.0)))
    scale = EARTH_M * (angle / math.sin(angle) if angle > 1e-12 else 1.0)
    bend = 2 * math.sin(lat0) * math.cos(lat) * math.sin(turn / 2) ** 2
    north = scale * (math.sin(lat - lat0) + bend)
    east = scale * math.cos(lat) * math.sin(turn)
    return np.array([north, east, begin.altitude_m - there.altitude_m])
