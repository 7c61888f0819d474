"""Rows between the robot and one body: a teammate that brakes as well, a body that does not, an obstacle.

The barrier and its forms are those of `barriers`; `docs/safety.md` derives them. Components and
`xp` are those of `motion`.
"""

import math
from typing import NamedTuple

from robomarl.core.filter.model.barriers import SPECK, Bound, Row, along_axes, braking_speed, left_of, on_command
from robomarl.core.filter.model.body_kinds import POINT, Kind, Shape
from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import TINY, Library, Motion, Predicted, Vec3, direction
from robomarl.core.filter.model.separation import apart, scaled
from robomarl.core.types import Array

NO_STOP_M = 1e-3
"""A stop nearer than the braking distance by more than this is not one that the filter has made."""
TEXTBOOK_SHARE = 0.5
"""Share of the textbook row that each of two team-mates takes."""
TEXTBOOK_ROOT_M_S = 0.3
"""Floor of the root in the textbook row, which is singular at the safety distance."""


class Body(NamedTuple):
    """Known state of a body to keep clear of."""

    motion: Motion
    """State of its reference point at a reference time: the stamp of its message, or the end of its plan's queue."""
    wait_s: Array
    """Time from that reference to the effect of the own decision; the body's motion in it is not known."""
    since_s: Array
    """Time from the stamp to that effect: so old is its estimate by then."""
    shape: Shape = POINT
    """Extent from the reference point."""
    blind: Array = 0.0
    """1 where only the centre of a differential drive is known instead of its look-ahead point, else 0."""
    late_m: Array = 0.0
    """How much farther than braking from that reference takes it may come to rest, as it says."""
    early_s: Array = 0.0
    """Time by which the mate may have turned earlier than its plan says to a motion that we have no message of."""


def braking_distance(slope: float, speed_m_s: Array, brake_m_s2: Array, xp: Library) -> Array:
    """The inverse of `braking_speed`: the clearance [m] that a speed, at least 0, needs."""
    knee = brake_m_s2 / slope
    return xp.where(speed_m_s < knee, speed_m_s / slope, (speed_m_s * speed_m_s + knee * knee) / (2 * brake_m_s2))


def mate_of(c: Constants, state: Motion, plan: tuple[Motion, Vec3], since_s: Array, xp: Library) -> Body:
    """Return the mate as its message describes it: by its plan if there is one, else by its state.

    A plan is the state `horizon + period` after the stamp, with the commands of that time accounted
    for, and where the mate comes to rest at the latest. A plan does not count if it repeats the state,
    if the vehicle cannot have reached it from there, or if its stop is nearer than the vehicle can
    brake.

    Args:
        c: constants of the vehicle.
        state: estimate at the stamp of the message.
        plan: `Plan.pos_m` with `Plan.vel_m_s`, and `Plan.stop_m` of the message.
        since_s: time from the stamp to the effect of the own decision.
        xp: library of the components.
    """
    lead = c.horizon_s + c.period_s
    (px, py, pz), (vx, vy, vz) = state
    ((qx, qy, qz), (wx, wy, wz)), (sx, sy, sz) = plan
    sx, sy, sz = sx - qx, sy - qy, sz - qz
    late = xp.sqrt(sx * sx + sy * sy + sz * sz + TINY) - (wx * wx + wy * wy + wz * wz) / (2 * c.brake_m_s2)
    x, y, z = qx - px, qy - py, qz - pz
    moved = x * x + y * y + z * z > 0
    x, y, z, dx, dy, dz = x - vx * lead, y - vy * lead, z - vz * lead, wx - vx, wy - vy, wz - vz
    near = (x * x + y * y + z * z <= c.plan_reach_m**2) & (dx * dx + dy * dy + dz * dz <= c.plan_reach_m_s**2)
    use, pick = moved & near & (late > -NO_STOP_M), xp.where
    pos = (pick(use, qx, px), pick(use, qy, py), pick(use, qz, pz))
    vel = (pick(use, wx, vx), pick(use, wy, vy), pick(use, wz, vz))
    mate = Body(Motion(pos, vel), pick(use, since_s - lead, since_s), since_s)
    early = pick(use & (since_s > lead), c.spread_s, 0.0)
    mate = mate._replace(late_m=pick(use, xp.maximum(late, 0.0), 0.0), early_s=early)
    return mate._replace(blind=pick(use, 0.0, 1.0)) if c.look_ahead_m else mate


