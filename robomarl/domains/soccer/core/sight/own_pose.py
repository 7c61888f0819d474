"""The robot's own pose from odometry and pictures: an extended Kalman filter over place and heading.

State: x, y [m] and heading [rad] in the field frame of the robot's own team. A picture shows the field's centre in
the body frame, -R(heading)^T (x, y), and the heading modulo half a turn; the filter takes the nearer of the two.
"""

import math
from typing import NamedTuple

import numpy as np

from robomarl.domains.soccer.core.sight.layout import FloatArray, SeenPose
from robomarl.domains.soccer.core.sight.spread import Place, largest

DRIFT = (0.03, 0.02)
"""Standard deviation of odometry: of the place [m] after a way of 1 m, of the heading [rad] after 1 s at rest."""
SLIP_M, TURN_RAD = 0.02, 0.01
"""Standard deviation of the place after one second at rest, and of the heading after a turn of 1 rad. Each variance
grows with time, way and turn, so it does not depend on how often odometry comes."""
FAR = 16.0
"""Squared Mahalanobis distance [3 degrees of freedom] beyond which a picture's pose is refused."""
REFUSED = 6
"""Refused pictures in a row after which the filter believes the picture."""
ALIKE = 30.0
"""Factor on a picture's variance: errors of successive pictures are alike, and the filter takes them as new. The stated
error, two standard deviations, holds the true one in 99.4 % of the decisions of recorded matches; in all of them with
60, which an earlier network needed for 93 %; in 36 % with 3, and then one belief in 40 was half a turn off."""

SIGMAS = 2.0
"""Standard deviations in a stated error of the own pose."""
MAX_HEADING_RAD = 0.2
"""Largest stated error of the own heading with which a robot moves."""
SEEING_RAD = 0.1
"""Largest stated error of the own heading with which a robot tells the teammates that it sees."""

Pose = tuple[float, float, float]
"""x, y [m] and heading [rad]; or a motion in the frame of the pose before it."""


class PoseSpread(NamedTuple):
    """Covariance [3, 3] of a pose, which is symmetric: h is the heading."""

    xx: float
    xy: float
    xh: float
    yy: float
    yh: float
    hh: float


class OwnPose(NamedTuple):
    """Belief about the robot's own pose."""

    mean: Pose
    covariance: PoseSpread
    refused: int = 0
    """Pictures in a row that the filter has not believed."""

    @property
    def position_error_m(self) -> float:
        """Standard deviation along the axis of the largest."""
        return math.sqrt(largest((self.covariance.xx, self.covariance.xy, self.covariance.yy)))

    @property
    def heading_error_rad(self) -> float:
        """Standard deviation."""
        return math.sqrt(self.covariance.hh)


def turned(heading: float) -> FloatArray:
    """[2, 2] rotation from the body frame to the frame in which the body has this heading."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array([[c, -s], [s, c]])


def rotated(heading: float, x: float, y: float) -> Place:
    """Return a vector of the body frame in the frame in which the body has this heading."""
    c, s = math.cos(heading), math.sin(heading)
    return c * x - s * y, s * x + c * y


def wrapped(angle: float) -> float:
    """Return an angle in [-pi, pi)."""
    return (angle + math.pi) % math.tau - math.pi


def moved(pose: Pose, step: Pose) -> Pose:
    """Return a pose after a motion in its own frame."""
    x, y = rotated(pose[2], step[0], step[1])
    return pose[0] + x, pose[1] + y, wrapped(pose[2] + step[2])


def between(first: Pose, second: Pose) -> Pose:
    """Return the motion, in the first pose's frame, from the first pose to the second."""
    x, y = rotated(-first[2], second[0] - first[0], second[1] - first[1])
    return x, y, wrapped(second[2] - first[2])


def predict(pose: OwnPose, step: Pose, dt_s: float) -> OwnPose:
    """Return the belief after a motion of the body, as odometry measured it over `dt_s`.

    The covariance is J P J^T and the noise of odometry, with J = [[1, 0, -y], [0, 1, x], [0, 0, 1]] for a way (x, y) in
    the field frame.
    """
    x, y = rotated(pose.mean[2], step[0], step[1])
    place = DRIFT[0] ** 2 * math.hypot(x, y) + SLIP_M**2 * dt_s
    heading = DRIFT[1] ** 2 * dt_s + TURN_RAD**2 * abs(step[2])
    p = pose.covariance
    covariance = PoseSpread(
        xx=p.xx - 2 * y * p.xh + y * y * p.hh + place,
        xy=p.xy + x * p.xh - y * p.yh - x * y * p.hh,
        xh=p.xh - y * p.hh,
        yy=p.yy + 2 * x * p.yh + x * x * p.hh + place,
        yh=p.yh + x * p.hh,
        hh=p.hh + heading,
    )
    return OwnPose((pose.mean[0] + x, pose.mean[1] + y, wrapped(pose.mean[2] + step[2])), covariance, pose.refused)


