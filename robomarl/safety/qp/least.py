"""What to do where no command holds all rows: the one that breaks them least, within the input box.

Minimizes the sum of the squared violations by simultaneous projections (Cimmino's method; Censor and Elfving, 1982):
each round moves by the mean of what the violated rows ask for, which are as many as the sum of the violations is times
the largest. A fixed number of rounds, so that every backend does the same. Walls and the speed limit do not give way.
"""

from collections.abc import Sequence
from types import ModuleType

from robomarl.safety.model.motion import Vec3
from robomarl.safety.qp.candidates import over
from robomarl.types import Array

Half = tuple[float, float, float, float]
"""Unit normal and right-hand side of a half-space."""
ROUNDS = 16
TINY = 1e-12
"""Violations that sum up to less are none."""


def toward_least(rows: Array, u: Array, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """One round.

    Args:
        rows: [m, 4, ...] unit normals and right-hand sides.
        u: [3, ...] the command.
        box: lowest and highest command [3, ...]; walls are in it, they do not give way.
        xp: numpy or jax.numpy.
    """
    excess = xp.maximum(over(rows, u), 0.0)
    share = excess.max(0) / xp.maximum(excess.sum(0), TINY)
    step = (excess[:, None] * rows[:, :3]).sum(0) * share
    return inside(u - step, box, xp)


def inside(u: Array, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """The nearest command in the box; in the middle of sides that ask for more than each other leaves."""
    low, high = box
    middle = (low + high) / 2
    apart = low > high
    return xp.minimum(xp.maximum(u, xp.where(apart, middle, low)), xp.where(apart, middle, high))


def slowly(u: Array, slow: Array, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """The command [3, ...] below the speed limit, half-space `slow` [4, ...]: the mates count on that."""
    return inside(u - xp.maximum(over(slow[None], u)[0], 0.0) * slow[:3], box, xp)


def least_violation(rows: list[Half], u: Vec3, box: tuple[Sequence[float], Sequence[float]], slow: Half) -> Vec3:
    """All rounds for one robot, in Python floats, and `slowly`; none is left to do from where one changes nothing.

    Args:
        rows: unit normals and right-hand sides.
        u: the command to begin with.
        box: lowest and highest command.
        slow: the speed limit.
    """
    low, high = zip(*(_in_order(a, b) for a, b in zip(*box, strict=True)), strict=True)
    u = (_within(u[0], low[0], high[0]), _within(u[1], low[1], high[1]), _within(u[2], low[2], high[2]))
    for _ in range(ROUNDS):
        (x, y, z), sx, sy, sz, most, total = u, 0.0, 0.0, 0.0, 0.0, 0.0
        for nx, ny, nz, bound in rows:
            excess = nx * x + ny * y + nz * z - bound
            if excess > 0.0:
                sx, sy, sz, total = sx + excess * nx, sy + excess * ny, sz + excess * nz, total + excess
                most = excess if excess > most else most
        share, before = most / (total if total > TINY else TINY), u
        u = (
            _within(x - sx * share, low[0], high[0]),
            _within(y - sy * share, low[1], high[1]),
            _within(z - sz * share, low[2], high[2]),
        )
        if u == before:
            break
    over = max(slow[0] * u[0] + slow[1] * u[1] + slow[2] * u[2] - slow[3], 0.0)
    x, y, z = (_within(a - over * n, *ends) for a, n, *ends in zip(u, slow, low, high, strict=False))
    return (x, y, z)


def _in_order(low: float, high: float) -> tuple[float, float]:
    """Two sides; in the middle where they ask for more than each other leaves."""
    return (low, high) if low <= high else ((low + high) / 2, (low + high) / 2)


def _within(x: float, low: float, high: float) -> float:
    return low if x < low else high if x > high else x
