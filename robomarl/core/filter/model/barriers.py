"""The rows of the filter: closed-form half-spaces on the acceleration, from sampled braking-distance barriers.

The barrier (after Wang, Ames, Egerstedt, T-RO 2017; `docs/safety.md` derives the form used here): with a
clearance x and a speed v towards the limit, h = s(x) - v >= 0, where s(x) is the speed from which x suffices
to brake. A row asks that h one period ahead is at least (1 - gain * period) h.

Components and `xp` are those of `motion`.
"""

from typing import NamedTuple

from robomarl.core.filter.model.constants import Constants
from robomarl.core.filter.model.motion import Library, Predicted, Vec3, direction
from robomarl.core.types import Array

SPECK = 1e-18
"""Small number added like `motion.TINY`, for lengths of about 1: a projection to 1e-9 needs unit
normals to 1e-15 if rows are almost parallel."""


class Bound(NamedTuple):
    """Right-hand side of a row on the command."""

    most: Array
    """Largest command [m/s^2] along the normal, not clipped yet."""
    floor: Array
    """Least bound that a row asks for [m/s^2]: with this command the vehicle brakes along the normal at
    `brake_m_s2`, for any bias within the doubt, and the input box has room for it."""


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
    """Return the speed s [m/s] from which a clearance x suffices to brake: sqrt(2 a x - (a/k)^2), and k x
    below x = a/k^2.

    The line replaces the root near 0, where the root's slope would turn noise into unbounded commands.
    Both meet with equal slope, so that following s never takes more than the deceleration a. The line
    goes on below x = 0: a robot that is too close retreats.
    """
    knee = brake_m_s2 / slope
    root = xp.sqrt(xp.maximum(2 * brake_m_s2 * clearance_m - knee * knee, 1e-9))
    return xp.where(clearance_m * slope < knee, slope * clearance_m, root)


def on_command(c: Constants, own: Predicted, normal: Vec3, allowed: tuple[Array, Array], xp: Library) -> Bound:
    """Return the bound on the command that corresponds to a row on the vehicle's actual acceleration.

    The effect of error and bias along the normal is taken off last, so that it never uses up the brake.
    An increase over the last command may take effect early, for the whole spread of the delay, so only
    a share of the increase is granted at once.

    Args:
        c: constants of the vehicle.
        own: predicted state; bias, doubt and last command are read.
        normal: normal of the row.
        allowed: right-hand side [m/s^2] with the gain that is meant, and with `SUDDEN_KEEP`.
        xp: library of the components.
    """
    (nx, ny, nz), (bx, by, bz), (lx, ly, lz) = normal, own.bias, own.last
    lost = c.accel_error_m_s2 + along_axes((xp.abs(nx), xp.abs(ny), xp.abs(nz)), own.doubt)
    return _granted(c, allowed, lost + nx * bx + ny * by + nz * bz, nx * lx + ny * ly + nz * lz, xp)


def _granted(c: Constants, allowed: tuple[Array, Array], lost: Array, last: Array, xp: Library) -> Bound:
    """Return the bound of `on_command`, given the effect of error and bias, and the last command, along the normal."""
    most, sudden = allowed
    more = xp.maximum(most, sudden) - lost - last
    most = xp.minimum(most - lost, last + xp.where(more > 0, more * c.sudden_share, more))
    return Bound(most, c.floor_m_s2 - lost)


def along_axes(sizes: Vec3, bounds: Vec3) -> Array:
    """Largest component along a direction, given the absolute values of its components, within bounds on the axes."""
    return sizes[0] * bounds[0] + sizes[1] * bounds[1] + sizes[2] * bounds[2]


