"""Courses: where a reference is at a time, and how it brakes to rest from there. Array-generic.

World frame, SI units; times count from one common start.
"""

from types import ModuleType
from typing import NamedTuple

from robomarl.core.types import Array

SPEED_FLOOR_M_S = 1e-6
"""Slower references count as being at rest: they have no direction to brake in."""


class CommittedCourse(NamedTuple):
    """A committed course: a state at a time, from which the reference brakes along its velocity and then rests."""

    pos_m: Array
    """[..., 3] position at that time, world."""
    vel_m_s: Array
    """[..., 3] velocity at that time, world."""
    at_s: Array
    """[...] the time."""
    brake_m_s2: Array
    """[...] deceleration along the velocity."""
    room_m: Array
    """[...] half of the distance that two such references keep: body radius and tube, in the metric of the downwash."""


def speed_of(course: CommittedCourse, xp: ModuleType) -> Array:
    """[...] speed of the reference at the time of its course [m/s]."""
    return xp.sqrt((course.vel_m_s * course.vel_m_s).sum(-1) + SPEED_FLOOR_M_S**2)


def rests_at_s(course: CommittedCourse, xp: ModuleType) -> Array:
    """[...] time from which the reference rests."""
    return course.at_s + speed_of(course, xp) / course.brake_m_s2


def places(course: CommittedCourse, times_s: Array, xp: ModuleType) -> Array:
    """[..., M, 3] where the reference is at times [..., M]; before the course begins, on the line that leads to it."""
    speed, after = speed_of(course, xp)[..., None], times_s - course.at_s[..., None]
    braked = xp.minimum(xp.maximum(after, 0.0), speed / course.brake_m_s2[..., None])
    way = braked - course.brake_m_s2[..., None] * braked * braked / (2 * speed) + xp.minimum(after, 0.0)
    return course.pos_m[..., None, :] + course.vel_m_s[..., None, :] * way[..., None]


def state_at(course: CommittedCourse, time_s: Array, xp: ModuleType) -> tuple[Array, Array]:
    """Position and velocity [..., 3] of the reference at times [...]."""
    speed, after = speed_of(course, xp), time_s - course.at_s
    left = xp.maximum(1 - course.brake_m_s2 * xp.maximum(after, 0.0) / speed, 0.0)
    return places(course, time_s[..., None], xp)[..., 0, :], course.vel_m_s * left[..., None]


def stop_of(course: CommittedCourse, xp: ModuleType) -> Array:
    """[..., 3] where the reference comes to rest."""
    way = speed_of(course, xp) / (2 * course.brake_m_s2)
    return course.pos_m + course.vel_m_s * way[..., None]


def resting(pos_m: Array, at_s: Array, figures: tuple[float, float]) -> CommittedCourse:
    """The course of a reference that rests at positions [..., 3]; `figures`: its brake [m/s^2] and its room [m]."""
    none = pos_m[..., 0] * 0.0
    return CommittedCourse(pos_m, pos_m * 0.0, none + at_s, none + figures[0], none + figures[1])


def with_axis(course: CommittedCourse) -> CommittedCourse:
    """The course with one more axis, of length 1, after its own."""
    return CommittedCourse(*(part[..., None, :] for part in course[:2]), *(part[..., None] for part in course[2:]))


def chosen(where: Array, yes: CommittedCourse, no: CommittedCourse, xp: ModuleType) -> CommittedCourse:
    """The course `yes` where the condition holds, else `no`."""
    vectors = (xp.where(where[..., None], a, b) for a, b in zip(yes[:2], no[:2], strict=True))
    return CommittedCourse(*vectors, *(xp.where(where, a, b) for a, b in zip(yes[2:], no[2:], strict=True)))
