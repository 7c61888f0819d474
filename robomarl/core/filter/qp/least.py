"""Command for infeasible rows: the one that violates them least, within the input box.

Minimizes the sum of the squared violations by simultaneous projections (Cimmino's method; Censor
and Elfving, 1982): each round moves by the mean demand of the violated rows. Their number is
counted as the sum of the violations over the largest. The number of rounds is fixed, so that every
backend gives equal results. Walls, the speed limit and obstacles that never move do not give way.
"""

from types import ModuleType

from robomarl.core.filter.qp.candidates import over
from robomarl.core.types import Array

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


def narrowed(inner: tuple[Array, Array], outer: tuple[Array, Array], xp: ModuleType) -> tuple[Array, Array]:
    """Lowest and highest command [3, ...] of the box `inner`, as far as they are in `outer`."""
    middle, apart = (inner[0] + inner[1]) / 2, inner[0] > inner[1]
    low, high = (inside(xp.where(apart, middle, side), outer, xp) for side in inner)
    return low, high


def between(sides: tuple[Array, Array], xp: ModuleType) -> tuple[Array, Array]:
    """Return the lowest and highest command [3, ...] of a box, or of the gap between its sides if they
    contradict each other."""
    return xp.minimum(*sides), xp.maximum(*sides)


def settled(u: Array, last: Array, share: float, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """A share of the way from the last command [3, ...] to the one found."""
    return inside(last + share * (u - last), box, xp)


def within(u: Array, row: Array, box: tuple[Array, Array], xp: ModuleType) -> Array:
    """Return the nearest command [3, ...] within one row [4, ...], in the box: the row of the speed limit,
    which mates count on, or of an obstacle that never moves."""
    return inside(u - xp.maximum(over(row[None], u)[0], 0.0) * row[:3], box, xp)
