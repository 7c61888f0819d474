"""`Doubt`: poses that are of one motion, and that may not be the body's. No ROS, no clock.

Doubted poses are tracked beside the body's own track. They take its place where all reasons to doubt them are gone, and
never because time passes: how far a body can have moved is asked once, when the doubted poses begin.
"""

import math
from collections import deque
from typing import NamedTuple

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply, rotation_matrix
from robomarl.core.types import GRAVITY_M_S2
from robomarl.vehicles.mocap.motion_filter import MotionFilter, PoseNoise, rotation_vector
from robomarl.vehicles.mocap.sensed import SensedPose

LASTS_S = 0.1
"""Poses that are further apart in time are judged anew."""
FLIP_RAD = math.radians(15.0)
"""An attitude that is further from the one that is expected is doubted ..."""
HIDDEN_RAD, NARROWS_RAD_S = math.radians(5.0), math.radians(120.0)
"""... and, the longer there was no pose, one that is less far from it, down to this ..."""
TILT_RAD, YAW_RAD = math.radians(8.0), math.radians(10.0)
"""Largest error of the tilt against the acceleration, and of the yaw, for which a doubted attitude is the body's
[rad].
"""
WITNESS_S, LEAST = 0.25, 5
"""Time [s] and minimum number of poses over which tilt and acceleration are compared."""


class Flip(NamedTuple):
    """An attitude that is not the one that was expected."""

    expected: np.ndarray
    seen: np.ndarray
    """[4] wxyz."""
    yaw_rad: float
    """Turn [rad] from the expected to the seen yaw, each of an attitude without its tilt."""
    hidden: bool
    """True if no pose showed the turn: it may be real. Between two poses no vehicle turns so fast."""
    why: str
    """Reason in words."""

    @property
    def turn(self) -> np.ndarray:
        """Turn [4] from the expected to the seen attitude, in the body."""
        return quat_multiply(quat_conjugate(self.expected), self.seen)


class Doubt:
    """Memory of one motion that is doubted."""

    def __init__(
        self,
        noise: PoseNoise,
        pose: SensedPose,
        why: str,
        rivals: frozenset[str] = frozenset(),
        flip: Flip | None = None,
    ) -> None:
        """Begin with a first pose.

        Args:
            noise: noise of poses.
            pose: the first one.
            why: reason, in words, why it can't be the body; "" if only `rivals` or `flip` speak against it.
            rivals: names of bodies that it can be as well.
            flip: error of its attitude; None if the attitude is not doubted.
        """
        self.filter = MotionFilter(noise, pose.pos_m, pose.quat)
        self.born_s = self.stamp_s = pose.stamp_s
        self.why, self.rivals, self.flip = why, rivals, flip
        self._rows: deque[tuple[float, np.ndarray, np.ndarray]] = deque()

    @property
    def of_body(self) -> bool:
        """Only its attitude is doubted: it is where the body is."""
        return not self.why and not self.rivals

    def take(self, pos_m: np.ndarray, quat: np.ndarray, stamp_s: float) -> None:
        """Take another pose of this motion."""
        self.filter.take(pos_m, quat, stamp_s - self.stamp_s)
        self.stamp_s = stamp_s
        self._rows.append((stamp_s, pos_m, quat))
        while stamp_s - self._rows[0][0] > WITNESS_S:
            self._rows.popleft()

    def explained(self, planar: bool) -> bool:
        """Return True if the attitude is the body's after all: it turned faster than was thought."""
        assert self.flip is not None, "the attitude is doubted"
        if not self.flip.hidden or self._rows[-1][0] - self._rows[0][0] < 0.8 * WITNESS_S or len(self._rows) < LEAST:
            return False
        return abs(self.flip.yaw_rad) <= YAW_RAD and self._tilt_off(planar) <= TILT_RAD

    def _tilt_off(self, planar: bool) -> float:
        """Return the angle [rad] between the body's z axis and the force that pushes it, both on the mean."""
        times, places, quats = zip(*self._rows, strict=True)
        t = np.array(times) - times[-1]
        accel = 2 * np.polyfit(t, np.stack(places), 2)[0]
        push = accel * (not planar) + np.array([0.0, 0.0, GRAVITY_M_S2])
        up = rotation_matrix(np.stack(quats))[..., 2].mean(0)
        return math.acos(np.clip(up @ push / np.linalg.norm(up) / np.linalg.norm(push), -1.0, 1.0))


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """[rad] of the turn from one attitude [4] wxyz to another."""
    return float(np.linalg.norm(rotation_vector(quat_multiply(quat_conjugate(a), b))))


def heading(quat: np.ndarray) -> float:
    """Yaw [rad] of an attitude [4] wxyz that is left when it is tilted upright the shortest way."""
    return 2 * math.atan2(float(quat[3]), float(quat[0]))


def most_turn(ahead_s: float, hidden: bool, planar: bool) -> float:
    """Return the angle [rad] from the expected attitude at which one is doubted, after a time without
    poses [s].

    A flying body's attitude is always doubted after it was hidden: a flip may be as large as its turn
    meanwhile. Vehicles that drive turn faster, and no tilt confirms it afterwards.
    """
    if planar:
        return FLIP_RAD
    return 0.0 if hidden else max(HIDDEN_RAD, FLIP_RAD - NARROWS_RAD_S * ahead_s)
