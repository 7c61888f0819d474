"""The rows of the filter: closed-form half-spaces on the acceleration, from sampled braking-distance barriers.

The barrier (after Wang, Ames, Egerstedt, T-RO 2017; `docs/safety.md` derives the form used here): with a
clearance x and a speed v towards the limit, h = s(x) - v >= 0, where s(x) is the speed from which x suffices
to brake. A row asks that h one period ahead is at least (1 - gain * period) h.

Components and `xp` are those of `motion`.
"""

from typing import NamedTuple

from robomarl.safety.constants import Constants
from robomarl.safety.kinds import POINT, Kind, Shape
from robomarl.safety.motion import TINY, Library, Motion, Predicted, Vec3, direction
from robomarl.safety.separation import apart, scaled
from robomarl.types import Array

SPECK = 1e-18
"""As `motion.TINY`, for what is about 1: a projection to 1e-9 needs unit normals to 1e-15 where rows are almost
parallel."""
NO_STOP_M = 1e-3
"""A stop nearer than the braking distance by more than this is not one that the filter has made."""
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
    late_m: Array = 0.0
    """How much farther than braking from that reference takes it may come to rest, as it says."""
    early_s: Array = 0.0
    """How much earlier than its plan says the mate may have turned to what we have not heard of."""


class Bound(NamedTuple):
    """Right-hand side of a row on the command."""

    most: Array
    """Largest command [m/s^2] along the normal, not clipped yet."""
    floor: Array
    """No row asks for less [m/s^2]: with this command the vehicle brakes along the normal at `brake_m_s2`, whatever its
    bias is within the doubt, and the input box has room for it."""


class Row(NamedTuple):
    """Half-space `normal . u <= bound` on the command u [m/s^2], world frame."""

    normal: Vec3
    """Unit vector; the zero vector where there is no direction."""
    bound: Bound
    value: Array
    """The barrier h [m/s], margins included; the set that is kept is h >= 0."""
    gap_m: Array
    """Distance to the limit without any margin [m]."""


def braking_speed(slope: float, clearance_m: Array, brake_m_s2: Array, xp: Library) -> Array:
    """Speed s [m/s] at which a clearance x suffices to brake: sqrt(2 a x - (a/k)^2), and k x below x = a/k^2.

    The line floors the root, whose slope at 0 would turn noise into commands without bound; it meets the root
    with the same slope, so that following s never takes more than the deceleration a. Without clearance it goes on:
    who is too near backs off.
    """
    knee = brake_m_s2 / slope
    root = xp.sqrt(xp.maximum(2 * brake_m_s2 * clearance_m - knee * knee, 1e-9))
    return xp.where(clearance_m * slope < knee, slope * clearance_m, root)


def braking_distance(slope: float, speed_m_s: Array, brake_m_s2: Array, xp: Library) -> Array:
    """The inverse of `braking_speed`: the clearance [m] that a speed, at least 0, needs."""
    knee = brake_m_s2 / slope
    return xp.where(speed_m_s < knee, speed_m_s / slope, (speed_m_s * speed_m_s + knee * knee) / (2 * brake_m_s2))


