"""`ActorNetwork`: the layers of an actor from a state dict, in JAX, and in numpy for comparison."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.types import Array
from robomarl.lab.foreign.checkpoint import numpy_layers
from robomarl.lab.foreign.layers import CellWeights, gru, layer_norm, lstm
from robomarl.lab.foreign.policy import ForeignPolicy, Memory

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "elu": jax.nn.elu,
    "relu": lambda x: jnp.maximum(x, 0),
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "leaky_relu": lambda x: jnp.where(x >= 0, x, 0.01 * x),
    "selu": jax.nn.selu,
    "silu": jax.nn.silu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "softplus": lambda x: jnp.maximum(x, 0) + jnp.log1p(jnp.exp(-jnp.abs(x))),
    "identity": lambda x: x,
}
Dense = tuple[np.ndarray, np.ndarray]
"""Weights [out, in] and biases [out] of a layer."""


@dataclass(frozen=True)
class Scaler:
    """Normalizer of the framework: (x - mean) / (std + epsilon), then clipped."""

    mean: np.ndarray
    std: np.ndarray
    epsilon: float
    clip: float | None


@dataclass(frozen=True)
class ActorNetwork:
    """Actor: normalizer, recurrent layers, dense layers, and the processing behind the last layer."""

    scaler: Scaler | None
    cell: str
    """"gru", "lstm" or "" for a feed-forward one."""
    cells: tuple[CellWeights, ...]
    dense: tuple[Dense, ...]
    activation: str
    squashed: bool = False
    """True if tanh is behind the last layer, as in actors of SAC and TD3."""
    gain: np.ndarray | None = None
    """Factor on the output, behind tanh."""
    offset: np.ndarray | None = None
    """Summand of the output, behind `gain`."""
    before: tuple[Dense, ...] = ()
    """Dense layers before the recurrent ones, each with the activation behind it."""
    norm: Dense | None = None
    """Scale and bias of a layer normalization behind the recurrent layers."""
    limits: tuple[np.ndarray, np.ndarray] | None = None
    """Least and largest action [A], which the trainer clips to."""

    @property
    def num_inputs(self) -> int:
        """Length of the observation."""
        if self.cells and not self.before:
            return self.cells[0].inputs.shape[1]
        return (self.before or self.dense)[0][0].shape[1]

    @property
    def memory(self) -> tuple[tuple[int, ...], ...]:
        """Shapes: for each recurrent layer the hidden state, and for an LSTM the cell."""
        arrays = 2 if self.cell == "lstm" else 1
        return tuple((c.hidden.shape[1],) for c in self.cells for _ in range(arrays))

    def apply(self, memory: Memory, x: Array) -> tuple[Memory, Array]:
        """See `ForeignPolicy.apply`."""
        if s := self.scaler:
            x = (x - s.mean) / (s.std + np.float32(s.epsilon))
            x = x if s.clip is None else jnp.clip(x, -s.clip, s.clip)
        x, activation = jnp.reshape(x, (1, -1)), ACTIVATIONS[self.activation]  # a row: products are of matrices
        for weight, bias in self.before:
            x = activation(x @ weight.T + bias)
        after, x = self._recurrent(memory, x)
        x = x if self.norm is None else layer_norm(x, 1, *self.norm)
        for i, (weight, bias) in enumerate(self.dense):
            x = x @ weight.T + bias
            x = activation(x) if i + 1 < len(self.dense) else x
        return after, self._finish(x)[0]

    def _recurrent(self, memory: Memory, x: Array) -> tuple[Memory, Array]:
        after = []
        for i, weights in enumerate(self.cells):
            if self.cell == "gru":
                x = gru(weights, x, memory[i][None])
                after.append(x[0])
            else:
                x, c = lstm(weights, x, memory[2 * i][None], memory[2 * i + 1][None])
                after += [x[0], c[0]]
        return tuple(after), x

    def _finish(self, x: Array) -> Array:
        x = jnp.tanh(x) if self.squashed else x
        x = x if self.gain is None else x * self.gain
        x = x if self.offset is None else x + self.offset
        return x if self.limits is None else jnp.clip(x, *self.limits)


def as_policy(network: ActorNetwork, layout: str) -> ForeignPolicy:
    """Return the network as a policy, with equal layers in numpy and double precision as its reference."""
    return ForeignPolicy(
        framework=f"numpy {np.__version__}, layout of {layout}",
        memory=network.memory,
        apply=network.apply,
        reference=lambda inputs: numpy_layers.fly(network, inputs),
        num_inputs=network.num_inputs,
        normalized=network.scaler is not None,
    )
