"""`ActorNetwork`: the layers of an actor out of a state dict, in JAX, and the same in PyTorch to compare with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.policies.foreign.layers import CellWeights, gru, lstm
from robomarl.policies.foreign.policy import ForeignPolicy, Memory
from robomarl.policies.foreign.pytorch import pytorch

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
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


@dataclass(frozen=True)
class Scaler:
    """(x - mean) / (std + epsilon), then clipped: what the framework's normalizer does."""

    mean: np.ndarray
    std: np.ndarray
    epsilon: float
    clip: float | None


@dataclass(frozen=True)
class ActorNetwork:
    """An actor: normalizer, recurrent layers, dense layers, and what is behind the last."""

    scaler: Scaler | None
    cell: str
    """"gru", "lstm" or "" for a feed-forward one."""
    cells: tuple[CellWeights, ...]
    dense: tuple[tuple[np.ndarray, np.ndarray], ...]
    """Weights [out, in] and biases [out]."""
    activation: str
    squashed: bool = False
    """tanh behind the last layer, as in actors of SAC and TD3 ..."""
    gain: np.ndarray | None = None
    """... and what it is multiplied with ..."""
    offset: np.ndarray | None = None
    """... and what is added then."""

    @property
    def num_inputs(self) -> int:
        """Length of what it reads."""
        return (self.cells[0].inputs if self.cells else self.dense[0][0]).shape[1]

    @property
    def memory(self) -> tuple[tuple[int, ...], ...]:
        """Shapes: for each recurrent layer the hidden state, and for an LSTM the cell."""
        arrays = 2 if self.cell == "lstm" else 1
        return tuple((c.hidden.shape[1],) for c in self.cells for _ in range(arrays))

    def apply(self, memory: Memory, x: Any) -> tuple[Memory, Any]:
        """See `ForeignPolicy.apply`."""
        if s := self.scaler:
            x = (x - s.mean) / (s.std + np.float32(s.epsilon))
            x = x if s.clip is None else jnp.clip(x, -s.clip, s.clip)
        x, after = jnp.reshape(x, (1, -1)), []  # a row: its product with weights is one of matrices
        for i, weights in enumerate(self.cells):
            if self.cell == "gru":
                x = gru(weights, x, memory[i][None])
                after.append(x[0])
            else:
                x, c = lstm(weights, x, memory[2 * i][None], memory[2 * i + 1][None])
                after += [x[0], c[0]]
        for i, (weight, bias) in enumerate(self.dense):
            x = x @ weight.T + bias
            x = ACTIVATIONS[self.activation](x) if i + 1 < len(self.dense) else x
        x = jnp.tanh(x) if self.squashed else x
        x = x if self.gain is None else x * self.gain
        return tuple(after), (x if self.offset is None else x + self.offset)[0]


def as_policy(network: ActorNetwork, layout: str) -> ForeignPolicy:
    """The network with PyTorch's own modules beside it."""
    torch = pytorch()

    return ForeignPolicy(
        framework=f"torch {torch.__version__}, layout of {layout}",
        memory=network.memory,
        apply=network.apply,
        reference=_reference(network),
        num_inputs=network.num_inputs,
        normalized=network.scaler is not None,
    )


def _reference(network: ActorNetwork) -> Callable[[np.ndarray], np.ndarray]:
    """torch.nn modules with the same weights."""
    torch = pytorch()

    recurrent = [_recurrent(network.cell, weights) for weights in network.cells]
    dense = [_loaded(torch.nn.Linear(w.shape[1], w.shape[0]), weight=w, bias=b) for w, b in network.dense]
    activation = (lambda x: x) if network.activation == "identity" else _torch_activation(network.activation)

    @torch.no_grad()
    def fly(inputs: np.ndarray) -> np.ndarray:
        x = torch.from_numpy(inputs.astype(np.float32))
        if s := network.scaler:
            x = (x - torch.from_numpy(s.mean)) / (torch.from_numpy(s.std) + s.epsilon)
            x = x if s.clip is None else torch.clamp(x, -s.clip, s.clip)
        for module in recurrent:  # over all decisions at once, from a memory of zeros
            x = module(x)[0]
        for i, layer in enumerate(dense):
            x = activation(layer(x)) if i + 1 < len(dense) else layer(x)
        x = torch.tanh(x) if network.squashed else x
        x = x if network.gain is None else x * torch.from_numpy(network.gain)
        return (x if network.offset is None else x + torch.from_numpy(network.offset)).numpy()

    return fly


def _torch_activation(name: str) -> Any:
    torch = pytorch()

    return getattr(torch, name) if name in ("tanh", "sigmoid") else getattr(torch.nn.functional, name)


def _recurrent(kind: str, w: CellWeights) -> Any:
    torch = pytorch()

    module = (torch.nn.GRU if kind == "gru" else torch.nn.LSTM)(w.inputs.shape[1], w.hidden.shape[1])
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    return _loaded(module, **dict(zip(names, w, strict=True)))


def _loaded(module: Any, **arrays: np.ndarray) -> Any:
    torch = pytorch()

    module.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    return module.eval()