def mate_of(c: Constants, state: Motion, plan: tuple[Motion, Vec3], since_s: Array, xp: Library) -> Body:
    """What a message says of the mate: its plan where there is one, else its state.

    A plan is the state `horizon + period` after the stamp, with the commands of that time accounted for, and where the
    mate comes to rest at the latest. One that repeats the state, that the vehicle cannot have reached from there, or
    whose stop is nearer than the vehicle can brake, is none.

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
    (vx, vy, vz), (wx, wy, wz), step = own.motion.vel, body.motion.vel, c.step_s
    keep = _keep(kind.keep, own, xp)
    sight, moves = _sight(c, kind, own, body, tail, xp), 1.0
    if kind.yields:
        sight, moves = _better(c, kind, own, body, (tail, sight), xp)
    distance, (nx, ny, nz), lean = sight.distance, sight.normal, sight.lean
    doubt = own.error_m_s * lean + _along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.doubt) * c.horizon_s
    taken, fast, brake = sight.taken, sight.fast, c.brake_m_s2 * lean
    value = _allowed(kind, distance - taken, fast, brake, xp) + nx * vx + ny * vy + nz * vz - doubt
    # One step ahead without acceleration, and as fast as we may be. A mate's approach shortens its own braking distance
    # as it brakes; who does not yield may be faster by then.
    taken = taken + doubt * step
    wx, wy, wz = wx * moves, wy * moves, wz * moves
    if kind.yields:
        taken = taken - xp.maximum(nx * wx + ny * wy + nz * wz, 0.0) * step
    else:
        fast = fast + xp.minimum(sight.reach * step, xp.maximum(kind.speed_m_s * lean - fast, 0.0))
    ox, oy, oz = sight.offset
    offset = ox + (vx - wx) * step, oy + (vy - wy) * step, oz + (vz - wz) * kind.squash * step
    ahead, nx, ny, nz = direction(_nearest(offset, kind, body, tail, xp), xp)
    nz = nz * kind.squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    later = _allowed(kind, ahead - taken, fast, c.brake_m_s2 * lean, xp) + nx * vx + ny * vy + nz * vz - doubt
    normal, scale = (-nx / lean, -ny / lean, -nz / lean), 1 / (step * lean)
    sudden = (later - c.sudden_keep * value) * scale
    bound = on_command(c, own, normal, ((later - keep * value) * scale, sudden), xp)
    return Row(normal, bound, value, distance - kind.separation_m)


class _Sight(NamedTuple):
    """A body as it is when the decision takes effect."""

    offset: Vec3
    """From its reference point to ours, z scaled."""
    distance: Array
    """Between nearest points."""
    normal: Vec3
    """S n: with z divided by the downwash ratio (S) the ellipsoid is a sphere, n is a unit vector there from the body to
    us, and S n pairs with world vectors."""
    lean: Array
    """|S n|: how much of a world acceleration counts along n."""
    fast: Array
    """Largest speed towards us."""
    taken: Array
    """What the distance cannot be used for."""
    reach: Array
    """Its largest acceleration on purpose along n."""


def _sight(c: Constants, kind: Kind, own: Predicted, body: Body, tail: Vec3 | None, xp: Library) -> _Sight:
    """The body, carried forward at constant velocity, and all that it may have done meanwhile."""
    squash, wait, since, early = kind.squash, body.wait_s, body.since_s, body.early_s
    (px, py, pz), (qx, qy, qz), (wx, wy, wz) = own.motion.pos, *body.motion
    offset = px - qx - wx * wait, py - qy - wy * wait, (pz - qz - wz * wait) * squash
    distance, nx, ny, nz = direction(_nearest(offset, kind, body, tail, xp), xp)
    nz = nz * squash
    lean = xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    sizes, wait = (xp.abs(nx), xp.abs(ny), xp.abs(nz)), xp.maximum(wait, 0.0)
    reach, pushed = _along_axes(sizes, kind.reach_m_s2), _along_axes(sizes, kind.bias_m_s2)
    # What it does on purpose: turn from full power away to full power towards us as early as the delay lets it.
    gain = reach * (wait + 2 * early)
    way = reach * (wait * wait / 2 + 2 * early * wait + early * early)
    toward = nx * wx + ny * wy + nz * wz
    room = xp.maximum(kind.speed_m_s * lean - toward, 0.0)
    fast = toward + (kind.error_m_s + kind.drift_m_s2 * since) * lean + pushed * since + xp.minimum(gain, room)
    error = own.error_m + kind.error_m + (kind.error_m_s + kind.drift_m_s2 / 2 * since) * since + body.late_m
    if c.look_ahead_m and kind.yields:
        fast, error = fast + body.blind * c.blind_m_s * lean, error + body.blind * c.look_ahead_m
    fast, half = xp.maximum(fast, 0.0), c.horizon_s * c.horizon_s / 2
    taken = kind.separation_m + error * lean + xp.minimum(way, room * (wait + early))
    taken = taken + pushed * (since * since / 2) + _along_axes(sizes, own.doubt) * half
    if kind.yields:
        taken = taken + fast * fast / (2 * c.brake_m_s2 * lean)
    return _Sight(offset, distance, (nx, ny, nz), lean, fast, taken, reach)


def _better(
    c: Constants, kind: Kind, own: Predicted, body: Body, known: tuple[Vec3 | None, _Sight], xp: Library
) -> tuple[_Sight, Array]:
    """Of a mate that is not heard of lately: what leaves more of the clearance, of two things that are both true.

    It may have accelerated towards us all the while. Or: it has kept its own rows, and each of its decisions has used
    up a share of the clearance between us at most; of what that was when its plan was made we know an upper bound.

    Returns:
        The body, and 1 where it goes on, 0 where it counts as braking from its plan's state.
    """
    tail, first = known
    wait, lead = body.wait_s, c.horizon_s + c.period_s
    still = body._replace(wait_s=wait * 0.0, since_s=xp.minimum(body.since_s, lead), early_s=0.0)
    second = _sight(c, kind, own, still, tail, xp)
    (nx, ny, nz), lean, (vx, vy, vz) = second.normal, second.lean, own.motion.vel
    doubt = own.error_m_s * lean + _along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.doubt) * c.horizon_s
    closing, wait = xp.maximum(doubt - (nx * vx + ny * vy + nz * vz), 0.0), xp.maximum(wait, 0.0)
    need = braking_distance(kind.slope_per_s, closing, c.brake_m_s2 * lean, xp)
    most = xp.maximum(second.distance - second.taken - need, 0.0) + closing * wait + second.reach * wait * wait / 2
    second = second._replace(taken=second.taken + (1 - xp.exp(-c.spend_per_s * wait)) * most)
    use = (body.early_s > 0) & (second.distance - second.taken > first.distance - first.taken)
    pick = lambda a, b: tuple(map(pick, a, b)) if isinstance(a, tuple) else xp.where(use, a, b)  # noqa: E731
    return _Sight(*(pick(a, b) for a, b in zip(second, first, strict=True))), xp.where(use, 0.0, 1.0)


def on_command(c: Constants, own: Predicted, normal: Vec3, allowed: tuple[Array, Array], xp: Library) -> Bound:
    """What a row on the acceleration that the vehicle really makes is for the command.

    Whatever error and bias may do along the normal is taken off last, so that it never uses up the brake. And what is
    asked for beyond the last command may take effect early, for the whole spread of the delay: only a share of it is
    granted at once.

    Args:
        c: constants of the vehicle.
        own: predicted state; bias, doubt and last command are read.
        normal: of the row.
        allowed: right-hand side [m/s^2] with the gain that is meant, and with `SUDDEN_KEEP`.
        xp: library of the components.
    """
    (nx, ny, nz), (bx, by, bz), (lx, ly, lz) = normal, own.bias, own.last
    lost = c.accel_error_m_s2 + _along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.doubt)
    lost, last = lost + nx * bx + ny * by + nz * bz, nx * lx + ny * ly + nz * lz
    most, sudden = allowed
    more = xp.maximum(most, sudden) - lost - last
    most = xp.minimum(most - lost, last + xp.where(more > 0, more * c.sudden_share, more))
    return Bound(most, c.floor_m_s2 - lost)


def _along_axes(sizes: Vec3, bounds: Vec3) -> Array:
    """Largest component along a direction, given the absolute values of its components, within bounds on the axes."""
    return sizes[0] * bounds[0] + sizes[1] * bounds[1] + sizes[2] * bounds[2]


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
    brake e and the speed q that `kinds.stranger_of` derives, and the root continued as `braking_speed` does. Who is too
    near to a stranger need not back off: to be at rest is enough.
    """
    if kind.yields:
        return braking_speed(kind.slope_per_s, clearance_m, brake_m_s2, xp)
    brake, lost = brake_m_s2 * kind.brake_share, fast_m_s * kind.lost_share
    start = 0.0 if kind.evade else lost * lost / (2 * brake)
    return braking_speed(kind.slope_per_s, xp.maximum(clearance_m + start, 0.0), brake, xp) - lost


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
    return Row((-nx / lean, -ny / lean, -nz / lean), Bound(bound, c.floor_m_s2 + bound * 0.0), value, gap)


