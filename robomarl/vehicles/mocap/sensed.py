"""Data of motion capture on a body, rules for accepting them, and checks of a single pose. No ROS."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import rotation_matrix
from robomarl.ros.intake.sound import fault_of
from robomarl.vehicles.mocap.motion_filter import PoseNoise

UNIT_TOLERANCE = 0.01
"""Largest deviation of a quaternion's length from 1; beyond it the quaternion is no rotation."""
UPRIGHT = math.cos(math.radians(60.0))
"""Least part of the body's z axis that points up when tracking begins."""


class Quality(StrEnum):
    """How far the poses of a body can be trusted."""

    WAITING = "waiting"
    """None has come."""
    SETTLING = "settling"
    """The velocity is not known well enough yet."""
    GOOD = "good"
    NOISY = "noisy"
    """The poses scatter more than the filter is told; told on, and named."""
    JUMPED = "jumped"
    """They are where the vehicle can't have moved, or turned to."""
    DOUBTED = "doubted"
    """They can be another robot's as well."""
    LOST = "lost"
    """None comes any more."""
    STAMPS = "stamps"
    """Their stamps are of another clock, or stand still."""
    IMPLAUSIBLE = "implausible"
    """Unit or frame can't be those of the file."""


FLOWN = (Quality.GOOD, Quality.NOISY)
"""Qualities of poses that become odometry."""


class SensedPose(NamedTuple):
    """One pose of one body."""

    pos_m: np.ndarray
    """[3] map."""
    quat: np.ndarray
    """[4] wxyz as it came: perhaps no rotation."""
    stamp_s: float


@dataclass(frozen=True)
class TrackRules:
    """Rules for accepting poses."""

    noise: PoseNoise = PoseNoise()
    settled_m_s: float = 0.1
    """The velocity's standard deviation has to be below this: the vehicle file's `velocity_error_m_s`."""
    lost_s: float = 0.3
    """Time [s] without a pose after which the body is lost; a pose that arrives older than this does not count."""
    ahead_s: float = 0.05
    """Largest time [s] by which stamps may be ahead of this machine's clock."""
    restart_s: float = 2.0
    """Time [s] without a trusted pose after which the body's position is unknown: it has to be reset or put down."""
    most_m: float = 100.0
    """No position is further from the origin."""
    delay_s: float = 0.0
    """Longest time from a command to the acceleration [s]."""
    command_error_m_s2: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Largest difference between an acceleration and its command, each axis."""


class TrackStatus(NamedTuple):
    """How a body is seen."""

    quality: Quality
    why: str
    """Reason in words; "" if it is good."""
    age_s: float
    """Time [s] from the stamp of the newest pose to its arrival: latency of motion capture and network."""
    rate_hz: float
    """Rate of poses that counted [Hz]."""
    speed_error_m_s: float
    """Standard deviation of the velocity."""


def stamp_problem(dt_s: float, age_s: float, rules: TrackRules) -> str:
    """Return the problem of a stamp this much later than the one before, for a pose of this age [s]; "" if there is
    none.
    """
    if not math.isfinite(age_s):
        return "a stamp is not finite"
    if dt_s < 0 and dt_s > -rules.restart_s:
        return f"a stamp is {-dt_s:.3f} s before the last one"
    if age_s < -rules.ahead_s:
        return f"stamps are {-age_s:.2f} s ahead of this machine's clock; synchronize, or use stamps: arrival"
    if age_s > rules.lost_s:
        return f"poses are {age_s:.2f} s old when they come; synchronize clocks, or use stamps: arrival"
    return ""


def pose_problem(pose: SensedPose, most_m: float, begins: bool) -> str:
    """Return the problem of a single pose, independent of earlier ones; "" if there is none.

    Args:
        pose: in the map.
        most_m: no position is further from the origin.
        begins: True if a track begins with it: the body has to be upright.
    """
    if why := fault_of((*pose.pos_m.tolist(), *pose.quat.tolist()), "a number of a pose"):
        return why
    length = float(np.linalg.norm(pose.quat))
    if abs(length - 1) > UNIT_TOLERANCE:
        angles = "; are they angles in degrees?" if length > 1.5 else ""
        return f"the quaternion has length {length:.3g}, not 1{angles}"
    most = float(np.abs(pose.pos_m).max())
    if most > most_m:
        return f"a position of {most:.0f} m: positions are in millimetres and read as metres"
    return _wrong_way_up(pose.quat / length) if begins else ""


def _wrong_way_up(quat: np.ndarray) -> str:
    """Return the problem of the attitude of a body at the start of its track; "" if it is upright."""
    up = rotation_matrix(quat)[2]
    if up[2] >= UPRIGHT:
        return ""
    if up[2] <= -UPRIGHT:
        return "the body is upside down: NED and FRD are read as ENU and FLU, or the markers' axes are so"
    return "the body lies on its side: a frame with y up is read as one with z up, or the markers' axes are so"
