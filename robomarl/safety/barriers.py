"""The rows of the filter: closed-form half-spaces on the acceleration, from sampled braking-distance barriers.

The barrier (after Wang, Ames, Egerstedt, T-RO 2017; `docs/safety.md` derives the form used here): with a
clearance x and a speed v towards the limit, h = s(x) - v >= 0, where s(x) is the speed from which x suffices
to brake. A row asks that h one period ahead is at least (1 - gain * period) h.

Components and `xp` are those of `motion`.
"""

from typing import NamedTuple

from robomarl.safety.constants import Constants
from robomarl.safety.kinds import POINT, Kind, Shape
from robomarl.safety.motion import Library, Motion, Predicted, Vec3, direction
from robomarl.safety.separation import apart, scaled
from robomarl.types import Array

SPECK = 1e-18
"""As `motion.TINY`, for what is about 1: a projection to 1e-9 needs unit normals to 1e-15 where rows are almost
parallel."""
TEXTBOOK_SHARE = 0.5
"""Share of the textbook row that each of two team-mates takes."""
TEXTBOOK_ROOT_M_S = 0.3
"""Floor of the root in the textbook row, which is singular at the safety distance."""


class Body(NamedTuple):
    """What is known of something to keep clear of."""

    motion: Motion
    """State of its reference point at a reference time: the stamp of its message, or the end of its plan's queue."""
    wait_s: Array
    """Time from that reference to the effect of the own decision: what it does in it is not known."""
    since_s: Array
    """Time from the stamp to that effect: so old is its estimate by then."""
    shape: Shape = POINT
    """What extends from the reference point."""
    blind: Array = 0.0
    """1 where only the centre of a differential drive is known instead of its look-ahead point, else 0."""


class Row(NamedTuple):
    """Half-space `normal . u <= bound` on the acceleration u [m/s^2] that the vehicle really makes, world frame."""

    normal: Vec3
    """Unit vector; the zero vector where there is no direction."""
    bound: Array
    """Right-hand side [m/s^2], not clipped yet: see `clip`."""
    value: Array
    """The barrier h [m/s], margins included; the set that is kept is h >= 0."""
    gap_m: Array
    """Distance to the limit without any margin [m]."""


def braking_speed(slope: float, clearance_m: Array, brake_m_s2: Array, xp: Library) -> Array:
    """Speed s [m/s] at which a clearance x suffices to brake: sqrt(2 a x - (a/k)^2), and k x below x = a/k^2.

    The line floors the root, whose slope at 0 would turn noise into commands without bound; it meets the root
    with the same slope, so that following s never takes more than the deceleration a. 0 without clearance.
    """
    knee = brake_m_s2 / slope
    root = xp.sqrt(xp.maximum(2 * brake_m_s2 * clearance_m - knee * knee, 1e-9))
    return xp.where(clearance_m * slope < knee, slope * xp.maximum(clearance_m, 0.0), root)


def mate_of(c: Constants, state: Motion, plan: Motion, since_s: Array, xp: Library) -> Body:
    """What a message says of the mate: its plan where there is one, else its state.

    A plan is the state `horizon + period` after the stamp, with the commands of that time accounted for. One that
    repeats the state, or that the vehicle cannot have reached from there, is none.

    Args:
        c: constants of the vehicle.
        state: estimate at the stamp of the message.
        plan: `Plan.pos_m` and `Plan.vel_m_s` of the message.
        since_s: time from the stamp to the effect of the own decision.
        xp: library of the components.
    """
    lead = c.horizon_s + c.period_s
    (px, py, pz), (vx, vy, vz) = state
    (qx, qy, qz), (wx, wy, wz) = plan
    x, y, z = qx - px, qy - py, qz - pz
    moved = x * x + y * y + z * z > 0
    x, y, z, dx, dy, dz = x - vx * lead, y - vy * lead, z - vz * lead, wx - vx, wy - vy, wz - vz
    near = (x * x + y * y + z * z <= c.plan_reach_m**2) & (dx * dx + dy * dy + dz * dz <= c.plan_reach_m_s**2)
    use, pick = moved & near, xp.where
    pos = (pick(use, qx, px), pick(use, qy, py), pick(use, qz, pz))
    vel = (pick(use, wx, vx), pick(use, wy, vy), pick(use, wz, vz))
    mate = Body(Motion(pos, vel), pick(use, since_s - lead, since_s), since_s)
    return mate._replace(blind=pick(use, 0.0, 1.0)) if c.look_ahead_m else mate