def pair(c: Constants, kind: Kind, own: Predicted, body: Body, xp: Library, tail: Vec3 | None = None) -> Row:
    """Return the row between the robot and one body.

    A teammate brakes its own approach, as this robot does, both in time. For any other body, the robot
    is either at rest before the body can be there, or faster away than it comes
    (`body_kinds.stranger_of`).

    Args:
        c: constants of the vehicle.
        kind: kind of the body.
        own: predicted state of the robot at the time when the decision takes effect.
        body: known state of the body.
        xp: library of the components.
        tail: the line from the robot's centre that is meant, if not the centre alone.
    """
    (vx, vy, vz), (wx, wy, wz), step = own.motion.vel, body.motion.vel, c.step_s
    sight, rests = _sight(c, kind, own, body, tail, xp), False
    if kind.yields:
        sight, rests = _better(c, kind, own, body, sight, xp)
    distance, (nx, ny, nz), lean = sight.distance, sight.normal, sight.lean
    doubt = _doubt(c, kind, own, sight, xp)
    taken, fast = sight.taken, sight.fast
    value = _allowed(kind, distance - taken, fast, c.brake_m_s2 * lean, xp) + nx * vx + ny * vy + nz * vz - doubt
    # One step ahead without acceleration, and as fast as we may be. A mate's approach shortens its own braking distance
    # as it brakes; who does not yield may be faster by then.
    taken = taken + doubt * step
    if kind.yields:
        # Who rests does not move away either, nor does who only seems to.
        toward = nx * wx + ny * wy + nz * wz
        taken = taken - xp.where(rests, toward, xp.maximum(toward, -sight.seems)) * step
    else:
        fast = fast + xp.minimum(sight.reach * step, xp.maximum(kind.speed_m_s * lean - fast, 0.0))
    ox, oy, oz = sight.offset
    offset = ox + (vx - wx) * step, oy + (vy - wy) * step, oz + (vz - wz) * kind.squash * step
    ahead, (nx, ny, nz), lean = facing(kind, body, tail, offset, xp)
    away = nx * vx + ny * vy + nz * vz - doubt
    later = _allowed(kind, ahead - taken, fast, c.brake_m_s2 * lean, xp) + away
    normal, scale = (-nx / lean, -ny / lean, -nz / lean), 1 / (step * lean)
    left = left_of(value, kind.keep, own.keep if kind.yields else None, xp)
    asked = (later - left) * scale, (later - c.sudden_keep * value) * scale
    bound = on_command(c, own, normal, asked, xp)
    return Row(normal, bound, value, distance - kind.separation_m)


class _Sight(NamedTuple):
    """Body at the time when the decision takes effect."""

    offset: Vec3
    """Vector from its reference point to ours, z scaled."""
    distance: Array
    """Distance between nearest points."""
    normal: Vec3
    """S n: with z divided by the downwash ratio (S) the ellipsoid is a sphere, n is a unit vector there from the body
    to us, and S n pairs with world vectors."""
    lean: Array
    """|S n|: how much of a world acceleration counts along n."""
    fast: Array
    """Largest speed towards us."""
    taken: Array
    """Distance not available for braking: separation, position uncertainty and, for a teammate, its own
    braking distance."""
    reach: Array
    """Its largest acceleration on purpose along n."""
    turn: Array
    """Sine of the largest error of the direction n, because the places are not known exactly: this share
    of motion across counts as motion along."""
    seems: Array
    """Amount by which its speed towards us may exceed the estimate, beside its acceleration on purpose."""


def _sight(c: Constants, kind: Kind, own: Predicted, body: Body, tail: Vec3 | None, xp: Library) -> _Sight:
    """The body, carried forward at constant velocity, and all that it may have done meanwhile."""
    squash, wait = kind.squash, body.wait_s
    (px, py, pz), (qx, qy, qz), (wx, wy, wz) = own.motion.pos, *body.motion
    offset = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * squash
    distance, normal, lean = facing(kind, body, tail, offset, xp)
    none = distance * 0.0
    seen = _Sight(offset, distance, normal, lean, none, none, none, none, none)
    return _known(c, kind, own, body, seen, xp)


