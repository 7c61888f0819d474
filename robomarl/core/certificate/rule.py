"""The rule of the certificate: when a new course keeps clear of a teammate, whatever that one does.

Both robots of a pair hold one pair of old courses, the anchors (A of the robot, B of its teammate),
with |A - B| >= D at all times. A robot takes a new course z only if at all times

    |z - B| - |z - A| >= D.

The function f(z) = |z - B| - |z - A| changes by at most 2 |z - z'|. The robot keeps f >= D and its
teammate f <= -D, so their references keep |z - z'| >= D, whenever each of them changes its course,
and however many of these changes the other one never hears of. Keeping the old course is always
allowed. Lengths are in the metric of the downwash: z is divided by its ratio.
"""

from types import ModuleType
from typing import NamedTuple

from robomarl.core.certificate.course import CommittedCourse, places, rests_at_s
from robomarl.core.types import Array

SPECK_M2 = 1e-18


class Pair(NamedTuple):
    """A pair of anchors."""

    mine: CommittedCourse
    """[..., K] the robot's own."""
    theirs: CommittedCourse
    """[..., K] its teammate's."""


class Watched(NamedTuple):
    """Anchors over the times at which courses are compared."""

    mine: Array
    """[..., K, M, 3] places of the robot's own anchors, in the metric of the downwash."""
    theirs: Array
    """[..., K, M, 3] places of its teammates' anchors, in that metric."""
    kept_m: Array
    """[..., K] distance that f has to keep, what courses bend between two times counted in; infinite where an anchor
    still moves at the last time."""


def watched(pair: Pair, times_s: Array, bend_m: float, squash: Array, xp: ModuleType) -> Watched:
    """Anchors [..., K] at times [..., M]; `bend_m` is how far all three courses may be from their chords together."""
    times, end = times_s[..., None, :], times_s[..., None, -1]
    rest = (rests_at_s(pair.mine, xp) <= end) & (rests_at_s(pair.theirs, xp) <= end)
    kept = pair.mine.room_m + pair.theirs.room_m + bend_m
    mine, theirs = (places(course, times, xp) * squash for course in pair)
    return Watched(mine, theirs, xp.where(rest, kept, xp.inf))


def clearance(path: Array, seen: Watched, xp: ModuleType) -> Array:
    """[..., C, K] least f - D of paths over all times [m]; at least 0: the path keeps clear of the teammate.

    Between two times all three courses are near their chords. The distance to the own anchor is convex
    there and so below its chord; that to the teammate's anchor is above its component along any
    direction, here that of the middle.

    Args:
        path: [..., C, M, 3] places of the reference on C ways to go, in the metric of the downwash.
        seen: anchors [..., K].
        xp: numpy or jax.numpy.
    """
    away = path[..., :, None, :, :] - seen.theirs[..., None, :, :, :]
    moved = path[..., :, None, :, :] - seen.mine[..., None, :, :, :]
    middle = away[..., 1:, :] + away[..., :-1, :]
    length = xp.sqrt((middle * middle).sum(-1) + SPECK_M2)
    changed = xp.sqrt((moved * moved).sum(-1) + SPECK_M2)
    first = (middle * away[..., :-1, :]).sum(-1) / length - changed[..., :-1]
    last = (middle * away[..., 1:, :]).sum(-1) / length - changed[..., 1:]
    return xp.minimum(first, last).min(-1) - seen.kept_m[..., None, :]


def parts_from(start: CommittedCourse, ways: CommittedCourse, rests_m: Array, squash: Array, xp: ModuleType) -> Array:
    """[..., C, K] bool: on a way to go the reference comes no nearer to a teammate that rests, at any time.

    With n from the teammate to the start, and the velocities v and w before and after the first
    period, in between of which it is linear: n.v, n.w and v.w at least 0 make the product of offset
    and velocity at least 0 from then on, braking along w included.

    Args:
        start: state of the reference [...] where the ways begin.
        ways: courses after the first period [..., C].
        rests_m: [..., K, 3] places of the teammates, world.
        squash: factors of the metric.
        xp: numpy or jax.numpy.
    """
    away = ((start.pos_m[..., None, :] - rests_m) * squash)[..., None, :, :]
    before, after = (start.vel_m_s * squash)[..., None, None, :], (ways.vel_m_s * squash)[..., :, None, :]
    products = (away * before).sum(-1), (away * after).sum(-1), (before * after).sum(-1)
    return (products[0] >= 0) & (products[1] >= 0) & (products[2] >= 0)
