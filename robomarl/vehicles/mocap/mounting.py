"""`Mounting`: how the frame of the motion capture lies in the map. No ROS."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_from_yaw, quat_multiply, rotate
from robomarl.vehicles.mocap.tracker import SensedPose

_STANDS_UP = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])
"""A quarter turn about x: y up becomes z up."""


@dataclass(frozen=True)
class Mounting:
    """Transform from the frame of the motion capture to the map."""

    axes: Literal["z_up", "y_up"] = "z_up"
    """Axes of the motion capture's world and of its bodies alike."""
    origin_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Position of its origin in the map [m]."""
    yaw_rad: float = 0.0
    """How far its x axis is turned there, counter-clockwise."""

    def in_map(self, pose: SensedPose) -> SensedPose:
        """Return the pose in the map. A quaternion with a length other than 1 keeps it."""
        pos, quat = pose.pos_m, pose.quat
        if self.axes == "y_up":
            pos = rotate(_STANDS_UP, pos)
            quat = quat_multiply(quat_multiply(_STANDS_UP, quat), quat_conjugate(_STANDS_UP))
        turn = quat_from_yaw(np.float64(self.yaw_rad))
        return SensedPose(rotate(turn, pos) + np.array(self.origin_m), quat_multiply(turn, quat), pose.stamp_s)
