"""Origins of vehicles' local frames, each set by its own estimator, in the frame that all share.

Azimuthal equidistant projection on a sphere (Snyder, Map projections: a working manual, USGS 1395,
page 195), as PX4's estimator places its own local frame.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.ros.settings import Px4DdsSettings

EARTH_M = 6371000.0
"""Radius that PX4 calculates with."""


class Geodetic(NamedTuple):
    """A point of the Earth."""

    latitude_deg: float
    longitude_deg: float
    altitude_m: float


SIM_ORIGIN = Geodetic(47.397742, 8.545594, 488.0)
"""Origin of the map of simulated vehicles: the home of PX4's own simulation."""


def origin_of(settings: Px4DdsSettings) -> Geodetic | None:
    """Origin of the map; None: that of the vehicle's local frame.

    Raises:
        UserError: the parameter `map_origin` is no place of the Earth.
    """
    found = SIM_ORIGIN if settings.sim else settings.map_origin
    if len(found) == 1 and math.isnan(found[0]):
        return None
    if len(found) != 3 or not (abs(found[0]) <= 90 and abs(found[1]) <= 180 and math.isfinite(found[2])):
        raise UserError(f"px4_dds_node: map_origin = {list(found)} must be latitude, longitude [deg] and altitude [m].")
    return Geodetic(*found)


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
