"""PyTorch's operators in JAX, as graphs of TorchScript call them: arguments by position, in PyTorch's
order.

Each operator is defined in https://docs.pytorch.org/docs/stable/torch.html and
`native_functions.yaml` there.
"""

import operator
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.types import Array
from robomarl.lab.foreign.layers import CellWeights, clamp, gelu, gru, layer_norm, lstm, softplus

Operator = Callable[..., Array]


def _is_array(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _add(x: Array, y: Array, alpha: Array = 1) -> Array:
    return x + (y if alpha == 1 else alpha * y)


def _addmm(c: Array, x: Array, w: Array, beta: Array = 1, alpha: Array = 1) -> Array:
    return beta * c + alpha * (x @ w)


def _elu(x: Array, alpha: Array = 1, scale: Array = 1, input_scale: Array = 1) -> Array:
    return scale * jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0) * input_scale))


def _flatten(x: Array, start: int = 0, end: int = -1) -> Array:
    end = end % x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1 :])


def _layer_norm(
    x: Array, shape: Array, weight: Array = None, bias: Array = None, eps: float = 1e-5, *_: Array
) -> Array:
    return layer_norm(x, len(shape), weight, bias, eps)


def _linear(x: Array, weight: Array, bias: Array = None) -> Array:
    out = x @ weight.T
    return out if bias is None else out + bias


def _mean(name: str) -> Operator:
    def rule(x: Array, axes: Array = None, keepdim: bool = False, *_: Array) -> Array:
        return getattr(jnp, name)(
            x, None if axes is None else tuple(np.atleast_1d(axes).tolist()), keepdims=bool(keepdim)
        )

    return rule


def _slice(x: Array, axis: int = 0, start: Array = None, end: Array = None, step: int = 1) -> Array:
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, end, step),)]


def _select(x: Array, axis: int, index: int) -> Array:
    return x[(slice(None),) * (axis % x.ndim) + (index,)]


def _softplus(x: Array, beta: Array = 1, threshold: Array = 20) -> Array:
    scaled = beta * x
    return jnp.where(scaled > threshold, x, softplus(scaled) / beta)


