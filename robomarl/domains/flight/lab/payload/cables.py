"""Crossings of cables, and winding of their bundle; array-generic, one code for all engines.

Cables have no thickness and pass through each other in every engine, so tangles of real cables
have to be detected here. A slack cable counts as the straight line between its ends.
"""

import itertools
import math

from robomarl.core.geometry import namespace
from robomarl.core.types import Array
from robomarl.core.vectors import Vec3, cross, dot, to_body, to_world
from robomarl.domains.flight.lab.payload.state import CargoParameters, Rigid, spread
from robomarl.domains.flight.lab.quadrotor import RigidVehicle

Segments = tuple[Vec3, Vec3]
"""Ends of the cables at the vehicles and at the load, world, [..., N] each component."""


def segments(body: RigidVehicle, rigid: Rigid, cargo: CargoParameters) -> Segments:
    """The cables as straight lines from the vehicles' centres to their points on the load."""
    arm = tuple(p - c for p, c in zip(cargo.point_m, spread(cargo.com_m), strict=True))
    ends = to_world(spread(rigid.quat), arm)
    return body.pos, tuple(p + e for p, e in zip(spread(rigid.pos), ends, strict=True))


def crossed(before: Segments, after: Segments) -> Array:
    """Return True [...] if two cables have passed through each other between two decisions.

    The ends of two lines span a tetrahedron; its signed volume changes sign when one line passes the
    second. That is a crossing if the points where the lines come closest then lie within both cables.
    """
    count = after[0][0].shape[-1]
    found = namespace(*after[0]).zeros(after[0][0].shape[:-1], bool)
    for i, j in itertools.combinations(range(count), 2):
        old, new = (_pair(ends, i, j) for ends in (before, after))
        found = found | ((_volume(*old) * _volume(*new) < 0) & _within(*new))
    return found


def _pair(ends: Segments, i: int, j: int) -> tuple[Vec3, Vec3, Vec3]:
    """Directions of cables i and j, and the way from the start of i to the start of j."""
    start, end = ends
    first = tuple(e[..., i] - s[..., i] for s, e in zip(start, end, strict=True))
    second = tuple(e[..., j] - s[..., j] for s, e in zip(start, end, strict=True))
    return first, second, tuple(s[..., j] - s[..., i] for s in start)


def _volume(first: Vec3, second: Vec3, between: Vec3) -> Array:
    return dot(cross(first, second), between)


def _within(first: Vec3, second: Vec3, between: Vec3) -> Array:
    """Return True if the lines come closest at points inside both segments (Ericson, 2005, 5.1.9)."""
    a, b, c = dot(first, first), dot(first, second), dot(second, second)
    d, e = dot(first, between), dot(second, between)
    room = a * c - b * b
    s, t = c * d - b * e, b * d - a * e
    return (s >= 0) & (s <= room) & (t >= 0) & (t <= room)


def azimuth(body: RigidVehicle, rigid: Rigid) -> Array:
    """[..., N] direction of each vehicle from the load's centre of mass, about the load's z axis [rad]."""
    away = tuple(p - r for p, r in zip(body.pos, spread(rigid.pos), strict=True))
    x, y, _ = to_body(spread(rigid.quat), away)
    return namespace(x).arctan2(y, x)


def turned(before: Array, after: Array) -> Array:
    """Smallest angle from one direction to another [rad], within plus and minus pi."""
    change = after - before
    return change - 2 * math.pi * namespace(change).round(change / (2 * math.pi))
