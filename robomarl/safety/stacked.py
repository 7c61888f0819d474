"""Prediction, walls and box with vectors as one array [3, ...]: what `batch` computes in few large operations.

Every number is the one that `motion` and `barriers` find component by component; `weigh` says how sums over the queue
are made.
"""

from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np

from robomarl.safety import barriers
from robomarl.safety.bias import Bias
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


def predict(c: Constants, own: Motion, commands: Array, bias: Bias, xp: ModuleType, weigh: Weigh = weigh) -> Predicted:
    """`motion.predict`; `commands` [..., n, 3] are those that are still on their way, oldest first."""
    estimate = xp.moveaxis(bias.estimate_m_s2, -1, 0)
    pos, vel, acting = xp.stack(own.pos), xp.stack(own.vel), xp.moveaxis(commands, -1, 0)
    t, queue, none = c.horizon_s, c.queue, pos[0] * 0.0
    pos = weigh(pos + vel * t + estimate * (t * t / 2), acting, queue.way_s2)
    vel = weigh(vel + estimate * t, acting, queue.speed_s)
    x, y, z = acting[..., 1:] - acting[..., :-1]
    size = xp.sqrt(x * x + y * y + z * z + TINY)
    error_m = weigh(none + c.own_error_m, size, queue.way_doubt_s2[1:])
    error_m_s = weigh(none + c.own_error_m_s, size, queue.speed_doubt_s[1:])
    last = tuple(acting[..., -1]) if acting.shape[-1] else (none, none, none)
    learned = tuple(estimate), tuple(xp.moveaxis(bias.doubt_m_s2, -1, 0))
    return Predicted(Motion(tuple(pos), tuple(vel)), error_m, error_m_s, *learned, last)


def faces(c: Constants, own: Predicted, xp: ModuleType) -> barriers.Bound | None:
    """[6, ...] bounds of the command [m/s^2] towards each face of the arena, not clipped yet; None without an arena."""
    if c.arena is None:
        return None
    both = lambda v: xp.repeat(xp.stack(v), 2, 0)  # noqa: E731
    sign = along(_SIGN, own.error_m)
    ends = along(np.array(c.arena).T.ravel()[[1, 0, 3, 2, 5, 4]], own.error_m)
    toward = both(own.motion.vel) * sign, both(own.bias) * sign, both(own.doubt), both(own.last) * sign
    return barriers.plane(c, own, toward, (ends - both(own.motion.pos)) * sign, xp)[0]


def box(c: Constants, walls: barriers.Bound | None, zero: Array, xp: ModuleType) -> Array:
    """The input box, cut by the arena, as half-spaces [6, 4, ...]."""
    bound = along(np.array([x for low, high in zip(c.low, c.high, strict=True) for x in (high, -low)]), zero)
    return sides(bound + zero if walls is None else xp.minimum(bound, xp.maximum(walls.most, walls.floor)), xp)


def sides(bound: Array, xp: ModuleType) -> Array:
    """Bounds [6, ...] along the axes as half-spaces [6, 4, ...]."""
    normals = xp.broadcast_to(along(_NORMALS, bound[0]), (6, 3, *bound.shape[1:]))
    return xp.concatenate([xp.asarray(normals, bound.dtype), bound[:, None]], 1)


def overstepped(walls: barriers.Bound, u: Vec3, xp: ModuleType) -> Array:
    """By how much u breaks what the faces allow."""
    return (xp.repeat(xp.stack(u), 2, 0) * along(_SIGN, u[0]) - walls.most).max(0)


def along(values: np.ndarray, like: Array) -> np.ndarray:
    """Values [n, ...] before the axes of the problems, in their precision."""
    return values.astype(like.dtype).reshape(*values.shape, *[1] * like.ndim)
