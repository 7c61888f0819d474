"""`waiting`: the command of a drone that goes back to its post and hovers there. No ROS here, and no simulation."""

import numpy as np

from robomarl.core.view import LocalView

PLACE_PER_S2, SLOW_PER_S = 4.0, 3.6
"""Acceleration over the way to the post, and over the velocity."""
SPEED_M_S, ACCEL_M_S2 = 2.0, 4.0
"""Largest speed and acceleration of each axis on the way to the post."""


def waiting(view: LocalView) -> np.ndarray:
    """[4] acceleration [m/s^2, world] towards the robot's goal, which is its post, and no yaw rate."""
    way = (view.goal.pos_m - view.own.pos_m) * (PLACE_PER_S2 / SLOW_PER_S)
    wanted = SLOW_PER_S * (np.clip(way, -SPEED_M_S, SPEED_M_S) - view.own.vel_m_s)
    return np.append(np.clip(wanted, -ACCEL_M_S2, ACCEL_M_S2), 0.0)
