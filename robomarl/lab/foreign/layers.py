"""Layers that PyTorch and ONNX have alike, in JAX; weights of recurrent cells as PyTorch has them.

See https://docs.pytorch.org/docs/stable/nn.html.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.types import Array


class CellWeights(NamedTuple):
    """Weights of one recurrent layer; G is 3 for a GRU (reset, update, new) and 4 for an LSTM (input, forget, cell,
    output).
    """

    inputs: Array
    """[G H, I]"""
    hidden: Array
    """[G H, H]"""
    input_bias: Array
    """[G H]"""
    hidden_bias: Array
    """[G H]"""


def gru(w: CellWeights, x: Array, h: Array, reset_after: bool = True) -> Array:
    """h' of a GRU (https://arxiv.org/abs/1406.1078).

    Args:
        w: the weights.
        x: [..., I].
        h: [..., H].
        reset_after: the reset gate is behind the product with the hidden state, as PyTorch and cuDNN have it.
    """
    size = np.shape(w.hidden)[1]
    a, b = x @ w.inputs.T + w.input_bias, h @ w.hidden.T + w.hidden_bias
    r = jax.nn.sigmoid(a[..., :size] + b[..., :size])
    z = jax.nn.sigmoid(a[..., size : 2 * size] + b[..., size : 2 * size])
    if reset_after:
        back = r * b[..., 2 * size :]
    else:
        back = (r * h) @ w.hidden[2 * size :].T + w.hidden_bias[2 * size :]
    n = jnp.tanh(a[..., 2 * size :] + back)
    return (1 - z) * n + z * h


def lstm(w: CellWeights, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """(h', c') of an LSTM (https://doi.org/10.1162/neco.1997.9.8.1735); shapes as in `gru`."""
    gates = x @ w.inputs.T + w.input_bias + h @ w.hidden.T + w.hidden_bias
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell


def clamp(x: Array, low: Array = None, high: Array = None) -> Array:
    """Within the limits that there are."""
    x = x if low is None else jnp.maximum(x, low)
    return x if high is None else jnp.minimum(x, high)


def gelu(x: Array, approximate: Array = "none") -> Array:
    """Compute https://arxiv.org/abs/1606.08415, exactly or by the hyperbolic tangent ("tanh"); ONNX passes the name
    as bytes.
    """
    return jax.nn.gelu(x, approximate=approximate in ("tanh", b"tanh"))


def layer_norm(x: Array, axes: int, weight: Array = None, bias: Array = None, eps: float = 1e-5) -> Array:
    """Over the last axes, as many as are said (https://arxiv.org/abs/1607.06450)."""
    last = tuple(range(x.ndim - axes, x.ndim))
    middle = x - x.mean(last, keepdims=True)
    out = middle / jnp.sqrt((middle * middle).mean(last, keepdims=True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def softplus(x: Array) -> Array:
    """log(1 + e^x) that does not overflow."""
    return jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x)))