def _split(x: Array, size: Array, axis: int = 0) -> list[Array]:
    sizes = list(size) if isinstance(size, list | tuple) else [size] * (x.shape[axis] // size)
    return list(jnp.split(x, np.cumsum(sizes)[:-1], axis))


def _squeeze(x: Array, axis: Array = None) -> Array:
    if axis is None:
        return jnp.squeeze(x)
    return jnp.squeeze(x, axis) if x.shape[axis] == 1 else x


def _cell_layers(flat: Array, biases: bool) -> list[CellWeights]:
    if not biases:
        raise ValueError("a recurrent cell without biases")
    return [CellWeights(*flat[i : i + 4]) for i in range(0, len(flat), 4)]


def _gru(x: Array, h: Array, flat: Array, *how: Array) -> Array:
    """How: biases, layers, dropout, train, bidirectional, batch first."""
    biases, *_, first = how
    _plain(how[4])
    x, after = (jnp.swapaxes(x, 0, 1) if first else x), []
    for i, weights in enumerate(_cell_layers(flat, biases)):
        state, steps = h[i], []
        for t in range(x.shape[0]):
            state = gru(weights, x[t], state)
            steps.append(state)
        x = jnp.stack(steps)
        after.append(state)
    return (jnp.swapaxes(x, 0, 1) if first else x), jnp.stack(after)


def _lstm(x: Array, hx: Array, flat: Array, *how: Array) -> Array:
    """Run LSTM layers, with the arguments of `_gru`; hx is the hidden state and the cell."""
    biases, *_, first = how
    _plain(how[4])
    x, after = (jnp.swapaxes(x, 0, 1) if first else x), []
    for i, weights in enumerate(_cell_layers(flat, biases)):
        state, cell, steps = hx[0][i], hx[1][i], []
        for t in range(x.shape[0]):
            state, cell = lstm(weights, x[t], state, cell)
            steps.append(state)
        x = jnp.stack(steps)
        after.append((state, cell))
    out = jnp.swapaxes(x, 0, 1) if first else x
    return out, jnp.stack([h for h, _ in after]), jnp.stack([c for _, c in after])


def _plain(bidirectional: bool) -> None:
    if bidirectional:
        raise ValueError("a bidirectional cell, which would have to know the future")


def _equal(x: Array, y: Array) -> Array:
    return list(x) == list(y) if isinstance(x, list | tuple) else x == y


ACTIVATIONS: dict[str, Operator] = {
    "celu": lambda x, alpha=1.0: jax.nn.celu(x, alpha),
    "elu": _elu,
    "gelu": gelu,
    "hardtanh": lambda x, low=-1, high=1: jnp.clip(x, low, high),
    "leaky_relu": lambda x, slope=0.01: jnp.where(x >= 0, x, slope * x),
    "log_softmax": lambda x, axis, kind=None: jax.nn.log_softmax(x, axis),
    "mish": lambda x: x * jnp.tanh(_softplus(x)),
    "relu": lambda x: jnp.maximum(x, 0),
    "selu": jax.nn.selu,
    "sigmoid": jax.nn.sigmoid,
    "silu": jax.nn.silu,
    "softmax": lambda x, axis, kind=None: jax.nn.softmax(x, axis),
    "softplus": _softplus,
    "tanh": jnp.tanh,
}
SHAPES: dict[str, Operator] = {
    "cat": lambda parts, axis=0: jnp.concatenate(parts, axis),
    "chunk": lambda x, count, axis=0: _split(x, -(-x.shape[axis] // count), axis),
    "expand": lambda x, sizes, *_: jnp.broadcast_to(
        x, [x.shape[i - len(sizes) + x.ndim] if s == -1 else s for i, s in enumerate(sizes)]
    ),
    "flatten": _flatten,
    "permute": lambda x, axes: jnp.transpose(x, axes),
    "reshape": lambda x, shape: jnp.reshape(x, shape),
    "select": _select,
    "slice": _slice,
    "split": _split,
    "split_with_sizes": _split,
    "squeeze": _squeeze,
    "stack": lambda parts, axis=0: jnp.stack(parts, axis),
    "t": lambda x: x.T,
    "transpose": lambda x, a, b: jnp.swapaxes(x, a, b),
    "unsqueeze": lambda x, axis: jnp.expand_dims(x, axis),
    "view": lambda x, shape: jnp.reshape(x, shape),
}
PLAIN: dict[str, Operator] = {
    "Bool": lambda x: x,
    "Float": float,
    "Int": int,
    "__contains__": lambda items, x: x in items,
    "__getitem__": operator.getitem,
    "__is__": lambda x, y: x is y,
    "__isnot__": lambda x, y: x is not y,
    "__not__": operator.not_,
    "device": lambda x: None,
    "dim": lambda x: x.ndim,
    "dtype": lambda x: None,
    "eq": _equal,
    "format": lambda text, *x: text,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "len": len,
    "list": list,
    "lt": operator.lt,
    "ne": lambda x, y: not _equal(x, y) if not _is_array(x) else x != y,
    "size": lambda x, axis=None: list(x.shape) if axis is None else x.shape[axis],
}
"""Operators on shapes and other plain values; all of these are known when the graph is read."""
NUMBERS: dict[str, Operator] = {
    **{
        name: getattr(jnp, name)
        for name in ("abs", "cos", "cosh", "exp", "floor", "log", "sign", "sin", "sinh", "sqrt", "tan")
    },
    **{
        name: lambda x, *_: x
        for name in ("clone", "contiguous", "detach", "dropout", "feature_dropout", "to", "type_as")
    },
    **{"sum": _mean("sum"), "mean": _mean("mean"), "amax": _mean("max"), "amin": _mean("min")},
    **{"add": _add, "sub": lambda x, y, alpha=1: _add(x, y, -alpha), "rsub": lambda x, y, alpha=1: _add(y, x, -alpha)},
    **{"mul": lambda x, y: x * y, "neg": lambda x: -x, "pow": lambda x, y: x**y, "square": lambda x: x * x},
    **{"maximum": jnp.maximum, "minimum": jnp.minimum, "reciprocal": lambda x: 1 / x, "erf": jax.lax.erf},
    **{"addmm": _addmm, "bmm": jnp.matmul, "linear": _linear, "matmul": jnp.matmul, "mm": jnp.matmul},
    **{"clamp": clamp, "clamp_max": lambda x, high: clamp(x, None, high), "clamp_min": clamp, "clip": clamp},
    **{"div": lambda x, y: x / y, "where": jnp.where, "atan2": jnp.arctan2, "rsqrt": lambda x: 1 / jnp.sqrt(x)},
    **{
        "gru": _gru,
        "lstm": _lstm,
        "layer_norm": _layer_norm,
        "zeros": lambda shape, *_: jnp.zeros(shape),
    },
}
OPERATORS: dict[str, Operator] = {**PLAIN, **SHAPES, **ACTIVATIONS, **NUMBERS}
"""Operators by name; a name with a trailing underscore, which writes into its input, is read as the name without it."""