def pair(c: Constants, kind: Kind, own: Predicted, body: Body, xp: Library, tail: Vec3 | None = None) -> Row:
    """The row between the robot and one body.

    A team-mate brakes its own approach, as this robot does, both in time. From anything else the robot is either at
    rest before it can be there, or faster away than it comes (`kinds.stranger_of`).

    Args:
        c: constants of the vehicle.
        kind: what the body is.
        own: predicted state of the robot at the time when the decision takes effect.
        body: what is known of the body.
        xp: library of the components.
        tail: the line from the robot's centre that is meant, if not the centre alone.
    """
    squash, step, wait, keep = kind.squash, c.step_s, body.wait_s, _keep(kind.keep, own, xp)
    (px, py, pz), (vx, vy, vz), (qx, qy, qz), (wx, wy, wz) = *own.motion, *body.motion
    # With z divided by the downwash ratio (S) the ellipsoid is a sphere. n is a unit vector there, S n pairs
    # with world vectors, and `lean` = |S n| is how much of a world acceleration counts along n.
    offset = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * squash
    distance, nx, ny, nz = direction(_nearest(offset, kind, body, tail, xp), xp)
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    # What the body may have done meanwhile: accelerate towards us as far as its limits let it.
    (rx, ry, rz), wait = kind.reach_m_s2, xp.maximum(wait, 0.0)
    reach = xp.abs(nx) * rx + xp.abs(ny) * ry + xp.abs(nz) * rz
    gain = reach * wait
    toward = nx * wx + ny * wy + nz * wz
    room = xp.maximum(kind.speed_m_s * lean - toward, 0.0)
    fast = toward + (kind.error_m_s + kind.drift_m_s2 * body.since_s) * lean + xp.minimum(gain, room)
    error = own.error_m + kind.error_m + (kind.error_m_s + kind.drift_m_s2 / 2 * body.since_s) * body.since_s
    if c.look_ahead_m and kind.yields:
        fast, error = fast + body.blind * c.blind_m_s * lean, error + body.blind * c.look_ahead_m
    fast = xp.maximum(fast, 0.0)
    brake = c.brake_m_s2 * lean
    taken = kind.separation_m + error * lean + xp.minimum(gain * 0.5, room) * wait
    if kind.yields:
        taken = taken + fast * fast / (2 * brake)
    error = own.error_m_s * lean
    value = _allowed(kind, distance - taken, fast, brake, xp) + nx * vx + ny * vy + nz * vz - error
    # One step ahead without acceleration. A mate's approach shortens its own braking distance as it brakes; who
    # does not yield may be faster by then.
    if kind.yields:
        taken = taken - xp.maximum(toward, 0.0) * step
    else:
        fast = fast + xp.minimum(reach * step, xp.maximum(kind.speed_m_s * lean - fast, 0.0))
    offset = offset[0] + (vx - wx) * step, offset[1] + (vy - wy) * step, offset[2] + (vz - wz) * squash * step
    ahead, nx, ny, nz = direction(_nearest(offset, kind, body, tail, xp), xp)
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    later = _allowed(kind, ahead - taken, fast, c.brake_m_s2 * lean, xp) + nx * vx + ny * vy + nz * vz - error
    bound = (later - keep * value) / (step * lean) - c.accel_error_m_s2
    return Row((-nx / lean, -ny / lean, -nz / lean), bound, value, distance - kind.separation_m)


def _keep(least: float, own: Predicted, xp: Library) -> Array:
    """Share of h that must be left after one step, where the policy may ask for more of it than the owner does."""
    return least if own.keep is None else xp.maximum(own.keep, least)


