"""The rows of the filter: closed-form half-spaces on the acceleration, from sampled braking-distance barriers.

The barrier (after Wang, Ames, Egerstedt, T-RO 2017; `docs/safety.md` derives the form used here): with a
clearance x and a speed v towards the limit, h = s(x) - v >= 0, where s(x) is the speed from which x suffices
to brake. A row asks that h one period ahead is at least (1 - gain * period) h.

Components and `xp` are those of `motion`.
"""

from typing import NamedTuple

from robomarl.safety.constants import Constants
from robomarl.safety.motion import TINY, Library, Motion, Predicted, Vec3, direction
from robomarl.types import Array

TEXTBOOK_SHARE = 0.5
"""Share of the textbook row that each of two team-mates takes."""
TEXTBOOK_ROOT_M_S = 0.3
"""Floor of the root in the textbook row, which is singular at the safety distance."""


class Mate(NamedTuple):
    """What is known of a team-mate."""

    motion: Motion
    """Its state at a reference time: the stamp of its message, or the end of its plan's queue."""
    wait_s: Array
    """Time from that reference to the effect of the own decision: what it does in it is not known."""
    since_s: Array
    """Time from the stamp to that effect: so old is its estimate by then."""


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


def braking_speed(c: Constants, clearance_m: Array, brake_m_s2: Array, xp: Library) -> Array:
    """Speed s [m/s] at which a clearance x suffices to brake: sqrt(2 a x - (a/k)^2), and k x below x = a/k^2.

    The line floors the root, whose slope at 0 would turn noise into commands without bound; it meets the root
    with the same slope, so that following s never takes more than the deceleration a. 0 without clearance.
    """
    slope = c.slope_per_s
    knee = brake_m_s2 / slope
    root = xp.sqrt(xp.maximum(2 * brake_m_s2 * clearance_m - knee * knee, 1e-9))
    return xp.where(clearance_m * slope < knee, slope * xp.maximum(clearance_m, 0.0), root)


def mate_of(c: Constants, state: Motion, plan: Motion, since_s: Array, xp: Library) -> Mate:
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
    return Mate(Motion(pos, vel), pick(use, since_s - lead, since_s), since_s)


def pair(c: Constants, own: Predicted, mate: Mate, xp: Library) -> Row:
    """The row between the robot and one team-mate: each brakes its own approach, in time for both.

    Args:
        c: constants of the vehicle.
        own: predicted state of the robot at the time when the decision takes effect.
        mate: what is known of the mate.
        xp: library of the components.
    """
    squash, step, wait = c.squash, c.step_s, mate.wait_s
    (px, py, pz), (vx, vy, vz) = own.motion
    (qx, qy, qz), (wx, wy, wz) = mate.motion
    # With z divided by the downwash ratio (S) the ellipsoid is a sphere. n is a unit vector there, S n pairs
    # with world vectors, and `lean` = |S n| is how much of a world acceleration counts along n.
    x, y, z = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * squash
    distance, nx, ny, nz = direction((x, y, z), xp)
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + TINY)
    # What the mate may have done meanwhile: accelerate towards us as far as its limits let it.
    rx, ry, rz = c.reach_m_s2
    wait = xp.maximum(wait, 0.0)
    gain = (xp.abs(nx) * rx + xp.abs(ny) * ry + xp.abs(nz) * rz) * wait
    toward = nx * wx + ny * wy + nz * wz
    room = xp.maximum(c.speed_m_s * lean - toward, 0.0)
    fast = toward + (c.velocity_error_m_s + c.accel_error_m_s2 * mate.since_s) * lean + xp.minimum(gain, room)
    fast = xp.maximum(fast, 0.0)
    error = own.error_m + c.mate_error_m + (c.velocity_error_m_s + c.accel_error_m_s2 / 2 * mate.since_s) * mate.since_s
    brake = c.brake_m_s2 * lean
    taken = c.separation_m + error * lean + xp.minimum(gain * 0.5, room) * wait + fast * fast / (2 * brake)
    error = own.error_m_s * lean
    value = braking_speed(c, distance - taken, brake, xp) + nx * vx + ny * vy + nz * vz - error
    # One step ahead without acceleration; the mate's approach shortens its own braking distance as it brakes.
    taken = taken - xp.maximum(toward, 0.0) * step
    x, y, z = x + (vx - wx) * step, y + (vy - wy) * step, z + (vz - wz) * squash * step
    ahead, nx, ny, nz = direction((x, y, z), xp)
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + TINY)
    later = braking_speed(c, ahead - taken, c.brake_m_s2 * lean, xp) + nx * vx + ny * vy + nz * vz - error
    bound = (later - c.keep * value) / (step * lean) - c.accel_error_m_s2
    return Row((-nx / lean, -ny / lean, -nz / lean), bound, value, distance - c.separation_m)


