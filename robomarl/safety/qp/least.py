"""What to do where no command holds all rows: the one that breaks them least, within the input box.

Minimizes the sum of the squared violations by simultaneous projections (Cimmino's method; Censor and Elfving, 1982):
each round moves by the mean of what the violated rows ask for, which are as many as the sum of the violations is times
the largest. A fixed number of rounds, so that every backend does the same. Walls, the speed limit and what never moves
do not give way.
"""

from types import ModuleType

from robomarl.safety.qp.candidates import over
from robomarl.types import Array

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


def settled(u: Array, last: Array, share: float, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """A share of the way from the last command [3, ...] to the one found."""
    return inside(last + share * (u - last), box, xp)


def clear(u: Array, solid: Array, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """The command [3, ...] within the rows [m, 4, ...] of what never moves, one after the other: mates give way too.

    Component by component: with arrays [3, ...] XLA took twice as long to compile a filter with four obstacles.
    """
    parts, sides = tuple(u), tuple(zip(*box, strict=True))
    for *normal, bound in (*solid, *solid) if len(solid) else ():
        x, y, z = (n * part for n, part in zip(normal, parts, strict=True))
        more = xp.maximum(x + y + z - bound, 0.0)
        parts = tuple(inside(part - more * n, side, xp) for part, n, side in zip(parts, normal, sides, strict=True))
    return xp.stack(parts)


def slowly(u: Array, slow: Array, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """The command [3, ...] below the speed limit, half-space `slow` [4, ...]: the mates count on that."""
    return inside(u - xp.maximum(over(slow[None], u)[0], 0.0) * slow[:3], box, xp)
