"""One step of recurrent cells, with weights as PyTorch has them: https://docs.pytorch.org/docs/stable/nn.html."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class CellWeights(NamedTuple):
    """Of one layer; G is 3 for a GRU (reset, update, new) and 4 for an LSTM (input, forget, cell, output)."""

    inputs: Any
    """[G H, I]"""
    hidden: Any
    """[G H, H]"""
    input_bias: Any
    """[G H]"""
    hidden_bias: Any
    """[G H]"""


def gru(w: CellWeights, x: Any, h: Any, reset_after: bool = True) -> Any:
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


def lstm(w: CellWeights, x: Any, h: Any, c: Any) -> tuple[Any, Any]:
    """(h', c') of an LSTM (https://doi.org/10.1162/neco.1997.9.8.1735); shapes as in `gru`."""
    gates = x @ w.inputs.T + w.input_bias + h @ w.hidden.T + w.hidden_bias
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell
