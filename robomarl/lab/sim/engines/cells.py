"""The nearest robots of each robot, found by cells: cost and memory grow with the number of robots, not its square.

The plane is divided into squares as wide as the reach. Robots are sorted by a hash of their square, in which
three squares side by side are neighbours too, so that all robots within reach are in three runs of the sorted
order. A robot looks at the first `LOOKED_AT` of them, and the rest is counted.

For one team in JAX, [N]; `vmap_last` makes it many. On squares of equal hash that are far apart, distances decide.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from robomarl.core.vectors import Vec3
from robomarl.lab.sim.engines.compiler import settle

LOOKED_AT = 12
"""Robots that one robot looks at, itself included."""
SQUARES = 4
"""Hashes for each robot, at least. Few squares then have the hash of another."""
GOLDEN = 0.618
"""Rows of squares are this share of the hashes apart, so that three rows do not overlap."""


INSIDE = "promise_in_bounds"
"""All indices are; without a check they cost half."""


class Nearest(NamedTuple):
    """Robots that were found, the nearest first."""

    index: jax.Array
    """[N, K] int; the robot itself where there is none."""
    square: jax.Array
    """[N, K] square of the distance [m^2]; infinite where there is none."""
    missed: jax.Array
    """[N] int: robots in the squares around that were not looked at. 0: the result is that of all pairs."""

    @property
    def there(self) -> jax.Array:
        """[N, K] bool: this row is a robot."""
        return self.square < jnp.inf


class Runs(NamedTuple):
    """The robots in the nine squares around each robot, as three runs of the sorted order."""

    begin: tuple[jax.Array, ...]
    """[N] int each."""
    size: tuple[jax.Array, ...]
    """[N] int each."""


def nearest(pos: Vec3, reach_m: float, count: int) -> Nearest:
    """Return the `count` nearest robots within reach, by distance in space.

    Args:
        pos: [N] each [m].
        reach_m: width of a square; farther robots are not found.
        count: K, less than `LOOKED_AT`.
    """
    size = pos[0].shape[0]
    hashed, hashes = hash_of(pos, reach_m)
    bits = max(size - 1, 1).bit_length()
    ordered = settle((jnp.sort((hashed << bits) | jnp.arange(size, dtype=jnp.int32)),))[0]
    order = ordered & ((1 << bits) - 1)
    runs = Runs(*settle(tuple(runs_of(hashed, ordered >> bits, hashes))))
    me, held = jnp.arange(size, dtype=jnp.int32)[:, None], runs.size[0] + runs.size[1] + runs.size[2]
    other = settle((pick(order, settle((places(runs, size),))[0]),))[0]
    gaps = [pick(p, other) - p[:, None] for p in pos]
    square = sum(gap * gap for gap in gaps)
    looked_at = jnp.arange(LOOKED_AT) < held[:, None]
    close = looked_at & (other != me) & (square <= reach_m**2)
    chosen, least = least_of(settle((jnp.where(close, square, jnp.inf),))[0], other, count)
    return Nearest(jnp.where(least < jnp.inf, chosen, me), least, jnp.maximum(held - LOOKED_AT, 0))


def pick(rows: jax.Array, index: jax.Array) -> jax.Array:
    """Rows by indices that are in bounds, [M, ...] and [N, K] int -> [N, K, ...]."""
    return rows.at[index].get(mode=INSIDE)


def hash_of(pos: Vec3, reach_m: float) -> tuple[jax.Array, int]:
    """[N] int hash of each robot's square, and the number of hashes, a power of two."""
    hashes = SQUARES << (pos[0].shape[0] - 1).bit_length()
    column, row = (jnp.floor(p / reach_m).astype(jnp.int32) for p in pos[:2])
    return (row * apart(hashes) + column) & (hashes - 1), hashes


def apart(hashes: int) -> int:
    """How far the hashes of two rows are apart; odd, so that rows take turns with all hashes."""
    return int(GOLDEN * hashes) | 1


def runs_of(hashed: jax.Array, ordered: jax.Array, hashes: int) -> Runs:
    """The robots in the squares around each, from [N] hashes and the same in order.

    Begin and size of three squares side by side are one number, which is looked up at once.
    """
    size, bits = hashed.shape[0], hashed.shape[0].bit_length()
    of_one = settle((jnp.zeros(hashes, jnp.int32).at[hashed].add(1, mode=INSIDE),))[0]
    place = jnp.arange(size, dtype=jnp.int32)
    begin = settle((jnp.full(hashes, 2 * size, jnp.int32).at[ordered].min(place, mode=INSIDE),))[0]
    least, of_three, ends = begin, of_one, jnp.arange(hashes)
    for k in (1, 2):  # squares after the last hash are those of the first, one round later
        later = jnp.where(ends >= hashes - k, size, 0)
        least = jnp.minimum(least, jnp.roll(begin, -k) + later)
        of_three = of_three + jnp.roll(of_one, -k)
    both = settle(((least << bits) | of_three,))[0]
    found = [pick(both, (hashed + row * apart(hashes) - 1) & (hashes - 1)) for row in (-1, 0, 1)]
    return Runs(tuple(x >> bits for x in found), tuple(x & ((1 << bits) - 1) for x in found))


def places(runs: Runs, size: int) -> jax.Array:
    """[N, LOOKED_AT] places in the sorted order of the robots to look at; after the last one any."""
    slot = jnp.arange(LOOKED_AT, dtype=jnp.int32)
    (a, b, c), (first, second, _) = ([x[:, None] for x in part] for part in runs)
    place = jnp.where(slot < first, a + slot, b + slot - first)
    place = jnp.where(slot < first + second, place, c + slot - first - second)
    return place & (size - 1) if size & (size - 1) == 0 else jnp.remainder(place, size)


def least_of(square: jax.Array, index: jax.Array, count: int) -> tuple[jax.Array, jax.Array]:
    """Return the indices [N, K] of the least squares [N, M], and these, in order; of equal ones the least index.

    Numbers instead of integers, and one after another: `vmap_last` makes one loop of it.
    """
    number, found, least = index.astype(square.dtype), [], []
    for _ in range(count):
        smallest = square.min(-1)
        chosen = jnp.where(square == smallest[:, None], number, jnp.inf).min(-1)
        square = jnp.where(number == chosen[:, None], jnp.inf, square)
        found, least = [*found, chosen], [*least, smallest]
    return jnp.stack(found, -1).astype(jnp.int32), jnp.stack(least, -1)
