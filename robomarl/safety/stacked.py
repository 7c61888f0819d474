"""Prediction, walls and box with vectors as one array [3, ...]: what `batch` computes in few large operations.

Every number is the one that `motion` and `barriers` find component by component; `weigh` says how sums over the queue
are made.
"""

from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np

from robomarl.safety import barriers
from robomarl.safety.constants import Constants
from robomarl.safety.motion import TINY, Motion, Predicted, Vec3
from robomarl.types import Array

Weigh = Callable[[Array, Array, Sequence[float]], Array]
"""(start [...], values [..., n], n weights) -> start + values . weights."""

_SIGN = np.array([1.0, -1.0] * 3)
_NORMALS = np.repeat(np.eye(3), 2, 0) * _SIGN[:, None]
"""[6, 3] outwards from the faces of a box: +x, -x, +y, -y, +z, -z, the order of everything that is [6, ...] here."""


def weigh(start: Array, values: Array, weights: Sequence[float]) -> Array:
    """One after the other, so that the sum is the same to the last bit however many problems there are."""
    for i, weight in enumerate(weights):
        if weight:
            start = start + values[..., i] * weight
    return start


def predict(c: Constants, own: Motion, commands: Array, drift: Vec3, xp: ModuleType, weigh: Weigh = weigh) -> Predicted:
    """`motion.predict`; `commands` [..., n, 3] are those that are still on their way, oldest first."""
    pos, vel, accel = (xp.stack(v) for v in (*own, drift))
    acting, t, queue = xp.moveaxis(commands, -1, 0), c.horizon_s, c.queue
    pos = weigh(pos + vel * t + accel * (t * t / 2), acting, queue.way_s2)
    vel = weigh(vel + accel * t, acting, queue.speed_s)
    x, y, z = acting
    size, none = xp.sqrt(x * x + y * y + z * z + TINY), pos[0] * 0.0
    error_m = weigh(none + c.own_error_m, size, queue.way_doubt_s2)
    error_m_s = weigh(none + c.own_error_m_s, size, queue.speed_doubt_s)
    return Predicted(Motion(tuple(pos), tuple(vel)), error_m, error_m_s)


def expected_velocity(c: Constants, own: Motion, commands: Array, drift: Vec3, xp: ModuleType, weigh: Weigh) -> Array:
    """`motion.expected_velocity`, [..., 3]; `commands` [..., n + 1, 3] end with the new one."""
    vel = xp.stack(own.vel, -1) + xp.stack(drift, -1) * c.period_s
    return weigh(vel, xp.moveaxis(commands, -2, -1), c.queue.next_s)


def faces(c: Constants, own: Predicted, drift: Vec3, xp: ModuleType) -> Array | None:
    """[6, ...] largest command [m/s^2] towards each face of the arena, not clipped yet; None without an arena."""
    if c.arena is None:
        return None
    pos, vel, sign = xp.stack(own.motion.pos), xp.stack(own.motion.vel), _along(_SIGN, own.error_m)
    ends = _along(np.array(c.arena).T.ravel()[[1, 0, 3, 2, 5, 4]], own.error_m)
    allowed, _ = barriers.wall(c, own, (ends - xp.repeat(pos, 2, 0)) * sign, xp.repeat(vel, 2, 0) * sign, xp)
    return allowed - xp.repeat(xp.stack(drift), 2, 0) * sign


def box(c: Constants, allowed: Array | None, zero: Array, xp: ModuleType) -> Array:
    """The input box, cut by the arena, as half-spaces [6, 4, ...]."""
    bound = _along(np.array([x for low, high in zip(c.low, c.high, strict=True) for x in (high, -low)]), zero)
    bound = bound + zero if allowed is None else xp.minimum(bound, xp.maximum(allowed, -c.demand_m_s2))
    normals = xp.broadcast_to(_along(_NORMALS, zero), (6, 3, *zero.shape))
    return xp.concatenate([xp.asarray(normals, zero.dtype), bound[:, None]], 1)


def overstepped(allowed: Array, u: Vec3, xp: ModuleType) -> Array:
    """By how much u breaks what the faces allow."""
    return (xp.repeat(xp.stack(u), 2, 0) * _along(_SIGN, u[0]) - allowed).max(0)


def _along(values: np.ndarray, like: Array) -> np.ndarray:
    """Values [n, ...] before the axes of the problems, in their precision."""
    return values.astype(like.dtype).reshape(*values.shape, *[1] * like.ndim)
