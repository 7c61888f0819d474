"""Randomness of the steps within an episode: a hash of the episode's seed and a counter.

JAX's own generator, called once per environment inside `vmap`, cost a fifth of a whole environment step on a CPU.
Resets still use it; this hash only makes noise.
"""

import jax
import jax.numpy as jnp

GOLDEN = 0x9E3779B9
"""2^32 over the golden ratio: consecutive counters fall far apart."""


def seed_words(key: jax.Array) -> jax.Array:
    """Return [2] uint32 from a JAX key, the seed of `uniform`."""
    return jax.random.bits(key, (2,))


def uniform(words: jax.Array, step: jax.Array, rows: int, columns: int) -> jax.Array:
    """[rows, columns] uniform draws in [0, 1), independent for every step of an episode.

    Args:
        words: [2] uint32 of `seed_words`.
        step: [] int, decisions since the start.
        rows: robots.
        columns: draws of each.
    """
    size = rows * columns
    counter = jnp.arange(size, dtype=jnp.uint32) + step.astype(jnp.uint32) * jnp.uint32(size)
    mixed = _mix(_mix(counter * jnp.uint32(GOLDEN) + words[0]) ^ words[1])
    return (mixed >> 8).astype(jnp.float32).reshape(rows, columns) * (1 / (1 << 24))


def _mix(x: jax.Array) -> jax.Array:
    """The integer hash `lowbias32` (C. Wellons, Prospecting for hash functions, 2018)."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)
