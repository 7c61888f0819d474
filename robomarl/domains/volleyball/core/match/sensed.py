"""Sensor data of a drone in a volleyball match. No ROS here.

Each team has a court frame of its own, in which it plays from the half with x > 0; the world frame is that of the first
team.
"""

from typing import NamedTuple

from robomarl.core.types import Array


class MatchSensed(NamedTuple):
    """Sensor data of one robot, in its team's court frame; N robots in each team."""

    ball_pos_m: Array
    """[..., 3] middle of the ball."""
    ball_vel_m_s: Array
    """[..., 3] velocity of the ball."""
    throttle: Array
    """[..., 4] speed of each of its rotors over the largest speed."""
    turn: Array
    """[..., 2] (1, 0) if the ball is on its own side of the net, else (0, 1)."""
    has_hit: Array
    """[..., N] 1 for robots of its team that may not hit the ball now: they have, or the ball is on the other side."""
    opponents_m: Array
    """[..., N, 3] positions of the opponents, in the order of their numbers."""
