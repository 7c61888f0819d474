"""Closed-form gradients of the barriers h, with respect to the own predicted position and velocity.

The filter itself evaluates h one period ahead and needs no gradient; who learns gains, linearizes a row or plans
along it does. Derivatives follow `barriers` term by term; where a maximum or a root switches, they are those of
the side that holds. Components and `xp` are those of `motion`. Our own line (`tail`) has none here.
"""

from typing import NamedTuple

from robomarl.safety.barriers import SPECK
from robomarl.safety.constants import Constants
from robomarl.safety.kinds import Kind, Shape
from robomarl.safety.motion import TINY, Library, Motion, Predicted, Vec3, direction
from robomarl.safety.pairs import TEXTBOOK_SHARE, Body
from robomarl.safety.separation import apart, scaled
from robomarl.types import Array

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Slope(NamedTuple):
    """Gradient of a barrier h [m/s]."""

    pos: Vec3
    """By the own position [1/s]."""
    vel: Vec3
    """By the own velocity [1]."""


class _Normal(NamedTuple):
    """Distance d in the scaled space, world normal S n, its length, and their change along one axis."""

    d: Array
    n: Vec3
    lean: Array
    change_d: Array
    change_n: Vec3
    change_lean: Array


def pair(c: Constants, kind: Kind, own: Predicted, body: Body, xp: Library) -> Slope:
    """Of `pairs.pair`, for the robot's centre."""
    slopes = [_along(c, kind, own, body, axis, xp) for axis in AXES]
    normal = _normal(kind, own.motion, body, AXES[0], xp)
    return Slope((slopes[0], slopes[1], slopes[2]), normal.n)


def _along(c: Constants, kind: Kind, own: Predicted, body: Body, axis: Vec3, xp: Library) -> Array:
    """Change of h with the own position along one axis."""
    normal, (vx, vy, vz) = _normal(kind, own.motion, body, axis, xp), own.motion.vel
    w, (nx, ny, nz), change_n = body.motion.vel, normal.n, normal.change_n
    wait = xp.maximum(body.wait_s, 0.0)
    rx, ry, rz = kind.reach_m_s2
    reach = xp.abs(nx) * rx + xp.abs(ny) * ry + xp.abs(nz) * rz
    change_reach = sum(
        xp.where(n > 0, 1.0, -1.0) * r * d for n, r, d in zip(normal.n, (rx, ry, rz), change_n, strict=True)
    )
    toward, change_toward = nx * w[0] + ny * w[1] + nz * w[2], _dot(change_n, w)
    room = kind.speed_m_s * normal.lean - toward
    change_room = xp.where(room > 0, kind.speed_m_s * normal.change_lean - change_toward, 0.0)
    room = xp.maximum(room, 0.0)
    doubt = kind.error_m_s + kind.drift_m_s2 * body.since_s
    fast = toward + doubt * normal.lean + xp.minimum(reach * wait, room)
    change_fast = change_toward + doubt * normal.change_lean
    change_fast = change_fast + xp.where(reach * wait < room, change_reach * wait, change_room)
    error = own.error_m + kind.error_m + (kind.error_m_s + kind.drift_m_s2 / 2 * body.since_s) * body.since_s
    if c.look_ahead_m and kind.yields:
        fast, error = fast + body.blind * c.blind_m_s * normal.lean, error + body.blind * c.look_ahead_m
        change_fast = change_fast + body.blind * c.blind_m_s * normal.change_lean
    change_fast, fast = xp.where(fast > 0, change_fast, 0.0), xp.maximum(fast, 0.0)
    brake, change_brake = c.brake_m_s2 * normal.lean, c.brake_m_s2 * normal.change_lean
    way = reach * wait / 2
    taken = kind.separation_m + error * normal.lean + xp.minimum(way, room) * wait
    change = error * normal.change_lean + xp.where(way < room, change_reach * wait / 2, change_room) * wait
    if kind.yields:
        taken = taken + fast * fast / (2 * brake)
        change = change + (fast * change_fast - fast * fast * change_brake / (2 * brake)) / brake
    clearance = (normal.d - taken, normal.change_d - change)
    allowed = _allowed(kind, clearance, (fast, change_fast), (brake, change_brake), xp)
    return allowed + _dot(change_n, (vx, vy, vz)) - own.error_m_s * normal.change_lean


Pair = tuple[Array, Array]
"""A quantity and its change."""


