"""Prediction, walls and box with vectors as one array [3, ...]: the computations of `decision` in few
large operations.

Every number is the one that `motion` and `barriers` find component by component; `weigh` says how
sums over the queue are made.
"""

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType

import numpy as np

from robomarl.core.filter.model import barriers
from robomarl.core.filter.model.bias import Bias
from robomarl.core.filter.model.constants import LARGE_M, Constants, Queue
from robomarl.core.filter.model.motion import Motion, Predicted, Vec3
from robomarl.core.types import Array

Weigh = Callable[[Array, Array, Sequence[float]], Array]
"""(start [...], values [..., n], n weights) -> start + values . weights."""

_SIGN = np.array([1.0, -1.0] * 3)
_TURNS = [1, 0, 3, 2, 5, 4]
_NORMALS = np.repeat(np.eye(3), 2, 0) * _SIGN[:, None]
"""[6, 3] outwards from the faces of a box: +x, -x, +y, -y, +z, -z, the order of everything that is [6, ...] here."""


def weigh(start: Array, values: Array, weights: Sequence[float]) -> Array:
    """Add the weighted values one at a time, so that the sum is equal to the last bit for any number of problems."""
    for i, weight in enumerate(weights):
        if weight:
            start = start + values[..., i] * weight
    return start


def predict(c: Constants, own: Motion, commands: Array, bias: Bias, xp: ModuleType, weigh: Weigh = weigh) -> Predicted:
    """`motion.predict`; `commands` [..., n, 3] are those that are still on their way, oldest first."""
    estimate, doubt = (xp.moveaxis(part, -1, 0) for part in (bias.estimate_m_s2, bias.doubt_m_s2))
    pos, vel, acting = xp.stack(own.pos), xp.stack(own.vel), xp.moveaxis(commands, -1, 0)
    t, queue = c.horizon_s, c.queue
    maybe = acting[..., _stretches(queue)]
    low, high = maybe.min(-1), maybe.max(-1)
    middle, open_to = (low + high) / 2, (high - low) / 2
    pos = weigh(pos + vel * t + estimate * (t * t / 2), middle, queue.way_s2)
    vel = weigh(vel + estimate * t, middle, queue.speed_s)
    unsure_m = weigh(doubt * (t * t / 2), open_to, queue.way_s2)
    unsure_m_s = weigh(doubt * t, open_to, queue.speed_s)
    last = acting[..., -1] if acting.shape[-1] else pos * 0.0
    known = (tuple(part) for part in (unsure_m, unsure_m_s, estimate, doubt, last))
    return Predicted(Motion(tuple(pos), tuple(vel)), *known)


@cache
def _stretches(queue: Queue) -> np.ndarray:
    """[stretches, widest] numbers of the commands that may be in force in each; the newest fills up."""
    widest = 1 + max((b - a for a, b in zip(queue.oldest, queue.newest, strict=True)), default=0)
    rows = [[min(a + k, b) for k in range(widest)] for a, b in zip(queue.oldest, queue.newest, strict=True)]
    return np.array(rows, np.uint32).reshape(-1, widest)  # JAX looks no sign up in these


def faces(c: Constants, own: Predicted, room: tuple[Vec3, Vec3] | None, xp: ModuleType) -> barriers.Bound | None:
    """[6, ...] bounds of the command [m/s^2] towards each face of a room, not clipped yet; None without one.

    `room`: lowest and highest corner; None: the arena, if there is one.
    """
    if room is None and c.arena is None:
        return None

    def both(v: Vec3) -> Array:
        return xp.repeat(xp.stack(v), 2, 0)

    sign = along(_SIGN, own.motion.pos[0])
    ends = _ends(room, xp) if room else along(np.array(c.arena).T.ravel()[_TURNS], own.motion.pos[0])
    unsure = both(own.unsure_m), both(own.unsure_m_s), both(own.doubt)
    toward = barriers.Toward(both(own.motion.vel) * sign, both(own.bias) * sign, both(own.last) * sign, *unsure)
    bound = barriers.plane(c, toward, (ends - both(own.motion.pos)) * sign, xp)[0]
    # Where there is no side none binds, not even at no gain.
    open_ = xp.abs(ends) >= LARGE_M
    return bound._replace(most=xp.where(open_, xp.inf, bound.most))


def _ends(room: tuple[Vec3, Vec3], xp: ModuleType) -> Array:
    low, high = room
    return xp.stack([side for pair in zip(high, low, strict=True) for side in pair])


def box(c: Constants, walls: barriers.Bound | None, zero: Array, xp: ModuleType) -> Array:
    """The input box, cut by the arena, as half-spaces [6, 4, ...]."""
    bound = along(np.array([x for low, high in zip(c.low, c.high, strict=True) for x in (high, -low)]), zero)
    return sides(bound + zero if walls is None else xp.minimum(bound, xp.maximum(walls.most, walls.floor)), xp)


def sides(bound: Array, xp: ModuleType) -> Array:
    """Bounds [6, ...] along the axes as half-spaces [6, 4, ...]."""
    normals = xp.broadcast_to(along(_NORMALS, bound[0]), (6, 3, *bound.shape[1:]))
    return xp.concatenate([xp.asarray(normals, bound.dtype), bound[:, None]], 1)


def overstepped(walls: barriers.Bound, u: Vec3, xp: ModuleType) -> Array:
    """Return the amount by which u exceeds the bounds of the faces."""
    return (xp.repeat(xp.stack(u), 2, 0) * along(_SIGN, u[0]) - walls.most).max(0)


def along(values: np.ndarray, like: Array) -> np.ndarray:
    """Values [n, ...] before the axes of the problems, in their precision."""
    return values.astype(like.dtype).reshape(*values.shape, *[1] * like.ndim)
