"""Sensor data of a drone that plays volleyball: the ball, its own rotors and whose turn it is. No ROS here."""

from typing import NamedTuple

from robomarl.core.types import Array

TURNS = 2
"""Robots that take turns; the turn of nobody is a row of zeros."""
LOST_S = 0.1
"""Time [s] without a message, five periods of the tracking system, after which the ball is lost."""


class VolleySensed(NamedTuple):
    """Sensor data of one robot."""

    ball_pos_m: Array
    """[..., 3] middle of the ball, world; the robot's own place in tasks without a ball."""
    ball_vel_m_s: Array
    """[..., 3] velocity of the ball, world."""
    throttle: Array
    """[..., 4] speed of each rotor over its largest speed."""
    turn: Array
    """[..., 2] 1 for the robot whose turn it is to hit, else 0."""
