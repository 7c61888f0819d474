"""`Devices`: means, sums and rows of a batch whose environments are divided over devices.

Code that learns is written once. On one device every method returns what it is given, so that the
program is the one of before; on several it is called inside `jax.shard_map`, where each device has
its own part of the environments.
"""

from dataclasses import dataclass
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax

Tree = TypeVar("Tree")
AXIS = "devices"
"""Name of the mesh's axis."""


@dataclass(frozen=True)
class Devices:
    """Devices that have an equal part of the environments each."""

    count: int = 1

    @property
    def axis(self) -> str | None:
        """Name of the axis that sums run over; None for one device."""
        return AXIS if self.count > 1 else None

    def mean(self, tree: Tree) -> Tree:
        """The mean over devices of every array; of means over equal parts that is the mean of the whole."""
        return lax.pmean(tree, AXIS) if self.axis else tree

    def sum(self, tree: Tree) -> Tree:
        """The sum over devices of every array."""
        return lax.psum(tree, AXIS) if self.axis else tree

    def least(self, x: jax.Array) -> jax.Array:
        """The least over devices, element by element."""
        return lax.pmin(x, AXIS) if self.axis else x

    def greatest(self, x: jax.Array) -> jax.Array:
        """The greatest over devices, element by element."""
        return lax.pmax(x, AXIS) if self.axis else x

    def variance(self, x: jax.Array) -> jax.Array:
        """[] variance of all elements on all devices."""
        if self.axis is None:
            return jnp.var(x)
        return self.mean(((x - self.mean(x.mean())) ** 2).mean())

    def own(self, rows: jax.Array, axis: int = 0) -> jax.Array:
        """Return this device's part of rows that every device has."""
        if self.axis is None:
            return rows
        size = rows.shape[axis] // self.count
        return lax.dynamic_slice_in_dim(rows, lax.axis_index(AXIS) * size, size, axis)

    def gathered(self, tree: Tree) -> Tree:
        """All rows [B, ...] of arrays of which each device has a part, in the order of the environments."""
        return lax.all_gather(tree, AXIS, tiled=True) if self.axis else tree


ALONE = Devices()