def correct(pose: OwnPose, since: Pose, seen: SeenPose) -> OwnPose:
    """Return the belief after a picture.

    A picture shows all three numbers of the pose, so it is put into the field frame: with the covariance P of the
    belief and R of the picture the gain is P (P + R)^-1, and the covariance becomes P (P + R)^-1 R.

    Args:
        pose: belief now.
        since: motion of the body since the picture, in the frame of the picture's pose.
        seen: what the picture shows.
    """
    then = moved(pose.mean, between(since, (0.0, 0.0, 0.0)))
    miss, noise = _shown(then, seen)
    p = pose.covariance
    inverted = _inverse(PoseSpread(*(ours + theirs for ours, theirs in zip(p, noise, strict=True))))
    pull = _times(inverted, miss)
    if miss[0] * pull[0] + miss[1] * pull[1] + miss[2] * pull[2] > FAR:
        pose = pose._replace(refused=pose.refused + 1)
        return pose if pose.refused < REFUSED else _believed(pose, seen, since)
    x, y, heading = _times(p, pull)
    return OwnPose(moved((then[0] + x, then[1] + y, then[2] + heading), since), _both(p, inverted, noise), 0)


def _shown(then: Pose, seen: SeenPose) -> tuple[Pose, PoseSpread]:
    """Return by how much a picture's pose differs from that of the belief then, and the covariance of the difference.

    The place is -R(heading) centre: an error of the heading turns it about the field's centre.
    """
    turn = _half(seen, then[2])
    x, y = rotated(then[2], *seen.centre_m)
    place, heading = ALIKE * seen.centre_error_m**2, ALIKE * seen.heading_error_rad**2
    noise = PoseSpread(
        xx=place + heading * then[1] ** 2,
        xy=-heading * then[0] * then[1],
        xh=-heading * then[1],
        yy=place + heading * then[0] ** 2,
        yh=heading * then[0],
        hh=heading,
    )
    return (-x - then[0] - then[1] * turn, -y - then[1] + then[0] * turn, turn), noise


def _half(seen: SeenPose, heading: float) -> float:
    """Return the turn from a heading to the nearer of the picture's two."""
    return (seen.half_turns_rad - heading + math.pi / 2) % math.pi - math.pi / 2


def _times(p: PoseSpread, v: Pose) -> Pose:
    """Return matrix times vector."""
    x, y, h = v
    return p.xx * x + p.xy * y + p.xh * h, p.xy * x + p.yy * y + p.yh * h, p.xh * x + p.yh * y + p.hh * h


def _inverse(p: PoseSpread) -> PoseSpread:
    """Return the inverse, by cofactors."""
    xx, xy, xh = p.yy * p.hh - p.yh * p.yh, p.xh * p.yh - p.xy * p.hh, p.xy * p.yh - p.xh * p.yy
    yy, yh, hh = p.xx * p.hh - p.xh * p.xh, p.xy * p.xh - p.xx * p.yh, p.xx * p.yy - p.xy * p.xy
    scale = 1 / (p.xx * xx + p.xy * xy + p.xh * xh)
    return PoseSpread(xx * scale, xy * scale, xh * scale, yy * scale, yh * scale, hh * scale)


def _both(p: PoseSpread, inverted: PoseSpread, noise: PoseSpread) -> PoseSpread:
    """Return P (P + R)^-1 R of three symmetric matrices, which is symmetric, too."""
    columns = (noise.xx, noise.xy, noise.xh), (noise.xy, noise.yy, noise.yh), (noise.xh, noise.yh, noise.hh)
    (xx, _, _), (xy, yy, _), (xh, yh, hh) = (_times(p, _times(inverted, column)) for column in columns)
    return PoseSpread(xx, xy, xh, yy, yh, hh)


def _believed(pose: OwnPose, seen: SeenPose, since: Pose) -> OwnPose:
    """Return the picture's own pose, of the two the one whose heading is nearer."""
    heading = wrapped(pose.mean[2] + _half(seen, pose.mean[2]))
    x, y = rotated(heading, *seen.centre_m)
    place = ALIKE * seen.centre_error_m**2
    spread = PoseSpread(place, 0.0, 0.0, place, 0.0, ALIKE * seen.heading_error_rad**2)
    return OwnPose(moved((-x, -y, heading), since), spread, 0)