def _known(c: Constants, kind: Kind, own: Predicted, body: Body, sight: _Sight, xp: Library) -> _Sight:
    """Return the sight with the body's possible motion along the direction that the sight has."""
    (nx, ny, nz), lean, (wx, wy, wz) = sight.normal, sight.lean, body.motion.vel
    since, early, wait = body.since_s, body.early_s, xp.maximum(body.wait_s, 0.0)
    sizes = (xp.abs(nx), xp.abs(ny), xp.abs(nz))
    reach, pushed = along_axes(sizes, kind.reach_m_s2), along_axes(sizes, kind.bias_m_s2)
    # What it does on purpose: turn from full power away to full power towards us as early as the delay lets it.
    gain = reach * (wait + 2 * early)
    way = reach * (wait * wait / 2 + 2 * early * wait + early * early)
    toward = nx * wx + ny * wy + nz * wz
    room = xp.maximum(kind.speed_m_s * lean - toward, 0.0)
    seems = (kind.error_m_s + kind.drift_m_s2 * since) * lean + pushed * since
    fast = toward + seems + xp.minimum(gain, room)
    error = c.own_error_m + kind.error_m + (kind.error_m_s + kind.drift_m_s2 / 2 * since) * since + body.late_m
    if c.look_ahead_m and kind.yields:
        fast, error = fast + body.blind * c.blind_m_s * lean, error + body.blind * c.look_ahead_m
    blur = error * lean + xp.minimum(way, room * (wait + early))
    blur = blur + pushed * (since * since / 2) + along_axes(sizes, own.unsure_m)
    turn, taken = xp.maximum(sight.turn, xp.minimum(blur / sight.distance, 1.0)), kind.separation_m + blur
    if kind.yields:
        fast = fast + turn * lean * _across(body.motion.vel, toward / lean, xp)
        fast = xp.maximum(fast, 0.0)
        taken = taken + fast * fast / (2 * c.brake_m_s2 * lean)
    if kind.recedes:
        taken = taken - xp.maximum(-toward, 0.0) ** 2 / (2 * c.brake_m_s2 * lean)
    return sight._replace(fast=xp.maximum(fast, 0.0), taken=taken, reach=reach, turn=turn, seems=seems)


def _turned(c: Constants, kind: Kind, body: Body, sight: _Sight, xp: Library) -> _Sight:
    """Add the part along our line of accelerations across the line that the mate itself sees, which may be
    turned against ours."""
    wait, early = xp.maximum(body.wait_s, 0.0), body.early_s
    side = sight.turn * math.hypot(*kind.reach_m_s2)
    fast = sight.fast + side * (wait + 2 * early)
    way = side * (wait * wait / 2 + 2 * early * wait + early * early)
    more = (fast * fast - sight.fast * sight.fast) / (2 * c.brake_m_s2 * sight.lean)
    return sight._replace(fast=fast, taken=sight.taken + way + more)


def _across(vel: Vec3, along: Array, xp: Library) -> Array:
    """Speed [m/s] at right angles to a direction that has this much along it."""
    x, y, z = vel
    return xp.sqrt(xp.maximum(x * x + y * y + z * z - along * along, 0.0) + TINY)


def _doubt(c: Constants, kind: Kind, own: Predicted, sight: _Sight, xp: Library) -> Array:
    """Return the amount by which we may come nearer faster than estimated [m/s]."""
    (nx, ny, nz), lean, (vx, vy, vz) = sight.normal, sight.lean, own.motion.vel
    doubt = c.own_error_m_s * lean + along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.unsure_m_s)
    if not kind.yields:
        return doubt
    return doubt + sight.turn * lean * _across(own.motion.vel, (nx * vx + ny * vy + nz * vz) / lean, xp)


