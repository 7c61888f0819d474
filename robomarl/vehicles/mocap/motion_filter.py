"""Velocity from poses: a Kalman filter of the position and one of the attitude. No ROS, no clock.

Position, each axis alike: x = (p, v, a), white jerk of density q, so that with T since the last pose

    F = [1 T T^2/2; 0 1 T; 0 0 1]     Q = q [T^5/20 T^4/8 T^3/6; T^4/8 T^3/3 T^2/2; T^3/6 T^2/2 T]

(Bar-Shalom, Li, Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001, section 6.2.3). Its
steady state is the alpha-beta-gamma filter; poses that are missing or come late need no other gains here. Noise and
model are those of all three axes, and so is the covariance.

Attitude: the quaternion is predicted with the body rate and corrected by the rotation vector from prediction to pose
(the multiplicative filter of Markley, 2003); the rate's model is white angular acceleration:

    F = [1 T; 0 1]     Q = q [T^3/3 T^2/2; T^2/2 T]
"""

import math
from dataclasses import dataclass

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply, rotate
from robomarl.ros.io.messages import Estimate

FIRST_SPEED_M_S, FIRST_ACCEL_M_S2, FIRST_RATE_RAD_S = 3.0, 10.0, 10.0
"""Standard deviations before the first pose says otherwise."""


@dataclass(frozen=True)
class PoseNoise:
    """Noise that the filters assume."""

    pose_m: float = 0.0005
    """Standard deviation of a position, each axis."""
    pose_rad: float = 0.005
    """And of an attitude."""
    jerk_m_s2: float = 3.0
    """Root of the density of the jerk [m/s^2 / sqrt(s)]: how much the acceleration wanders in a second."""
    turn_rad_s: float = 5.0
    """Root of the density of the angular acceleration [rad/s / sqrt(s)]."""


class MotionFilter:
    """Memory of one body's motion."""

    def __init__(self, noise: PoseNoise, pos_m: np.ndarray, quat: np.ndarray) -> None:
        """Start at rest at the first pose, with large uncertainty.

        Args:
            noise: assumed noise.
            pos_m: [3] world.
            quat: [4] wxyz.
        """
        self._noise = noise
        self._move = np.stack([pos_m, np.zeros(3), np.zeros(3)])
        self._quat, self._rate = quat.copy(), np.zeros(3)
        self._moves = np.diag([noise.pose_m**2, FIRST_SPEED_M_S**2, FIRST_ACCEL_M_S2**2])
        self._turns = np.diag([noise.pose_rad**2, FIRST_RATE_RAD_S**2])
        self.surprise = 3.0
        """Normalized square of the last innovation of the position: 3 on the mean where noise is as assumed."""

    @property
    def estimate(self) -> Estimate:
        """Estimate at the last pose."""
        return Estimate(self._move[0].copy(), self._quat.copy(), self._move[1].copy(), self._rate.copy())

    @property
    def speed_error_m_s(self) -> float:
        """Standard deviation of the velocity, each axis."""
        return math.sqrt(self._moves[1, 1])

    def ahead(self, dt_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Position [3] and attitude [4] that are expected after `dt_s`."""
        pos = self._move[0] + dt_s * self._move[1] + dt_s * dt_s / 2 * self._move[2]
        return pos, turned(self._quat, self._rate * dt_s)

    def take(self, pos_m: np.ndarray, quat: np.ndarray, dt_s: float) -> None:
        """A pose that came `dt_s` after the last one."""
        self._take_position(pos_m, dt_s)
        self._take_attitude(quat, dt_s)

    def turn_back(self, turn: np.ndarray) -> None:
        """Take a turn [4] in the body out of the attitude: poses had it, the body has not."""
        self._quat, self._rate = quat_multiply(self._quat, quat_conjugate(turn)), rotate(turn, self._rate)

    def _take_position(self, pos_m: np.ndarray, dt_s: float) -> None:
        t, density = dt_s, self._noise.jerk_m_s2**2
        steps = np.array([[1.0, t, t * t / 2], [0.0, 1.0, t], [0.0, 0.0, 1.0]])
        wander = [[t**5 / 20, t**4 / 8, t**3 / 6], [t**4 / 8, t**3 / 3, t**2 / 2], [t**3 / 6, t**2 / 2, t]]
        expected = steps @ self._move
        spread = steps @ self._moves @ steps.T + density * np.array(wander)
        total = spread[0, 0] + self._noise.pose_m**2
        innovation = pos_m - expected[0]
        gain = spread[:, 0] / total
        self.surprise = float(innovation @ innovation) / total
        self._move = expected + np.outer(gain, innovation)
        self._moves = _corrected(spread, gain, self._noise.pose_m**2)

    def _take_attitude(self, quat: np.ndarray, dt_s: float) -> None:
        t, density = dt_s, self._noise.turn_rad_s**2
        steps = np.array([[1.0, t], [0.0, 1.0]])
        spread = steps @ self._turns @ steps.T + density * np.array([[t**3 / 3, t**2 / 2], [t**2 / 2, t]])
        expected = turned(self._quat, self._rate * t)
        innovation = rotation_vector(quat_multiply(quat_conjugate(expected), quat))
        gain = spread[:, 0] / (spread[0, 0] + self._noise.pose_rad**2)
        self._quat = turned(expected, gain[0] * innovation)
        self._rate = self._rate + gain[1] * innovation
        self._turns = _corrected(spread, gain, self._noise.pose_rad**2)


def turned(quat: np.ndarray, vector_rad: np.ndarray) -> np.ndarray:
    """[4] wxyz after a turn about a vector [3] [rad] in the body."""
    angle = float(np.linalg.norm(vector_rad))
    axis = vector_rad / angle if angle > 1e-12 else np.zeros(3)
    made = quat_multiply(quat, np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * axis]))
    return made / np.linalg.norm(made)


def rotation_vector(quat: np.ndarray) -> np.ndarray:
    """Return the rotation vector [3] [rad], along the shorter turn, of a [4] wxyz: the argument of `turned`."""
    w, xyz = (quat[0], quat[1:]) if quat[0] >= 0 else (-quat[0], -quat[1:])
    size = float(np.linalg.norm(xyz))
    return xyz * (2 * math.atan2(size, float(w)) / size) if size > 1e-12 else 2 * xyz


def _corrected(spread: np.ndarray, gain: np.ndarray, noise: float) -> np.ndarray:
    """Covariance after a measurement of the first state, in the form that keeps it symmetric (Joseph)."""
    left = np.eye(len(gain))
    left[:, 0] -= gain
    return left @ spread @ left.T + noise * np.outer(gain, gain)
