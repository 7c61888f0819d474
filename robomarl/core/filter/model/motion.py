"""Motion of the vehicle in the filter's model: prediction, braking, plan.

Every function here and in `barriers` but `predict` takes vectors as tuples of components and the
library `xp` that the components are of: numpy or JAX arrays of any one shape (thousands of robots
at once), or Python floats with `Floats` (one robot, where numpy's overhead per call would cost more
than the arithmetic). It is one implementation for all three. `predict` is for one robot;
`stacked.predict` is its equal for many.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from robomarl.core.filter.model.constants import Constants
from robomarl.core.types import Array

Vec3 = Sequence[Array]
"""Three components."""

AT_REST_M_S = 1e-3
"""Slower than this a plan's velocity has no direction."""
TINY = 1e-12
"""Added to squared lengths: no division by zero, no gradient without bound, no change to any real distance."""


class Floats:
    """The few functions that are needed, for Python floats."""

    sqrt = staticmethod(math.sqrt)
    exp = staticmethod(math.exp)
    maximum = staticmethod(max)
    minimum = staticmethod(min)
    abs = staticmethod(abs)

    @staticmethod
    def where(condition: bool, yes: float, no: float) -> float:
        """`yes` if the condition holds, else `no`."""
        return yes if condition else no


Library = ModuleType | type[Floats]


class Motion(NamedTuple):
    """Position [m] and velocity [m/s] of a robot, world frame."""

    pos: Vec3
    vel: Vec3


NOWHERE = (0.0, 0.0, 0.0)


class Predicted(NamedTuple):
    """The robot's state when the decision has taken effect for sure, and how wrong that can be."""

    motion: Motion
    unsure_m: Vec3
    """Bound of the position's error along each axis from the unknown bias and delay; on top of
    `Constants.own_error_m` in any direction."""
    unsure_m_s: Vec3
    """Bound of the velocity's error along each axis from the unknown bias and delay."""
    bias: Vec3 = NOWHERE
    """Estimate of the bias [m/s^2]."""
    doubt: Vec3 = NOWHERE
    """Bound of its error along each axis."""
    last: Vec3 = NOWHERE
    """The last command [m/s^2], in force until the new one is."""
    keep: Array | None = None
    """Share of h to a mate that must be left after one step, where the policy sets it; None: as in `Constants`."""
    room: tuple[Vec3, Vec3] | None = None
    """Lowest and highest corner that it must stay within; None: the arena of `Constants`, if there is one."""


def predict(c: Constants, own: Motion, commands: list[Vec3], bias: tuple[Vec3, Vec3]) -> Predicted:
    """Return one robot's estimate, moved through the queued commands.

    At any time the acceleration on an axis is between the least and the largest of the commands that
    may be in force.

    Args:
        c: constants of the vehicle.
        own: the estimate at its stamp.
        commands: accelerations [m/s^2] that are still on their way, oldest first, `c.num_acting` in
            number.
        bias: estimate of the bias and bound of its error [m/s^2].
    """
    t, half = c.horizon_s, c.horizon_s * c.horizon_s / 2
    found: list[tuple[Array, Array, Array, Array]] = []
    for i, (x, v, a, doubt) in enumerate(zip(*own, *bias, strict=True)):
        asked = [command[i] for command in commands]
        x, v, unsure, unsure_m_s = x + v * t + a * half, v + a * t, doubt * half, doubt * t
        for oldest, newest, speed, way in zip(*c.queue, strict=True):
            low = high = asked[newest]
            if newest > oldest:
                part = asked[oldest : newest + 1]
                low, high = min(part), max(part)
            middle, open_to = (low + high) / 2, (high - low) / 2
            x, v = x + middle * way, v + middle * speed
            unsure, unsure_m_s = unsure + open_to * way, unsure_m_s + open_to * speed
        found.append((x, v, unsure, unsure_m_s))
    pos, vel, unsure_m, unsure_m_s = zip(*found, strict=True)
    last = commands[-1][:3] if commands else NOWHERE
    return Predicted(Motion(pos, vel), unsure_m, unsure_m_s, *bias, last)


