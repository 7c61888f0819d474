"""The rule for strangers, who keep to no rule: a robot is at rest before one can be there. Array-generic.

A stranger was seen at a place, some time ago. Since then it has got no farther than its largest speed allows, nor
farther from where it was going than its largest acceleration allows. A course is taken only if it stays away from all
that from when the robot begins to move until it stands. After that the stranger has to keep away. Newer sightings rule
out places and add none, so the old course stays good.
"""

from types import ModuleType
from typing import NamedTuple

from robomarl.core.certificate.course import CommittedCourse, places, rests_at_s
from robomarl.core.certificate.figures import CertificateFigures
from robomarl.core.certificate.rule import SPECK_M2
from robomarl.core.filter.model.strangers import Strangers
from robomarl.core.types import Array


class _Legs(NamedTuple):
    """Ways to go in pieces that are almost straight, [..., C, M] each."""

    place_m: Array
    """[..., C, M, 3] places of the reference."""
    at_s: Array
    """When it is there. The tracked point begins to move earlier and stands later than the reference."""


def least_left(
    f: CertificateFigures, start: CommittedCourse, ways: CommittedCourse, seen: Strangers, now_s: Array, xp: ModuleType
) -> Array:
    """[..., C] least distance [m] left between courses and where strangers may be; NaN where a sighting is none.

    Args:
        f: numbers of the vehicle.
        start: state of the reference [...] where the ways begin.
        ways: courses [..., C] after the first period.
        seen: sightings [..., S].
        now_s: [...] time at which they have their ages.
        xp: numpy or jax.numpy.
    """
    told = f.front.strangers
    assert told is not None, "there are no strangers without bounds"
    legs = _legs(f, start, ways, xp)
    since = (legs.at_s - now_s[..., None, None])[..., None, :] + xp.abs(seen.age_s)[..., None, :, None]
    flat = xp.asarray((1.0, 1.0, float(not f.front.planar)), start.pos_m.dtype)
    away = (legs.place_m[..., None, :, :] - seen.pos_m[..., None, :, None, :]) * flat
    gone = seen.vel_m_s[..., None, :, None, :] * flat * since[..., None]
    slow = _beyond(away, told.speed_m_s * since, xp)
    free = _beyond(away - gone, told.velocity_error_m_s * since + told.accel_m_s2 / 2 * since * since, xp)
    left = xp.maximum(slow, free).min(-1) - f.stranger_m
    return xp.where(seen.mask[..., None, :], left, xp.inf).min(-1, initial=xp.inf)


class Aged(NamedTuple):
    """Sightings by the names that the filter looks for, [..., S] each."""

    strangers_mask: Array
    strangers_pos_m: Array
    strangers_vel_m_s: Array
    strangers_age_s: Array


def later(f: CertificateFigures, seen: Strangers, by_s: Array, xp: ModuleType) -> Aged:
    """Sightings for rows of exact references, which know no delay: older by what passes before and after they move."""
    return Aged(*seen[:3], xp.abs(seen.age_s) + by_s[..., None] + f.settles_s)


def _legs(f: CertificateFigures, start: CommittedCourse, ways: CommittedCourse, xp: ModuleType) -> _Legs:
    """Places and times; a reference that moved before kept away as it did."""
    rest = rests_at_s(ways, xp)[..., None]
    share = xp.asarray([i / f.segments for i in range(f.segments + 1)], start.pos_m.dtype)
    times = ways.at_s[..., None] + (rest - ways.at_s[..., None]) * share
    path = places(ways, times, xp)
    none = path[..., :1, :] * 0.0
    first, at_s = start.pos_m[..., None, None, :] + none, start.at_s[..., None, None] + none[..., 0]
    place = xp.concatenate([first, first, path, path[..., -1:, :]], -2)
    return _Legs(place, xp.concatenate([at_s - f.settles_s, at_s, times, rest + f.settles_s], -1))


def _beyond(away: Array, reach: Array, xp: ModuleType) -> Array:
    """[..., M - 1] least distance on each leg from a ball that grows: along the direction of the leg's middle it is at
    its ends, because that part of the way is straight and the ball grows ever faster."""
    middle = away[..., 1:, :] + away[..., :-1, :]
    length = xp.sqrt((middle * middle).sum(-1) + SPECK_M2)
    ends = ((middle * part).sum(-1) / length for part in (away[..., :-1, :], away[..., 1:, :]))
    return xp.minimum(*(end - grown for end, grown in zip(ends, (reach[..., :-1], reach[..., 1:]), strict=True)))