def pair_textbook(c: Constants, own: Motion, mate: Motion, xp: Library) -> Row:
    """The row of Wang, Ames, Egerstedt (T-RO 2017) with alpha(h) = gain h, in the scaled space.

    Half of it for each; no margins. It is what a campaign has to catch.
    """
    squash = c.squash
    (px, py, pz), (vx, vy, vz) = own
    (qx, qy, qz), (wx, wy, wz) = mate
    dx, dy, dz = vx - wx, vy - wy, (vz - wz) * squash
    distance, nx, ny, nz = direction((px - qx, py - qy, (pz - qz) * squash), xp)
    along = nx * dx + ny * dy + nz * dz
    aside = dx * dx + dy * dy + dz * dz - along * along
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + TINY)
    brake = 2 * c.brake_m_s2 * lean
    gap = distance - c.separation_m
    root = xp.sqrt(2 * brake * xp.maximum(gap, 1e-9))
    value = root + along
    change = brake * along / xp.maximum(root, TEXTBOOK_ROOT_M_S) + aside / distance
    bound = TEXTBOOK_SHARE * (change + c.gain_per_s * value) / lean
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
    clearance, closing = gap_m - own.error_m, speed_m_s + own.error_m_s
    value = braking_speed(c, clearance, c.brake_m_s2, xp) - closing
    later = braking_speed(c, clearance - speed_m_s * c.step_s, c.brake_m_s2, xp) - closing
    return (later - c.keep * value) / c.step_s - c.accel_error_m_s2, value


def far_from_wall(c: Constants, own: Predicted, gap_m: float, speed_m_s: float) -> bool:
    """Whether `wall` certainly allows the whole input box, at speeds up to twice the limit.

    With s(x) >= v + e + (M + w + a) / gain, M the largest acceleration: within one step s loses at most a T,
    because its slope is a / s and s >= v, so the bound is at least gain (s - e - v) - a - w >= M.
    """
    reach = c.clear_m_s + own.error_m_s + (speed_m_s if speed_m_s > 0 else 0.0)
    clearance = gap_m - own.error_m
    return 2 * c.brake_m_s2 * clearance >= reach * reach + (c.brake_m_s2 / c.slope_per_s) ** 2


def arena_bounds(c: Constants, own: Predicted, xp: Library) -> tuple[list[Array], list[Array]]:
    """Lowest and highest acceleration [m/s^2] per axis that the faces of the arena allow, not clipped yet."""
    low, high = c.arena or ((), ())
    pos, vel = own.motion
    lowest = [-wall(c, own, pos[i] - low[i], -vel[i], xp)[0] for i in range(len(low))]
    highest = [wall(c, own, high[i] - pos[i], vel[i], xp)[0] for i in range(len(high))]
    return lowest, highest


def speed_limit(c: Constants, own: Predicted, xp: Library) -> Row:
    """The row along the predicted velocity that keeps the speed below its limit."""
    speed, nx, ny, nz = direction(own.motion.vel, xp)
    left = c.speed_m_s - own.error_m_s - speed
    return Row((nx, ny, nz), c.slope_per_s * left - c.accel_error_m_s2, left, left)


def clip(c: Constants, bound: Array, xp: Library) -> Array:
    """A right-hand side within what is useful.

    From above, where the row cannot bind inside the box. From below at the braking that the vehicle has for
    sure: more than that the fallback would not do for this row either, so asking for it only loses the rest.
    """
    return xp.minimum(xp.maximum(bound, -c.demand_m_s2), c.loose_m_s2)
