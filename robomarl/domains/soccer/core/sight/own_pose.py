"""The robot's own pose from odometry and pictures: an extended Kalman filter over place and heading.

State: x, y [m] and heading [rad] in the field frame of the robot's own team. A picture shows the field's centre in
the body frame, -R(heading)^T (x, y), and the heading modulo half a turn; the filter takes the nearer of the two.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.domains.soccer.core.sight.layout import FloatArray, SeenPose

DRIFT = (0.03, 0.02)
"""Standard deviation of odometry: of the place [m] after a way of 1 m, of the heading [rad] after 1 s at rest."""
SLIP_M, TURN_RAD = 0.02, 0.01
"""Standard deviation of the place after one second at rest, and of the heading after a turn of 1 rad. Each variance
grows with time, way and turn, so it does not depend on how often odometry comes."""
FAR = 16.0
"""Squared Mahalanobis distance [3 degrees of freedom] beyond which a picture's pose is refused."""
REFUSED = 6
"""Refused pictures in a row after which the filter believes the picture."""
ALIKE = 60.0
"""Factor on a picture's variance: errors of successive pictures are alike, and the filter takes them as new. With 3 the
stated error held the true one in 36 % of decisions (two standard deviations), and one decision in 40 was half a turn
off; with 60 in 93 %, none was, and the place is as near (recorded matches of `benchmarks.eyes.matches`)."""


class OwnPose(NamedTuple):
    """Belief about the robot's own pose."""

    mean: FloatArray
    """[3] x, y, heading."""
    covariance: FloatArray
    """[3, 3]"""
    refused: int = 0
    """Pictures in a row that the filter has not believed."""

    @property
    def position_error_m(self) -> float:
        """Standard deviation along the axis of the largest."""
        return math.sqrt(float(np.linalg.eigvalsh(self.covariance[:2, :2])[-1]))

    @property
    def heading_error_rad(self) -> float:
        """Standard deviation."""
        return math.sqrt(float(self.covariance[2, 2]))


def turned(heading: float) -> FloatArray:
    """[2, 2] rotation from the body frame to the frame in which the body has this heading."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array([[c, -s], [s, c]])


def wrapped(angle: float) -> float:
    """Return an angle in [-pi, pi)."""
    return (angle + math.pi) % math.tau - math.pi


def moved(pose: FloatArray, step: FloatArray) -> FloatArray:
    """Return a pose [3] after a motion [3] in its own frame."""
    return np.array([*(pose[:2] + turned(float(pose[2])) @ step[:2]), wrapped(float(pose[2] + step[2]))])


def between(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the motion [3], in the first pose's frame, from the first pose to the second."""
    away = turned(float(first[2])).T @ (second[:2] - first[:2])
    return np.array([*away, wrapped(float(second[2] - first[2]))])


def predict(pose: OwnPose, step: FloatArray, dt_s: float) -> OwnPose:
    """Return the belief after a motion [3] of the body, as odometry measured it over `dt_s`."""
    x, y = turned(float(pose.mean[2])) @ step[:2]
    jacobian = np.array([[1.0, 0.0, -y], [0.0, 1.0, x], [0.0, 0.0, 1.0]])
    place = DRIFT[0] ** 2 * math.hypot(x, y) + SLIP_M**2 * dt_s
    heading = DRIFT[1] ** 2 * dt_s + TURN_RAD**2 * abs(float(step[2]))
    noise = np.diag([place, place, heading])
    return pose._replace(mean=moved(pose.mean, step), covariance=jacobian @ pose.covariance @ jacobian.T + noise)


def correct(pose: OwnPose, since: FloatArray, seen: SeenPose) -> OwnPose:
    """Return the belief after a picture.

    Args:
        pose: belief now.
        since: [3] motion of the body since the picture, in the frame of the picture's pose.
        seen: what the picture shows.
    """
    back = between(since, np.zeros(3))
    then = moved(pose.mean, back)
    rotation = turned(float(then[2]))
    centre = -rotation.T @ then[:2]
    jacobian = np.zeros((3, 3))
    jacobian[:2, :2], jacobian[:2, 2], jacobian[2, 2] = -rotation.T, (centre[1], -centre[0]), 1.0
    half = (seen.half_turns_rad - then[2] + math.pi / 2) % math.pi - math.pi / 2
    miss = np.array([*(seen.centre_m - centre), half])
    noise = ALIKE * np.diag([seen.centre_error_m**2, seen.centre_error_m**2, seen.heading_error_rad**2])
    spread = jacobian @ pose.covariance @ jacobian.T + noise
    if float(miss @ np.linalg.solve(spread, miss)) > FAR:
        pose = pose._replace(refused=pose.refused + 1)
        return pose if pose.refused < REFUSED else _believed(pose, seen, since)
    gain = np.linalg.solve(spread, jacobian @ pose.covariance).T
    fixed = then + gain @ miss
    keep = np.eye(3) - gain @ jacobian
    covariance = keep @ pose.covariance @ keep.T + gain @ noise @ gain.T
    return OwnPose(moved(fixed, since), covariance, 0)


def _believed(pose: OwnPose, seen: SeenPose, since: FloatArray) -> OwnPose:
    """Return the picture's own pose, of the two the one whose heading is nearer."""
    half = (seen.half_turns_rad - pose.mean[2] + math.pi / 2) % math.pi - math.pi / 2
    heading = wrapped(float(pose.mean[2] + half))
    place = -turned(heading) @ seen.centre_m
    spread = ALIKE * np.diag([seen.centre_error_m**2, seen.centre_error_m**2, seen.heading_error_rad**2])
    return OwnPose(moved(np.array([*place, heading]), since), spread, 0)