def _nearest(offset: Vec3, kind: Kind, body: Body, tail: Vec3 | None, xp: Library) -> Vec3:
    """Vector between the nearest points, z scaled like `offset`."""
    if tail is None and body.shape is POINT:
        return offset
    if tail is not None:
        tail = (tail[0], tail[1], tail[2] * kind.squash)
    return apart(offset, tail, scaled(body.shape, kind.squash), xp)


def _allowed(kind: Kind, clearance_m: Array, fast_m_s: Array, brake_m_s2: Array, xp: Library) -> Array:
    """Largest speed towards the body [m/s]; `fast_m_s` is its own speed towards us.

    Who does not yield: sqrt(2 e x + q^2) - q to be at rest in time, sqrt(2 e x) - q to be faster away, with the
    brake e and the speed q that `kinds.stranger_of` derives, and the root continued as `braking_speed` does.
    """
    if kind.yields:
        return braking_speed(kind.slope_per_s, clearance_m, brake_m_s2, xp)
    brake, lost = brake_m_s2 * kind.brake_share, fast_m_s * kind.lost_share
    start = 0.0 if kind.evade else lost * lost / (2 * brake)
    return braking_speed(kind.slope_per_s, clearance_m + start, brake, xp) - lost


def pair_textbook(c: Constants, kind: Kind, own: Motion, body: Body, xp: Library, tail: Vec3 | None = None) -> Row:
    """The row of Wang, Ames, Egerstedt (T-RO 2017) with alpha(h) = gain h, in the scaled space.

    Half of it for each of two mates, else all of it; no margins. It is what a campaign has to catch.
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
    return Row((-nx / lean, -ny / lean, -nz / lean), bound, value, gap)


def wall(c: Constants, own: Predicted, gap_m: Array, speed_m_s: Array, xp: Library) -> tuple[Array, Array]:
    """The row of a fixed plane, full responsibility.

    Args:
        c: constants of the vehicle.
        own: predicted state; its errors are read.
        gap_m: distance of the predicted position to the plane.
        speed_m_s: predicted speed towards it.
        xp: library of the arrays.

    Returns:
        Largest acceleration towards the plane [m/s^2], and the barrier h [m/s].
    """
    keep = _keep(c.keep, own, xp)
    clearance, closing = gap_m - own.error_m, speed_m_s + own.error_m_s
    value = braking_speed(c.slope_per_s, clearance, c.brake_m_s2, xp) - closing
    later = braking_speed(c.slope_per_s, clearance - speed_m_s * c.step_s, c.brake_m_s2, xp) - closing
    return (later - keep * value) / c.step_s - c.accel_error_m_s2, value


def far_from_wall(c: Constants, own: Predicted, gap_m: float, speed_m_s: float) -> bool:
    """Whether `wall` certainly allows the whole input box, at speeds up to twice the limit.

    With s(x) >= v + e + (M + w + a) / gain, M the largest acceleration: within one step s loses at most a T,
    because its slope is a / s and s >= v, so the bound is at least gain (s - e - v) - a - w >= M. Nothing is
    certain of a gain that the policy sets.
    """
    if own.keep is not None:
        return False
    reach = c.clear_m_s + own.error_m_s + (speed_m_s if speed_m_s > 0 else 0.0)
    clearance = gap_m - own.error_m
    return 2 * c.brake_m_s2 * clearance >= reach * reach + (c.brake_m_s2 / c.slope_per_s) ** 2


def speed_limit(c: Constants, own: Predicted, xp: Library) -> Row:
    """The row along the predicted velocity that keeps the speed below its limit."""
    speed, nx, ny, nz = direction(own.motion.vel, xp)
    # At 1 cm/s the unit vector is short by 5e-9.
    scale = 1 / xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    left = c.speed_m_s - own.error_m_s - speed
    return Row((nx * scale, ny * scale, nz * scale), c.slope_per_s * left - c.accel_error_m_s2, left, left)


def clip(c: Constants, bound: Array, xp: Library) -> Array:
    """A right-hand side within what is useful.

    From above, where the row cannot bind inside the box. From below at the braking that the vehicle has for
    sure: more than that the fallback would not do for this row either, so asking for it only loses the rest.
    """
    return xp.minimum(xp.maximum(bound, -c.demand_m_s2), c.loose_m_s2)
