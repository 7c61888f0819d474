"""ONNX operators in JAX; https://onnx.ai/onnx/operators defines them.

Known numbers, such as shapes, stay numpy arrays: results computed from them are known too.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import onnx

from robomarl.core.types import Array
from robomarl.lab.foreign.layers import CellWeights, clamp, gelu, gru, layer_norm, lstm, softplus
from robomarl.lab.onnx_graph import Attributes

Operator = Callable[..., Array]


def is_known(*values: object) -> bool:
    """Return True if all values are known now."""
    return all(value is None or isinstance(value, np.ndarray | np.generic) for value in values)


def _plain(function: str) -> Operator:
    """An operator that numpy and JAX have too."""
    return lambda a, *x: getattr(np if is_known(*x) else jnp, function)(*x)


def _many(function: str) -> Operator:
    def fold(a: Attributes, first: Array, *more: Array) -> Array:
        for x in more:
            first = getattr(jnp, function)(first, x)
        return first

    return fold


def _ints(value: Array) -> list[int] | None:
    return None if value is None else [int(i) for i in np.atleast_1d(np.asarray(value))]


def _reduce(function: str) -> Operator:
    def rule(a: Attributes, x: Array, axes: Array = None) -> Array:
        given = _ints(axes if axes is not None else a.get("axes"))
        if given is None and a.get("noop_with_empty_axes"):
            return x
        return getattr(jnp, function)(
            x, axis=None if given is None else tuple(given), keepdims=bool(a.get("keepdims", 1))
        )

    return rule


def _gemm(a: Attributes, x: Array, w: Array, c: Array = None) -> Array:
    x, w = (x.T if a.get("transA") else x), (w.T if a.get("transB") else w)
    out = a.get("alpha", 1.0) * (x @ w) if a.get("alpha", 1.0) != 1 else x @ w
    return out if c is None else out + a.get("beta", 1.0) * c


def _reshape(a: Attributes, x: Array, shape: Array) -> Array:
    sizes = _ints(shape) or []
    kept = sizes if a.get("allowzero") else [x.shape[i] if s == 0 else s for i, s in enumerate(sizes)]
    return x.reshape(kept)


def _squeeze(a: Attributes, x: Array, axes: Array = None) -> Array:
    given = _ints(axes if axes is not None else a.get("axes"))
    return (np if is_known(x) else jnp).squeeze(x, None if given is None else tuple(given))


def _unsqueeze(a: Attributes, x: Array, axes: Array = None) -> Array:
    given = tuple(_ints(axes if axes is not None else a["axes"]) or ())
    return (np if is_known(x) else jnp).expand_dims(x, given)


def _slice(
    a: Attributes, x: Array, starts: Array = None, ends: Array = None, axes: Array = None, steps: Array = None
) -> Array:
    first, last = _ints(starts if starts is not None else a["starts"]), _ints(ends if ends is not None else a["ends"])
    assert first is not None and last is not None
    which = _ints(axes if axes is not None else a.get("axes")) or list(range(len(first)))
    cut = [slice(None)] * x.ndim
    for axis, start, end, step in zip(which, first, last, _ints(steps) or [1] * len(first), strict=True):
        cut[axis] = slice(start, None if end < -x.shape[axis] else end, step)
    return x[tuple(cut)]


def _split(a: Attributes, x: Array, sizes: Array = None) -> Array:
    axis, given = a.get("axis", 0), _ints(sizes if sizes is not None else a.get("split"))
    if given is None:
        return tuple(jnp.split(x, a["num_outputs"], axis))
    return tuple(jnp.split(x, np.cumsum(given)[:-1], axis))


def _concat(a: Attributes, *x: Array) -> Array:
    return (np if is_known(*x) else jnp).concatenate(x, a["axis"])


def _gather(a: Attributes, x: Array, index: Array) -> Array:
    axis = a.get("axis", 0)
    if is_known(index):
        return (np if is_known(x) else jnp).take(x, np.asarray(index), axis=axis)
    return jnp.take(x, jnp.where(index < 0, index + x.shape[axis], index), axis=axis, mode="clip")


def _batch_norm(a: Attributes, x: Array, scale: Array, bias: Array, mean: Array, variance: Array) -> Array:
    """Normalize with the statistics of training; channels are on the second axis."""
    if a.get("training_mode", 0):
        raise ValueError("is in training mode; export after model.eval()")
    scale, bias, mean, variance = (v.reshape(1, -1, *(1,) * (x.ndim - 2)) for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + np.float32(a.get("epsilon", 1e-5))) * scale + bias


def _norm(function: Callable[[Array], Array], after: Callable[[Array], Array]) -> Operator:
    """A sum of some function of each number, and a function of the sum."""
    plain = _reduce("sum")
    return lambda a, x, axes=None: after(plain(a, function(x), axes))


def _einsum(a: Attributes, *x: Array) -> Array:
    return jnp.einsum(a["equation"].decode(), *x)


def _cast(a: Attributes, x: Array) -> Array:
    kind = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(a["to"]))
    if is_known(x):
        return x.astype(kind)
    return x.astype({"f": np.float32, "i": np.int32, "u": np.uint32}.get(kind.kind, kind))  # JAX has 32 bits


def _clip(a: Attributes, x: Array, low: Array = None, high: Array = None) -> Array:
    return clamp(x, low if low is not None else a.get("min"), high if high is not None else a.get("max"))


def _expand(a: Attributes, x: Array, shape: Array) -> Array:
    return jnp.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(_ints(shape) or ())))


def _flatten(a: Attributes, x: Array) -> Array:
    return x.reshape(int(np.prod(x.shape[: a.get("axis", 1)])), -1)


def _layer_norm(a: Attributes, x: Array, scale: Array, bias: Array = None) -> Array:
    return layer_norm(x, x.ndim - a.get("axis", -1) % x.ndim, scale, bias, a.get("epsilon", 1e-5))


def _constant(a: Attributes) -> Array:
    return next(
        np.asarray(a[name]) for name in ("value", "value_float", "value_int", "value_floats", "value_ints") if name in a
    )


def _gru(a: Attributes, x: Array, w: Array, r: Array, *rest: Array) -> Array:
    """ONNX has the gates as update, reset, new; the rest is bias, lengths and hidden state."""
    _plain_cell(a)
    b, _, h = (*rest, None, None, None)[:3]
    size = r.shape[-1]
    weights = _cell_weights(w, r, b, [1, 0, 2], size)
    state = _start(h, x, size)
    steps = []
    for t in range(x.shape[0]):
        state = gru(weights, x[t], state, bool(a.get("linear_before_reset", 0)))
        steps.append(state)
    return jnp.stack(steps)[:, None], state[None]


def _lstm(a: Attributes, x: Array, w: Array, r: Array, *rest: Array) -> Array:
    """ONNX has the gates as input, output, forget, cell; the rest is bias, lengths, hidden state and cell."""
    _plain_cell(a)
    b, _, h, c = (*rest, None, None, None, None)[:4]
    size = r.shape[-1]
    weights = _cell_weights(w, r, b, [0, 2, 3, 1], size)
    state, cell = _start(h, x, size), _start(c, x, size)
    steps = []
    for t in range(x.shape[0]):
        state, cell = lstm(weights, x[t], state, cell)
        steps.append(state)
    return jnp.stack(steps)[:, None], state[None], cell[None]


def _plain_cell(a: Attributes) -> None:
    """Raise `ValueError` for options that no exporter of policies writes."""
    for name, usual in (("direction", b"forward"), ("layout", 0), ("clip", None), ("activations", None)):
        if a.get(name, usual) != usual:
            raise ValueError(f"has a recurrent cell with {name} = {a[name]!r}")


def _cell_weights(w: Array, r: Array, b: Array, order: list[int], size: int) -> CellWeights:
    def gates(x: Array) -> Array:
        return np.concatenate([x[i * size : (i + 1) * size] for i in order])

    both = np.zeros((2, len(order) * size), np.float32) if b is None else b[0].reshape(2, -1)
    return CellWeights(gates(w[0]), gates(r[0]), gates(both[0]), gates(both[1]))


def _start(h: Array, x: Array, size: int) -> Array:
    return jnp.zeros((x.shape[1], size)) if h is None else h[0]


def _div(a: Attributes, x: Array, y: Array) -> Array:
    return x // y if is_known(x, y) and np.asarray(x).dtype.kind == "i" else x / y


def _shape(a: Attributes, x: Array) -> Array:
    return np.array(x.shape, np.int64)[a.get("start", 0) : a.get("end")]


SAME_NAMES = (
    "Abs Add Ceil Cos Cosh Equal Exp Floor Greater Less Log MatMul Round Sign Sin Sinh Sqrt Tan Tanh Where".split()
)
"""Operators that are called as numpy calls them, but for capitals."""
OTHER_NAMES = {
    "Acos": "arccos", "And": "logical_and", "Asin": "arcsin", "Atan": "arctan", "GreaterOrEqual": "greater_equal",
    "IsNaN": "isnan", "LessOrEqual": "less_equal", "Mul": "multiply", "Neg": "negative", "Not": "logical_not",
    "Or": "logical_or", "Pow": "power", "Reciprocal": "reciprocal", "Sub": "subtract",
}  # fmt: skip
ACTIVATIONS: dict[str, Operator] = {
    "Celu": lambda a, x: jax.nn.celu(x, a.get("alpha", 1.0)),
    "Elu": lambda a, x: jax.nn.elu(x, a.get("alpha", 1.0)),
    "Erf": lambda a, x: jax.lax.erf(x),
    "Gelu": lambda a, x: gelu(x, a.get("approximate", "none")),
    "HardSigmoid": lambda a, x: jnp.clip(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0, 1),
    "HardSwish": lambda a, x: x * jnp.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda a, x: jnp.where(x >= 0, x, a.get("alpha", 0.01) * x),
    "LogSoftmax": lambda a, x: jax.nn.log_softmax(x, a.get("axis", -1)),
    "Mish": lambda a, x: x * jnp.tanh(softplus(x)),
    "PRelu": lambda a, x, slope: jnp.where(x >= 0, x, slope * x),
    "Relu": lambda a, x: jnp.maximum(x, 0),
    "Selu": lambda a, x: a.get("gamma", 1.05070102) * jax.nn.elu(x, a.get("alpha", 1.67326319)),
    "Sigmoid": lambda a, x: jax.nn.sigmoid(x),
    "Softmax": lambda a, x: jax.nn.softmax(x, a.get("axis", -1)),
    "Softplus": lambda a, x: softplus(x),
    "Softsign": lambda a, x: x / (1 + jnp.abs(x)),
}
OPERATORS: dict[str, Operator] = {
    **{op: _plain(op.lower()) for op in SAME_NAMES},
    **{op: _plain(name) for op, name in OTHER_NAMES.items()},
    **ACTIVATIONS,
    **{f"Reduce{name}": _reduce(name.lower()) for name in ("Sum", "Mean", "Max", "Min", "Prod")},
    "ReduceL1": _norm(jnp.abs, lambda x: x),
    "ReduceL2": _norm(jnp.square, jnp.sqrt),
    "ReduceSumSquare": _norm(jnp.square, lambda x: x),
    "BatchNormalization": _batch_norm,
    "Einsum": _einsum,
    "ThresholdedRelu": lambda a, x: jnp.where(x > a.get("alpha", 1.0), x, 0),
    **{"Max": _many("maximum"), "Min": _many("minimum"), "Sum": _many("add"), "Div": _div},
    **{"Mean": lambda a, *x: sum(x[1:], x[0]) / len(x), "Identity": lambda a, x: x, "Constant": _constant},
    **{"Gemm": _gemm, "GRU": _gru, "LSTM": _lstm, "LayerNormalization": _layer_norm, "Clip": _clip, "Cast": _cast},
    **{"Reshape": _reshape, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Flatten": _flatten, "Shape": _shape},
    **{"Slice": _slice, "Split": _split, "Concat": _concat, "Gather": _gather, "Expand": _expand},
    "Transpose": lambda a, x: x.transpose(a.get("perm")),
}
"""Operators by name; each takes the attributes, and then the inputs, None for omitted ones."""
