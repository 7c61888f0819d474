"""Monitor of assumption A10 of the certificate: strangers that are faster, or nearer, than they can be. No ROS here.

The course of a robot was taken because it left strangers room for all that they can do. So while A10 holds, a newer
sighting leaves it that room as well, but for the errors of both sightings. Less room means that a stranger broke its
bounds, that a sighting broke those of its errors, or that a stranger was not seen in time.
"""

import numpy as np

from robomarl.core.certificate.course import CommittedCourse, rests_at_s, state_at, with_axis
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.strangers import least_left
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.types import Array

ROUNDING = 1e-6
"""Differences of speeds [m/s] and lengths [m] below this are rounding."""


def strayed(
    figures: CertificateFigures, course: CommittedCourse, seen: Strangers, now_s: Array, own_error_m: float
) -> np.ndarray:
    """[..., S] bool: strangers whose sightings break A10 for sure.

    Args:
        figures: numbers of the robot's certificate; they have bounds of strangers.
        course: the course [...] that the robot has.
        seen: present sightings [..., S].
        now_s: [...] time at which they have their ages.
        own_error_m: bound of the error of the robot's own place, `position_error_m` of its vehicle file.
    """
    told = figures.front.strangers
    assert told is not None, "there are no strangers without bounds"
    at_s = now_s + figures.lead_s
    start = course._replace(**dict(zip(("pos_m", "vel_m_s"), state_at(course, at_s, np), strict=True)), at_s=at_s)
    rest_s = rests_at_s(course, np)
    # Each stranger is judged alone, as the only one of a robot.
    shape = seen.mask.shape
    lead = CommittedCourse(*(_for_each(np.asarray(part), np.ndim(at_s), shape[-1]) for part in start))
    alone = Strangers(*(np.expand_dims(part, len(shape)) for part in seen))
    left = least_left(figures, lead, with_axis(lead), alone, _for_each(now_s, np.ndim(at_s), shape[-1]), np)[..., 0]
    ahead_s = (rest_s - now_s)[..., None] + figures.settles_s + np.abs(seen.age_s)
    errors = 2 * (told.position_error_m + own_error_m) + 2 * told.velocity_error_m_s * ahead_s
    near = (rest_s > at_s)[..., None] & (left < -errors - ROUNDING)
    fast = np.linalg.norm(seen.vel_m_s, axis=-1) > told.speed_m_s + told.velocity_error_m_s + ROUNDING
    return seen.mask & (near | fast)


def _for_each(part: Array, axes: int, count: int) -> np.ndarray:
    """Return an array [...] or [..., 3] with one more axis [S] after the first `axes` ones."""
    wide = np.expand_dims(part, axes)
    return np.broadcast_to(wide, (*wide.shape[:axes], count, *wide.shape[axes + 1 :]))