def _allowed(kind: Kind, clearance: Pair, fast: Pair, brake: Pair, xp: Library) -> Array:
    """Change of `barriers._allowed`."""
    if kind.yields:
        return _braking_speed(kind.slope_per_s, clearance, brake, xp)
    b, change_b = brake[0] * kind.brake_share, brake[1] * kind.brake_share
    lost, change_lost = fast[0] * kind.lost_share, fast[1] * kind.lost_share
    x, change = clearance
    if not kind.evade:
        x = x + lost * lost / (2 * b)
        change = change + (lost * change_lost - lost * lost * change_b / (2 * b)) / b
    return _braking_speed(kind.slope_per_s, (x, change), (b, change_b), xp) - change_lost


def _braking_speed(k: float, clearance: Pair, brake: Pair, xp: Library) -> Array:
    """Change of `barriers.braking_speed`: (a dx + x da - a da / k^2) / s on the root, k dx on the line."""
    (x, change), (a, change_a) = clearance, brake
    knee = a / k
    root = xp.sqrt(xp.maximum(2 * a * x - knee * knee, 1e-9))
    line = xp.where(x > 0, k * change, 0.0)
    return xp.where(x * k < knee, line, (a * change + x * change_a - knee * change_a / k) / root)


def pair_textbook(c: Constants, kind: Kind, own: Motion, body: Body, xp: Library) -> Slope:
    """Of `pairs.pair_textbook`, for the robot's centre."""
    (vx, vy, vz), (wx, wy, wz) = own.vel, body.motion.vel
    velocity, brake = (vx - wx, vy - wy, vz - wz), c.brake_m_s2 * (1 / TEXTBOOK_SHARE if kind.yields else 1)
    slopes, normal = [], _normal(kind, own, body, AXES[0], xp)
    for axis in AXES:
        normal = _normal(kind, own, body, axis, xp)
        gap = xp.maximum(normal.d - kind.separation_m, 1e-9)
        root = xp.sqrt(2 * brake * normal.lean * gap)
        open_gap = xp.where(normal.d - kind.separation_m > 1e-9, normal.change_d, 0.0)
        slopes.append(
            brake * (normal.lean * open_gap + normal.change_lean * gap) / root + _dot(normal.change_n, velocity)
        )
    return Slope((slopes[0], slopes[1], slopes[2]), normal.n)


def wall(c: Constants, own: Predicted, gap_m: Array, xp: Library) -> Pair:
    """Of `barriers.wall`: by the distance to the plane [1/s], and by the speed towards it."""
    one = gap_m * 0.0 + 1.0
    return _braking_speed(c.slope_per_s, (gap_m - own.error_m, one), (c.brake_m_s2 * one, one * 0.0), xp), -one


def speed_limit(own: Predicted, xp: Library) -> Slope:
    """Of `barriers.speed_limit`."""
    _, x, y, z = direction(own.motion.vel, xp)
    return Slope((x * 0.0, x * 0.0, x * 0.0), (-x, -y, -z))


def _normal(kind: Kind, own: Motion, body: Body, axis: Vec3, xp: Library) -> _Normal:
    (px, py, pz), (qx, qy, qz), (wx, wy, wz), wait = own.pos, *body.motion, body.wait_s
    offset = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * kind.squash
    shape = scaled(body.shape, kind.squash)
    r = apart(offset, None, shape, xp)
    moved = _moved(offset, shape, (axis[0], axis[1], axis[2] * kind.squash), xp)
    d = xp.sqrt(_dot(r, r) + TINY)
    n = tuple(x / d for x in r)
    change_d = _dot(n, moved)
    turn = [(m - x * change_d) / d for m, x in zip(moved, n, strict=True)]
    normal, change_n = (n[0], n[1], n[2] * kind.squash), (turn[0], turn[1], turn[2] * kind.squash)
    lean = xp.sqrt(_dot(normal, normal) + SPECK)
    return _Normal(d, normal, lean, change_d, change_n, _dot(normal, change_n) / lean)


def _moved(offset: Vec3, shape: Shape, step: Vec3, xp: Library) -> Vec3:
    """How the vector from the nearest point changes: not along a line or a face that the point slides on."""
    if shape.box is not None:
        outside = ((o < 0) | (o > size) for o, size in zip(offset, shape.box, strict=True))
        return tuple(xp.where(out, s + o * 0.0, 0.0) for out, s, o in zip(outside, step, offset, strict=True))
    if shape.line is not None:
        length = _dot(shape.line, shape.line) + TINY
        share = _dot(offset, shape.line) / length
        slide = xp.where((share > 0) & (share < 1), _dot(step, shape.line) / length + share * 0.0, 0.0)
        return tuple(s - slide * x for s, x in zip(step, shape.line, strict=True))
    return step


def _dot(a: Vec3, b: Vec3) -> Array:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
