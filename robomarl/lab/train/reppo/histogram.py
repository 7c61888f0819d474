"""Values as histograms, HL-Gauss (Imani and White, ICML 2018; Farebrother et al., ICML 2024).

A value is encoded as the mass in each bin of a Gaussian about it, and a critic is fitted by the
cross-entropy. Bins go on beyond the support on both sides, by as much as the Gaussian reaches, so
that the mean is right up to the ends.
"""

import jax
import jax.numpy as jnp
from jax.scipy.special import erf

SPREAD = 0.75
"""Deviation of the Gaussian in bins (Farebrother et al., section 3.1)."""
MARGIN = 3
"""Bins beyond the support on each side: four deviations."""


def edges(support: float, bins: int) -> jax.Array:
    """[bins + 1] ends of the bins; the support is from -`support` to `support`, without the margins."""
    width = 2 * support / (bins - 2 * MARGIN)
    return (jnp.arange(bins + 1) - bins / 2) * width


def encode(value: jax.Array, support: float, bins: int) -> jax.Array:
    """[...] -> [..., bins] shares, which sum to 1: the Gaussian's mass in each bin. Outside, the end counts."""
    ends = edges(support, bins)
    deviation = SPREAD * (ends[1] - ends[0])
    below = erf((ends - jnp.clip(value, -support, support)[..., None]) / (2**0.5 * deviation))
    mass = below[..., 1:] - below[..., :-1]
    return mass / mass.sum(-1, keepdims=True)


def mean_of(logits: jax.Array, support: float, bins: int) -> jax.Array:
    """[..., bins] unnormalized logarithms of shares -> [...] mean."""
    ends = edges(support, bins)
    return jax.nn.softmax(logits) @ ((ends[1:] + ends[:-1]) / 2)


def cross_entropy(logits: jax.Array, shares: jax.Array) -> jax.Array:
    """Return the cross-entropy [...] of predicted logits to true shares, both [..., bins]."""
    return -(shares * jax.nn.log_softmax(logits)).sum(-1)