def left_of(value: Array, least: float, asked: Array | None, xp: Library) -> Array:
    """Return the part of h that must be left after one step [m/s]: by the share `least`, or by the
    policy's if that is more.

    `least` is the share of the configured gain. Below 0 a larger share is less: there the configured
    gain says how fast the robot backs off.
    """
    return least * value if asked is None else xp.maximum(asked * value, least * value)


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
    unsure = own.unsure_m[i], own.unsure_m_s[i], own.doubt[i]
    toward = Toward(sign * own.motion.vel[i], sign * own.bias[i], sign * own.last[i], *unsure)
    return plane(c, toward, gap_m, xp)


class Toward(NamedTuple):
    """Components of `Predicted` that count towards a plane across an axis."""

    speed: Array
    bias: Array
    last: Array
    unsure_m: Array
    unsure_m_s: Array
    doubt: Array


def plane(c: Constants, toward: Toward, gap_m: Array, xp: Library) -> tuple[Bound, Array]:
    """`wall` for any number of planes at once."""
    speed, bias, last, unsure_m, unsure_m_s, doubt = toward
    clearance, closing = gap_m - c.own_error_m - unsure_m, speed + c.own_error_m_s + unsure_m_s
    value = braking_speed(c.slope_per_s, clearance, c.brake_m_s2, xp) - closing
    later = braking_speed(c.slope_per_s, clearance - closing * c.step_s, c.brake_m_s2, xp) - closing
    # Nobody else uses up what is left.
    allowed = (later - c.keep * value) / c.step_s, later / c.step_s
    return _granted(c, allowed, c.accel_error_m_s2 + doubt + bias, last, xp), value


def far_from_wall(c: Constants, own: Predicted, gap_m: float, speed_m_s: float) -> bool:
    """Return True if `wall` certainly allows the whole input box, at speeds up to twice the limit.

    With s(x) >= v + e + (M + w + a) / gain, M the largest acceleration with all bias: within one step s
    loses at most a T, because its slope is a / s and s >= v, so the bound is at least gain (s - e - v)
    - a - w >= M; and the increase over the last command fits as well (`constants`).
    """
    reach = c.clear_m_s + c.own_error_m_s + max(own.unsure_m_s) + (speed_m_s if speed_m_s > 0 else 0.0)
    clearance = gap_m - c.own_error_m - max(own.unsure_m)
    return 2 * c.brake_m_s2 * clearance >= reach * reach + (c.brake_m_s2 / c.slope_per_s) ** 2


def speed_limit(c: Constants, own: Predicted, xp: Library) -> Row:
    """The row along the predicted velocity that keeps the speed below its limit."""
    speed, nx, ny, nz = direction(own.motion.vel, xp)
    # At 1 cm/s the unit vector is short by 5e-9.
    scale = 1 / xp.sqrt(nx * nx + ny * ny + nz * nz + SPECK)
    normal = nx * scale, ny * scale, nz * scale
    unsure = along_axes((xp.abs(normal[0]), xp.abs(normal[1]), xp.abs(normal[2])), own.unsure_m_s)
    left = c.speed_m_s - c.own_error_m_s - unsure - speed
    return Row(normal, on_command(c, own, normal, (c.slope_per_s * left, left / c.step_s), xp), left, left)


def likely_speed_limit(c: Constants, own: Predicted, normal: Vec3, xp: Library) -> Array:
    """Return the largest command [m/s^2] along the normal of `speed_limit`, taking the predicted speed as exact.

    This is for a robot with infeasible rows: errors as large as half of the limit, which a slow vehicle
    may have, would leave it too slow to back off from bodies that come at it.
    """
    (nx, ny, nz), (vx, vy, vz) = normal, own.motion.vel
    left = c.speed_m_s - (nx * vx + ny * vy + nz * vz)
    return xp.maximum(*on_command(c, own, normal, (c.slope_per_s * left, left / c.step_s), xp))


def clip(c: Constants, bound: Bound, xp: Library) -> Array:
    """Return a right-hand side within the useful range.

    The upper limit is where the row cannot bind inside the box. The lower limit is the command that
    brakes along the row for sure: asking for more only loses other rows.
    """
    return xp.minimum(xp.maximum(bound.most, bound.floor), c.loose_m_s2)