def wall(c: Constants, own: Predicted, side: tuple[int, float], gap_m: Array, xp: Library) -> tuple[Bound, Array]:
    """The row of a fixed plane, full responsibility.

    Args:
        c: constants of the vehicle.
        own: predicted state.
        side: the axis that the plane is across, and 1.0 or -1.0: which way along it.
        gap_m: distance of the predicted position to the plane.
        xp: library of the arrays.

    Returns:
        Bound of the command towards the plane, and the barrier h [m/s].
    """
    i, sign = side
    return plane(c, own, (sign * own.motion.vel[i], sign * own.bias[i], own.doubt[i], sign * own.last[i]), gap_m, xp)


def plane(
    c: Constants, own: Predicted, along: tuple[Array, Array, Array, Array], gap_m: Array, xp: Library
) -> tuple[Bound, Array]:
    """`wall` for any number of planes at once; `along`: velocity, bias, its doubt, last command towards each."""
    (speed, bias, doubt, last), keep = along, _keep(c.keep, own, xp)
    clearance = gap_m - own.error_m - doubt * (c.horizon_s * c.horizon_s / 2)
    closing = speed + own.error_m_s + doubt * c.horizon_s
    value = braking_speed(c.slope_per_s, clearance, c.brake_m_s2, xp) - closing
    later = braking_speed(c.slope_per_s, clearance - closing * c.step_s, c.brake_m_s2, xp) - closing
    lost, most = c.accel_error_m_s2 + doubt + bias, (later - keep * value) / c.step_s
    more = xp.maximum(most, later / c.step_s) - lost - last  # nobody else uses up what is left
    most = xp.minimum(most - lost, last + xp.where(more > 0, more * c.sudden_share, more))
    return Bound(most, c.floor_m_s2 - lost), value