def _better(c: Constants, kind: Kind, own: Predicted, body: Body, first: _Sight, xp: Library) -> tuple[_Sight, Array]:
    """Return the better of two valid bounds for a mate not received lately: the one that leaves more of
    the clearance.

    Bound one: it may have accelerated towards us all the while. Bound two: it has kept its own rows, so
    that towards us it brakes since its plan's state, and each of its decisions has used up at most a
    share of the clearance between us; we know an upper bound of that clearance when its plan was made.
    Across, it has gone on as it went in both.

    Returns:
        The body, and whether it counts as braking.
    """
    wait, lead, (wx, wy, wz) = xp.maximum(body.wait_s, 0.0), c.horizon_s + c.period_s, body.motion.vel
    still = body._replace(wait_s=wait * 0.0, since_s=xp.minimum(body.since_s, lead), early_s=0.0)
    (nx, ny, nz), lean, (vx, vy, vz) = first.normal, first.lean, own.motion.vel
    from_plan = first._replace(distance=first.distance + (nx * wx + ny * wy + nz * wz) * wait)
    plain = _known(c, kind, own, still, from_plan, xp)
    second = _turned(c, kind, body, plain, xp)
    closing = xp.maximum(_doubt(c, kind, own, second, xp) - (nx * vx + ny * vy + nz * vz), 0.0)
    need = braking_distance(kind.slope_per_s, closing, c.brake_m_s2 * lean, xp)
    clear = second.distance - second.taken
    most = xp.maximum(clear - need, 0.0) + closing * wait + second.reach * wait * wait / 2
    spent = (1 - xp.exp(-c.spend_per_s * wait)) * most
    rests = (body.early_s > 0) & (clear - spent > first.distance - first.taken)
    taken = xp.where(rests, first.distance - (clear - spent), first.taken)
    return first._replace(taken=taken), rests


def _nearest(offset: Vec3, kind: Kind, body: Body, tail: Vec3 | None, xp: Library) -> Vec3:
    """Vector between the nearest points, z scaled like `offset`."""
    if tail is None and body.shape is POINT:
        return offset
    if tail is not None:
        tail = (tail[0], tail[1], tail[2] * kind.squash)
    return apart(offset, tail, scaled(body.shape, kind.squash), xp)


def facing(kind: Kind, body: Body, tail: Vec3 | None, offset: Vec3, xp: Library) -> tuple[Array, Vec3, Array]:
    """Distance of the nearest points at an offset (z scaled), S n, and its length; see `_Sight`."""
    distance, nx, ny, nz = direction(_nearest(offset, kind, body, tail, xp), xp)
    nz = nz * kind.squash
    return distance, (nx, ny, nz), xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)


def _allowed(kind: Kind, clearance_m: Array, fast_m_s: Array, brake_m_s2: Array, xp: Library) -> Array:
    """Return the largest speed towards the body [m/s]; `fast_m_s` is its own speed towards us.

    For a body that does not yield: sqrt(2 e x + q^2) - q to be at rest in time, sqrt(2 e x) - q to be
    faster away, with the brake e and the speed q that `body_kinds.stranger_of` derives, and the root
    continued as `braking_speed` does. A robot that is too near to a stranger need not back off: to be
    at rest is enough.
    """
    if kind.yields:
        return braking_speed(kind.slope_per_s, clearance_m, brake_m_s2, xp)
    brake, lost = brake_m_s2 * kind.brake_share, fast_m_s * kind.lost_share
    start = 0.0 if kind.evade else lost * lost / (2 * brake)
    return braking_speed(kind.slope_per_s, xp.maximum(clearance_m + start, 0.0), brake, xp) - lost


def pair_textbook(c: Constants, kind: Kind, own: Motion, body: Body, xp: Library, tail: Vec3 | None = None) -> Row:
    """Return the row of Wang, Ames, Egerstedt (T-RO 2017) with alpha(h) = gain h, in the scaled space.

    Each of two mates takes half of the row; for other bodies the robot takes all. No margins. A
    campaign has to catch it.
    """
    squash, share = kind.squash, TEXTBOOK_SHARE if kind.yields else 1.0
    (px, py, pz), (vx, vy, vz) = own
    (qx, qy, qz), (wx, wy, wz) = body.motion
    dx, dy, dz = vx - wx, vy - wy, (vz - wz) * squash
    distance, nx, ny, nz = direction(_nearest((px - qx, py - qy, (pz - qz) * squash), kind, body, tail, xp), xp)
    along = nx * dx + ny * dy + nz * dz
    aside = dx * dx + dy * dy + dz * dz - along * along
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    brake = (2 if kind.yields else 1) * c.brake_m_s2 * lean
    gap = distance - kind.separation_m
    root = xp.sqrt(2 * brake * xp.maximum(gap, 1e-9))
    value = root + along
    change = brake * along / xp.maximum(root, TEXTBOOK_ROOT_M_S) + aside / distance
    bound = share * (change + c.gain_per_s * value) / lean
    return Row((-nx / lean, -ny / lean, -nz / lean), Bound(bound, c.floor_m_s2 + bound * 0.0), value, gap)
