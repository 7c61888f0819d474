"""Layers of actors and critics: dense ones, attention over the robot's surroundings, and a recurrent unit."""

from collections.abc import Callable
from typing import NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp

ACTIVATIONS: dict[str, Callable] = {"tanh": nn.tanh, "elu": nn.elu, "relu": nn.relu}

CHUNK = 128
"""Rows that one block of a kernel's gradient sums over."""
NOBODY = -1e9
"""Score of an empty row."""


@jax.custom_vjp
def product(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """[..., I] times [I, O]. Its gradient is written for a CPU, where it was most of the time of a gradient step.

    The gradient of the kernel is a sum over all rows of a minibatch; as one matrix product XLA ran it at a
    fifth of the speed of the forward pass, in blocks of `CHUNK` rows, which stay in the cache, nearly twice as fast.
    """
    return x @ kernel


def _product_forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return x @ kernel, (x, kernel)


def _product_backward(kept: tuple[jax.Array, jax.Array], error: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, kernel = kept
    rows, errors = x.reshape(-1, x.shape[-1]), error.reshape(-1, error.shape[-1])
    chunk = CHUNK if rows.shape[0] % CHUNK == 0 and jax.default_backend() == "cpu" else rows.shape[0]
    blocks = (a.reshape(-1, chunk, a.shape[-1]) for a in (rows, errors))
    return error @ kernel.T, jnp.einsum("cmi,cmo->cio", *blocks).sum(0)


product.defvjp(_product_forward, _product_backward)


def dense(size: int, scale: float = 1.4) -> nn.Dense:
    """A dense layer with an orthogonal kernel."""
    kernel_init = nn.initializers.orthogonal(scale)
    return nn.Dense(size, kernel_init=kernel_init, dot_general=lambda x, kernel, *_, **__: product(x, kernel))


class MLP(nn.Module):
    """Dense layers; the last one has no activation and a kernel of its own scale."""

    sizes: tuple[int, ...]
    """Hidden widths and, last, the output's."""
    activation: str
    last_scale: float = 1.4

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[..., in] -> [..., sizes[-1]]."""
        for size in self.sizes[:-1]:
            x = ACTIVATIONS[self.activation](dense(size)(x))
        return dense(self.sizes[-1], self.last_scale)(x)


def normalized_layers(x: jax.Array, hidden: tuple[int, ...], outputs: int, activation: str) -> jax.Array:
    """Compute [..., in] -> [..., outputs], as part of the calling module: the layers that learn values of
    actions.

    Dense layers, each normalized (Ba et al., 2016), and a last one with outputs of almost zero at
    first.
    """
    for size in hidden:
        x = ACTIVATIONS[activation](nn.LayerNorm()(dense(size)(x)))
    return dense(outputs, 0.01)(x)


def outside(obs: jax.Array, blocks: tuple[tuple[int, int, int], ...]) -> jax.Array:
    """Return the elements of [..., O] that are in none of these blocks, (start, count, width) each, in their order."""
    cuts = [0, *(i for start, count, width in blocks for i in (start, start + count * width)), obs.shape[-1]]
    return jnp.concatenate([obs[..., a:b] for a, b in zip(cuts[::2], cuts[1::2], strict=True) if a < b], -1)


class EntityAttention(nn.Module):
    """Attention of the robot over the entities that it sees; their order does not matter.

    Additive attention (Bahdanau et al., 2015): each entity is scored together with everything that is not an
    entity. A row without an entity is a constant, which the score learns to ignore.
    """

    slices: tuple[tuple[int, int, int], ...]
    """(start, count, width) of each set of entities in the observation."""
    width: int
    activation: str

    @nn.compact
    def __call__(self, obs: jax.Array) -> jax.Array:
        """Compute [..., O] -> [..., features]: the elements that are no entity, and one summary for each set."""
        own = outside(obs, self.slices)
        parts = [own]
        for start, count, width in self.slices:
            rows = obs[..., start : start + count * width].reshape(*obs.shape[:-1], count, width)
            parts.append(self._summary(own, rows))
        return jnp.concatenate(parts, -1)

    def _summary(self, own: jax.Array, rows: jax.Array) -> jax.Array:
        seen = jnp.broadcast_to(own[..., None, :], (*rows.shape[:-1], own.shape[-1]))
        hidden = ACTIVATIONS[self.activation](dense(self.width)(jnp.concatenate([rows, seen], -1)))
        score = dense(1)(hidden)[..., 0]
        share = jax.nn.softmax(score, axis=-1)
        return (hidden * share[..., None]).sum(-2)


class MateSet(NamedTuple):
    """Blocks of the observation about one set of teammates, row by row."""

    blocks: tuple[tuple[int, int, int], ...]
    """(start, count, width) of each."""
    heard_at: int
    """Element of a row of the first block that is 1 if the row is occupied, else 0."""

    def presence(self) -> list[int]:
        """Return the places in the observation that show for each row if it is occupied."""
        start, count, width = self.blocks[0]
        return [start + i * width + self.heard_at for i in range(count)]

    def rows(self, obs: jax.Array) -> jax.Array:
        """[..., O] -> [..., count, widths of all blocks]."""
        each = [obs[..., at : at + count * width] for at, count, width in self.blocks]
        shapes = [(count, width) for _, count, width in self.blocks]
        return jnp.concatenate([x.reshape(*x.shape[:-1], *s) for x, s in zip(each, shapes, strict=True)], -1)


class GraphAttention(nn.Module):
    """Attention along the edges of the communication graph, as one robot computes it: its own edges.

    Scores of Brody, Alon, Yahav (ICLR 2022, equation 7) with several heads: of each teammate's row
    together with the robot's own features. An empty row has no weight: neither order nor number of rows
    matters. If all rows are empty, the summary is 0.
    """

    sets: tuple[MateSet, ...]
    width: int
    heads: int
    activation: str

    @nn.compact
    def __call__(self, obs: jax.Array) -> jax.Array:
        """Compute [..., O] -> [..., features]: the elements outside all sets, and a summary of each set, heads side
        by side.
        """
        blocks = tuple(block for group in self.sets for block in group.blocks)
        own = outside(obs, blocks)
        parts = [own]
        for group in self.sets:
            rows = group.rows(obs)
            parts.append(self._summary(own, rows, rows[..., group.heard_at] > 0.5))
        return jnp.concatenate(parts, -1)

    def _summary(self, own: jax.Array, rows: jax.Array, heard: jax.Array) -> jax.Array:
        seen = jnp.broadcast_to(own[..., None, :], (*rows.shape[:-1], own.shape[-1]))
        hidden = ACTIVATIONS[self.activation](dense(self.width)(jnp.concatenate([rows, seen], -1)))
        score = jnp.where(heard[..., None], dense(self.heads)(hidden), NOBODY)
        share = jax.nn.softmax(score, axis=-2) * heard[..., None].astype(rows.dtype)
        each = hidden.reshape(*hidden.shape[:-1], self.heads, self.width // self.heads)
        return (each * share[..., None]).sum(-3).reshape(*own.shape[:-1], self.width)


class Gru(nn.Module):
    """A gated recurrent unit (Cho et al., 2014). The terms driven by its input are computed for all times at once."""

    size: int

    @nn.compact
    def __call__(self, hidden: jax.Array, x: jax.Array, done: jax.Array | None = None) -> tuple[jax.Array, jax.Array]:
        """(hidden [..., H], x [..., F]) -> (hidden, hidden); or along a rollout, see `Actor`."""
        drive, size = dense(3 * self.size, 1.0)(x), self.size
        kernel = self.param("kernel", nn.initializers.orthogonal(), (size, 3 * size))
        bias = self.param("bias", nn.initializers.zeros, (size,))

        def step(hidden: jax.Array, drive: jax.Array) -> jax.Array:
            recall = hidden @ kernel
            gates = nn.sigmoid(drive[..., : 2 * size] + recall[..., : 2 * size])
            reset, keep = gates[..., :size], gates[..., size:]
            fresh = nn.tanh(drive[..., 2 * size :] + reset * (recall[..., 2 * size :] + bias))
            return (1 - keep) * fresh + keep * hidden

        def along(hidden: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            after = step(hidden, row[0])
            return after * (1 - row[1]).reshape(-1, *[1] * (after.ndim - 1)), after

        if done is None:
            hidden = step(hidden, drive)
            return hidden, hidden
        return jax.lax.scan(along, hidden, (drive, done))