def far_from_wall(c: Constants, own: Predicted, gap_m: float, speed_m_s: float) -> bool:
    """Whether `wall` certainly allows the whole input box, at speeds up to twice the limit.

    With s(x) >= v + e + (M + w + a) / gain, M the largest acceleration with all bias: within one step s loses at most
    a T, because its slope is a / s and s >= v, so the bound is at least gain (s - e - v) - a - w >= M; and what is
    asked for beyond the last command fits as well (`constants`). Nothing is certain of a gain that the policy sets.
    """
    if own.keep is not None:
        return False
    worst = max(own.doubt)
    reach = c.clear_m_s + own.error_m_s + worst * c.horizon_s + (speed_m_s if speed_m_s > 0 else 0.0)
    clearance = gap_m - own.error_m - worst * c.horizon_s * c.horizon_s / 2
    return 2 * c.brake_m_s2 * clearance >= reach * reach + (c.brake_m_s2 / c.slope_per_s) ** 2


def speed_limit(c: Constants, own: Predicted, xp: Library) -> Row:
    """The row along the predicted velocity that keeps the speed below its limit."""
    speed, nx, ny, nz = direction(own.motion.vel, xp)
    # At 1 cm/s the unit vector is short by 5e-9.
    scale = 1 / xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    normal = nx * scale, ny * scale, nz * scale
    doubt = _along_axes((xp.abs(normal[0]), xp.abs(normal[1]), xp.abs(normal[2])), own.doubt)
    left = c.speed_m_s - own.error_m_s - doubt * c.horizon_s - speed
    return Row(normal, on_command(c, own, normal, (c.slope_per_s * left, left / c.step_s), xp), left, left)


def clip(c: Constants, bound: Bound, xp: Library) -> Array:
    """A right-hand side within what is useful.

    From above, where the row cannot bind inside the box. From below at what brakes along the row for sure: asking for
    more only loses the other rows.
    """
    return xp.minimum(xp.maximum(bound.most, bound.floor), c.loose_m_s2)
