"""An actor in numpy and double precision, one decision after another: the reference for the JAX actor.

Only the weights are shared with the JAX half, so a fault in one half shows.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from robomarl.lab.foreign.layers import CellWeights

ERF = np.vectorize(math.erf, otypes=[float])


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x) that does not overflow."""
    return 0.5 * (1 + np.tanh(x / 2))


def elu(x: np.ndarray) -> np.ndarray:
    """https://arxiv.org/abs/1511.07289, with alpha = 1."""
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "elu": elu,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * elu(x)),
    "silu": lambda x: x * sigmoid(x),
    "gelu": lambda x: x * (1 + ERF(x / math.sqrt(2))) / 2,
    "softplus": lambda x: np.logaddexp(x, 0),
    "identity": lambda x: x,
}


def fly(network: Any, inputs: np.ndarray) -> np.ndarray:
    """Decisions of one robot in a row, from a memory of zeros.

    Args:
        network: an `ActorNetwork`.
        inputs: [T, I].

    Returns:
        [T, O].
    """
    hidden = [np.zeros(shape) for shape in network.memory]
    return np.stack([_decide(network, hidden, row) for row in inputs.astype(np.float64)])


def _decide(network: Any, hidden: list[np.ndarray], x: np.ndarray) -> np.ndarray:
    """One decision; writes the new memory into `hidden`."""
    activation = ACTIVATIONS[network.activation]
    if s := network.scaler:
        x = (x - s.mean) / (s.std.astype(np.float64) + s.epsilon)
        x = x if s.clip is None else np.clip(x, -s.clip, s.clip)
    for weight, bias in network.before:
        x = activation(weight.astype(np.float64) @ x + bias)
    for i, w in enumerate(network.cells):
        x = _gru(w, x, hidden, i) if network.cell == "gru" else _lstm(w, x, hidden, 2 * i)
    if network.norm is not None:
        scale, bias = network.norm
        x = (x - x.mean()) / np.sqrt(x.var() + 1e-5) * scale + bias
    for i, (weight, bias) in enumerate(network.dense):
        x = weight.astype(np.float64) @ x + bias
        x = activation(x) if i + 1 < len(network.dense) else x
    x = np.tanh(x) if network.squashed else x
    x = x * (1 if network.gain is None else network.gain) + (0 if network.offset is None else network.offset)
    return x if network.limits is None else np.clip(x, *network.limits)


def _gru(w: CellWeights, x: np.ndarray, hidden: list[np.ndarray], at: int) -> np.ndarray:
    """Gates: reset, update, new (https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html)."""
    h = hidden[at]
    a = np.split(w.inputs.astype(np.float64) @ x + w.input_bias, 3)
    b = np.split(w.hidden.astype(np.float64) @ h + w.hidden_bias, 3)
    reset, update = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    hidden[at] = (1 - update) * np.tanh(a[2] + reset * b[2]) + update * h
    return hidden[at]


def _lstm(w: CellWeights, x: np.ndarray, hidden: list[np.ndarray], at: int) -> np.ndarray:
    """Gates: input, forget, cell, output (https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html)."""
    h, c = hidden[at : at + 2]
    sums = w.inputs.astype(np.float64) @ x + w.input_bias + w.hidden.astype(np.float64) @ h + w.hidden_bias
    enter, forget, new, leave = np.split(sums, 4)
    c = sigmoid(forget) * c + sigmoid(enter) * np.tanh(new)
    hidden[at : at + 2] = sigmoid(leave) * np.tanh(c), c
    return hidden[at]
