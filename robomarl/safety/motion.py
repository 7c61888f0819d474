"""How the vehicle moves, as the filter sees it: prediction, drift, braking.

Every function here and in `barriers` takes vectors as tuples of components and the library `xp` that the
components are of: numpy or JAX arrays of any one shape (thousands of robots at once), or Python floats with
`Floats` (one robot, where numpy's overhead per call would cost more than the arithmetic). It is one
implementation for all three.
"""

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from robomarl.safety.constants import Constants
from robomarl.types import Array

Vec3 = Sequence[Array]
"""Three components."""

DRIFT_TIME_S = 1.0
"""Time constant of the drift estimate: slower than the vehicle's response, faster than batteries and wind."""
TINY = 1e-12
"""Added to squared lengths: no division by zero, no gradient without bound, no change to any real distance."""


class Floats:
    """The few functions that are needed, for Python floats."""

    sqrt = staticmethod(math.sqrt)
    maximum = staticmethod(max)
    minimum = staticmethod(min)
    abs = staticmethod(abs)

    @staticmethod
    def where(condition: bool, yes: float, no: float) -> float:
        """`yes` if the condition holds, else `no`."""
        return yes if condition else no


Library = ModuleType | type[Floats] | Any


class Motion(NamedTuple):
    """Position [m] and velocity [m/s] of a robot, world frame."""

    pos: Vec3
    vel: Vec3


class Predicted(NamedTuple):
    """The robot's state when the decision takes effect, and how wrong that can be."""

    motion: Motion
    error_m: Array
    error_m_s: Array
    keep: Array | None = None
    """Share of h that must be left after one step, where the policy sets it; None: as in `Constants`."""


def predict(c: Constants, own: Motion, commands: list[Vec3], drift: Vec3, xp: Library) -> Predicted:
    """The estimate, moved through the queued commands.

    Args:
        c: constants of the vehicle.
        own: the estimate at its stamp.
        commands: accelerations [m/s^2] that are still on their way, oldest first, as many as `c.queue` has.
        drift: acceleration beyond the command [m/s^2].
        xp: library of the components.
    """
    (px, py, pz), (vx, vy, vz), (ax, ay, az) = own.pos, own.vel, drift
    t, half = c.horizon_s, c.horizon_s * c.horizon_s / 2
    px, py, pz = px + vx * t + ax * half, py + vy * t + ay * half, pz + vz * t + az * half
    vx, vy, vz = vx + ax * t, vy + ay * t, vz + az * t
    error_m, error_m_s = px * 0.0 + c.own_error_m, px * 0.0 + c.own_error_m_s
    for command, speed, way, speed_doubt, way_doubt in zip(commands, *c.queue[:4], strict=True):
        ax, ay, az = command[0], command[1], command[2]
        px, py, pz = px + ax * way, py + ay * way, pz + az * way
        vx, vy, vz = vx + ax * speed, vy + ay * speed, vz + az * speed
        if speed_doubt or way_doubt:
            size = xp.sqrt(ax * ax + ay * ay + az * az + TINY)
            error_m, error_m_s = error_m + way_doubt * size, error_m_s + speed_doubt * size
    return Predicted(Motion((px, py, pz), (vx, vy, vz)), error_m, error_m_s)


def expected_velocity(c: Constants, own: Motion, commands: list[Vec3], drift: Vec3) -> Vec3:
    """What the next estimate should show [m/s]; `commands` ends with the new one."""
    t, (vx, vy, vz), (ax, ay, az) = c.period_s, own.vel, drift
    vx, vy, vz = vx + ax * t, vy + ay * t, vz + az * t
    for command, time in zip(commands, c.queue.next_s, strict=True):
        if time:
            vx, vy, vz = vx + command[0] * time, vy + command[1] * time, vz + command[2] * time
    return (vx, vy, vz)


def update_drift(c: Constants, drift: Array, unexpected_m_s: Array, xp: Library) -> Array:
    """One axis of the drift estimate [m/s^2]: it moves with the velocity that the last prediction missed."""
    return xp.minimum(xp.maximum(drift + unexpected_m_s / DRIFT_TIME_S, -c.drift_m_s2), c.drift_m_s2)


def brake(c: Constants, vel: Vec3, xp: Library) -> Vec3:
    """The fallback: acceleration [m/s^2] against the velocity, less close to rest so that it never reverses."""
    speed = direction(vel, xp)[0]
    rate = xp.minimum(c.brake_gain_per_s, c.demand_m_s2 / speed)
    return (-vel[0] * rate, -vel[1] * rate, -vel[2] * rate)


def stop_point(c: Constants, state: Motion, xp: Library) -> Vec3:
    """Where a vehicle that brakes from here on comes to rest: p + v |v| / (2 a) [m]."""
    time = direction(state.vel, xp)[0] / (2 * c.brake_m_s2)
    (px, py, pz), (vx, vy, vz) = state
    return (px + vx * time, py + vy * time, pz + vz * time)


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