def brake(c: Constants, own: Predicted, xp: Library) -> Vec3:
    """Return the fallback: the command [m/s^2] that brakes along the velocity at `brake_m_s2` for any bias.

    Close to rest it brakes less, so that it never reverses. The input box holds it.
    """
    (vx, vy, vz), (bx, by, bz), (ex, ey, ez) = own.motion.vel, own.bias, own.doubt
    speed, nx, ny, nz = direction(own.motion.vel, xp)
    doubt = xp.abs(nx) * ex + xp.abs(ny) * ey + xp.abs(nz) * ez
    rate = xp.minimum(c.brake_gain_per_s, (c.brake_m_s2 + c.accel_error_m_s2 + doubt) / speed)
    return (-vx * rate - bx, -vy * rate - by, -vz * rate - bz)


def committed(c: Constants, own: Predicted, accel: Vec3, xp: Library) -> tuple[Motion, Vec3]:
    """Return the plan: the state one period after the decision's effect, and where the vehicle comes to
    rest at the latest.

    The state is in the middle of the range that the delay allows. The stop point is farther than the
    braking distance from there, by all that the delay may add, so a receiver needs no queue of commands
    to know it.

    Args:
        c: constants of the vehicle.
        own: predicted state.
        accel: the new command [m/s^2].
        xp: library of the components.
    """
    (ux, uy, uz), (bx, by, bz), (lx, ly, lz), half, way = accel, own.bias, own.last, c.half_s, c.half_way_s2
    (px, py, pz), (vx, vy, vz) = advance(c, own.motion, (ux + bx, uy + by, uz + bz))
    dx, dy, dz = ux - lx, uy - ly, uz - lz
    px, py, pz, vx, vy, vz = px + way * dx, py + way * dy, pz + way * dz, vx + half * dx, vy + half * dy, vz + half * dz
    size = xp.sqrt(dx * dx + dy * dy + dz * dz + TINY)
    delayed_m, delayed_m_s = _delayed(c, own, xp)
    faster, farther = delayed_m_s + half * size, delayed_m + delayed_m_s * c.period_s + way * size
    speed, nx, ny, nz = direction((vx, vy, vz), xp)
    # At rest any direction will do: what counts is how far it is.
    still = speed < AT_REST_M_S
    nx, ny, nz = xp.where(still, 1.0, nx), xp.where(still, 0.0, ny), xp.where(still, 0.0, nz)
    reach = (speed * speed + faster * (2 * (speed + c.own_error_m_s) + faster)) / (2 * c.brake_m_s2) + farther
    after = Motion((px, py, pz), (vx, vy, vz))
    return after, (px + nx * reach, py + ny * reach, pz + nz * reach)


def _delayed(c: Constants, own: Predicted, xp: Library) -> tuple[Array, Array]:
    """Return the error bounds of position and velocity in any direction from the unknown delay."""
    t = c.horizon_s
    found: list[Array] = []
    for unsure, share in ((own.unsure_m, t * t / 2), (own.unsure_m_s, t)):
        x, y, z = (a - doubt * share for a, doubt in zip(unsure, own.doubt, strict=True))
        found.append(xp.sqrt(x * x + y * y + z * z + TINY))
    return found[0], found[1]


def advance(c: Constants, state: Motion, accel: Vec3) -> Motion:
    """A state one period later, under a constant acceleration [m/s^2]."""
    (px, py, pz), (vx, vy, vz) = state
    ax, ay, az = accel
    t, half = c.period_s, c.period_s * c.period_s / 2
    pos = (px + vx * t + ax * half, py + vy * t + ay * half, pz + vz * t + az * half)
    return Motion(pos, (vx + ax * t, vy + ay * t, vz + az * t))


def direction(vector: Vec3, xp: Library) -> tuple[Array, Array, Array, Array]:
    """Length and unit vector; the zero vector has no direction, and a length of 1e-6."""
    x, y, z = vector
    length = xp.sqrt(x * x + y * y + z * z + TINY)
    scale = 1 / length
    return length, x * scale, y * scale, z * scale
