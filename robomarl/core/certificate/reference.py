"""The reference: which ways it may go in a period, and the point that the robot tracks. Array-generic."""

from types import ModuleType
from typing import NamedTuple

from robomarl.core.certificate.course import (
    SPEED_FLOOR_M_S,
    CommittedCourse,
    places,
    rests_at_s,
    speed_of,
    state_at,
    stop_of,
)
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.types import Array

SHARES = (0.0, 0.25, 0.5, 0.75)
"""Fractions of the way from the wanted acceleration to the brake, of each way to go; in place of 1, the old course."""
LAST_DIGITS_S = 1e-12
"""Rounding of times [s] that would add up from decision to decision."""
ROUNDING = 1e-6
"""Differences of lengths [m], speeds [m/s] and times [s] below this are rounding."""


class Ways(NamedTuple):
    """Ways that a reference may go in the next period, [..., C] each."""

    course: CommittedCourse
    """The course after that period."""
    accel_m_s2: Array
    """[..., C, 3] acceleration in that period."""


def brake_along(f: CertificateFigures, vel: Array, xp: ModuleType) -> Array:
    """[...] deceleration along velocities [..., 3] that leaves each axis within its share of the input box."""
    speed = xp.sqrt((vel * vel).sum(-1) + SPEED_FLOOR_M_S**2)
    found = speed * 0.0 + max(f.accel_m_s2)
    for i, most in enumerate(f.accel_m_s2):
        if most > 0:
            found = xp.minimum(found, most * speed / (xp.abs(vel[..., i]) + SPEED_FLOOR_M_S**2))
    return found


def ways_of(f: CertificateFigures, start: CommittedCourse, wanted: Array, xp: ModuleType) -> Ways:
    """The wanted acceleration [..., 3] at the beginning of a course, and the same bent towards the brake."""
    pos, vel, at_s, t = start.pos_m, start.vel_m_s, start.at_s, f.period_s
    speed = xp.sqrt((vel * vel).sum(-1) + SPEED_FLOOR_M_S**2)
    brake = -vel * xp.minimum(brake_along(f, vel, xp) / speed, 1 / t)[..., None]
    accel = xp.stack([(1 - share) * wanted + share * brake for share in SHARES], -2)
    after = vel[..., None, :] + accel * t
    place = pos[..., None, :] + vel[..., None, :] * t + accel * (t * t / 2)
    none = after[..., 0] * 0.0
    room = none + start.room_m[..., None]
    return Ways(CommittedCourse(place, after, none + (at_s + t)[..., None], brake_along(f, after, xp), room), accel)


def times_of(f: CertificateFigures, at_s: Array, xp: ModuleType) -> Array:
    """[..., M] times at which courses are compared: `at_s`, one period later, then evenly."""
    step = (f.span_s - f.period_s) / f.segments
    after = [0.0, *(f.period_s + step * i for i in range(f.segments + 1))]
    return at_s[..., None] + xp.asarray(after, at_s.dtype)


def path_of(start: Array, course: CommittedCourse, times_s: Array, xp: ModuleType) -> Array:
    """[..., C, M, 3] places at times [..., M] of references that start at a place [..., 3] and reach their courses
    [..., C] one period later, world."""
    none = course.at_s[..., None] * 0.0
    later = places(course, times_s[..., None, 1:] + none, xp)
    return xp.concatenate([start[..., None, None, :] + none[..., None], later], -2)


def are_allowed(
    f: CertificateFigures, ways: CommittedCourse, old: CommittedCourse, start: CommittedCourse, xp: ModuleType
) -> Array:
    """[..., C] bool: courses come to rest in the room and in time, and keep the speed limit; what the old course does
    not hold they do not make worse."""
    before = speed_of(start, xp)
    # What is allowed on top of the old course would add up from decision to decision: nothing is.
    slow = speed_of(ways, xp) <= xp.maximum(before, f.speed_m_s + ROUNDING)[..., None]
    left = xp.maximum(rests_at_s(old, xp)[..., None] - ways.at_s, f.stop_s + ROUNDING)
    soon = speed_of(ways, xp) / ways.brake_m_s2 <= left + LAST_DIGITS_S
    outside = beyond(f, stop_of(ways, xp), xp) <= xp.maximum(beyond(f, stop_of(old, xp), xp), ROUNDING)[..., None, :]
    return slow & soon & outside.all(-1)


def beyond(f: CertificateFigures, place: Array, xp: ModuleType) -> Array:
    """[..., 3] distance of a place outside the room along each axis; 0 inside."""
    low, high = (xp.asarray(side, place.dtype) for side in (f.low_m, f.high_m))
    return xp.maximum(xp.maximum(low - place, place - high), 0.0)


def smoothed(f: CertificateFigures, state: tuple[Array, Array], accels: Array) -> tuple[Array, Array]:
    """Mean of the reference's last states: position and velocity [..., 3] of the tracked point.

    The mean of double integrators with different delays is a double integrator of the mean command.

    Args:
        f: numbers of the vehicle.
        state: state of the reference now.
        accels: [..., m, 3] accelerations that led there, oldest first.
    """
    (pos, vel), t = state, f.period_s
    sum_pos, sum_vel = pos, vel
    for back in range(1, f.smooth_count):
        accel = accels[..., -back, :]
        pos, vel = pos - vel * t + accel * (t * t / 2), vel - accel * t
        sum_pos, sum_vel = sum_pos + pos, sum_vel + vel
    return sum_pos / f.smooth_count, sum_vel / f.smooth_count


def caught_up(
    f: CertificateFigures, course: CommittedCourse, history: tuple[Array, Array], at_s: Array, xp: ModuleType
) -> Array:
    """[..., m, 3] accelerations of the last periods before `at_s`, where decisions were missed those of the course.

    `history`: the accelerations [..., m, 3], and the time [...] that they reach to.
    """
    accels, until_s = history
    for back in range(f.smooth_count, 0, -1):
        begin = at_s - back * f.period_s
        speeds = [state_at(course, begin + later, xp)[1] for later in (0.0, f.period_s)]
        missed = begin > until_s - f.period_s / 2
        pushed = xp.concatenate([accels[..., 1:, :], ((speeds[1] - speeds[0]) / f.period_s)[..., None, :]], -2)
        accels = xp.where(missed[..., None, None], pushed, accels)
    return accels
