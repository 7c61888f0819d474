"""One rule for each translated JAX primitive: the ONNX operators that replace it."""

from collections.abc import Callable, Sequence

import numpy as np
from jax.extend.core import JaxprEqn
from onnx import TensorProto

from robomarl.core.config import UserError
from robomarl.lab.export.values import DTYPES, Constant, Dim, Graph, Value, array_of

ELEMENTWISE = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "max": "Max", "min": "Min", "neg": "Neg",
    "abs": "Abs", "exp": "Exp", "log": "Log", "tanh": "Tanh", "logistic": "Sigmoid", "sqrt": "Sqrt",
    "pow": "Pow", "sign": "Sign", "erf": "Erf", "sin": "Sin", "cos": "Cos", "floor": "Floor",
    "gt": "Greater", "lt": "Less", "ge": "GreaterOrEqual", "le": "LessOrEqual", "eq": "Equal",
    "and": "And", "or": "Or", "not": "Not",
}  # fmt: skip
"""Primitives that correspond to one ONNX operator with identical arguments, and that broadcast like numpy."""


Rule = Callable[[Graph, JaxprEqn, Sequence[Value]], Sequence[Value]]
"""(graph, equation, operands) -> results, after the operators have been added."""


def dims(equation: JaxprEqn) -> list[Dim]:
    """Sizes of all results of an equation."""
    return [d for v in equation.outvars for d in array_of(v).shape]


def _full(graph: Graph, equation: JaxprEqn, values: Sequence[Value], index: int = 0) -> str:
    """An operand at the shape that JAX says it has: only element-wise operators may see a smaller one."""
    return graph.expand(values[index], array_of(equation.invars[index]).shape)


def _dot_general(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    (left, right), (batch_l, batch_r) = equation.params["dimension_numbers"]
    rank_l, rank_r = (len(array_of(v).shape) for v in equation.invars)
    # Not with a vector on the right: behind a transposition, onnxruntime 1.31 makes a wrong product of it.
    stacks = [] if rank_r == 2 else list(range(rank_l - 2))
    meet = [[*batch_l], [*batch_r], [*left], [*right]] == [stacks, stacks, [rank_l - 1], [rank_r - 2]]
    if rank_r > 1 and meet and rank_r in (2, rank_l):
        return graph.emit("MatMul", [_full(graph, equation, values, i) for i in (0, 1)])
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    a = [next(letters) for _ in range(rank_l)]
    pairs = dict(zip((*right, *batch_r), (*left, *batch_l), strict=True))
    b = [a[pairs[i]] if i in pairs else next(letters) for i in range(rank_r)]
    out = [a[i] for i in batch_l]
    out += [a[i] for i in range(rank_l) if i not in (*left, *batch_l)] + [b[i] for i in range(rank_r) if i not in pairs]
    operands = [_full(graph, equation, values, i) for i in (0, 1)]
    return graph.emit("Einsum", operands, equation=f"{''.join(a)},{''.join(b)}->{''.join(out)}")


def _broadcast(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    """Axes of size 1 in the right places; the operators that follow do the rest."""
    out, kept = dims(equation), equation.params["broadcast_dimensions"]
    # A constant may have been left to be broadcast: then its own axes are those that count.
    sizes = values[0].value.shape if isinstance(values[0], Constant) else array_of(equation.invars[0]).shape
    shape = [1] * len(out)
    for axis, size in zip(kept, sizes, strict=True):
        shape[axis] = size if isinstance(size, int) else -1
    if isinstance(values[0], Constant):
        return [Constant(values[0].value.reshape(shape))]
    return graph.emit("Reshape", [_full(graph, equation, values), graph.ints(shape)])


def _reshape(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    shape = [d if isinstance(d, int) else -1 for d in dims(equation)]
    return graph.emit("Reshape", [_full(graph, equation, values), graph.ints(shape)])


def _split(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    sizes = [int(s) for s in equation.params["sizes"]]
    operands = [_full(graph, equation, values), graph.ints(sizes)]
    return graph.emit("Split", operands, len(sizes), axis=equation.params["axis"])


def _slice(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    p = equation.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    axes = [i for i, d in enumerate(p["limit_indices"]) if isinstance(d, int)]
    parts = [graph.ints([int(x[i]) for i in axes]) for x in (p["start_indices"], p["limit_indices"])]
    full = _full(graph, equation, values)
    return graph.emit("Slice", [full, *parts, graph.ints(axes), graph.ints([int(strides[i]) for i in axes])])


def _gather(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    """`x[:, 3]`, `x[:, 2:5]` and `x[:, [1, 4]]`, as JAX spells them; nothing by a computed number."""
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    where, axes = values[1], list(numbers.start_index_map)
    if not isinstance(where, Constant) or numbers.operand_batching_dims:
        raise UserError("The policy indexes by a computed number, which export can't translate; use jnp.where.")
    full, index = _full(graph, equation, values), where.value
    if index.ndim == 1:
        stops = [int(start) + sizes[axis] for start, axis in zip(index, axes, strict=True)]
        if len(axes) == 1 and list(numbers.collapsed_slice_dims) == axes:
            return graph.emit("Gather", [full, Constant(np.int64(index[0]))], axis=axes[0])
        part = graph.emit("Slice", [full, graph.ints(index.tolist()), graph.ints(stops), graph.ints(axes)])
        return graph.emit("Reshape", [*part, graph.ints([d if isinstance(d, int) else -1 for d in dims(equation)])])
    kept = [i for i in range(len(dims(equation))) if i not in numbers.offset_dims]
    places = list(range(axes[0], axes[0] + index.ndim - 1))
    if len(axes) != 1 or list(numbers.collapsed_slice_dims) != axes or kept != places:
        raise UserError(
            "The policy indexes by an array in a way that export can't translate; index one axis at a time."
        )
    return graph.emit("Gather", [full, Constant(index[..., 0].astype(np.int64))], axis=axes[0])


def _reduce(op: str) -> Rule:
    def rule(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
        axes, full = [int(a) for a in equation.params["axes"]], _full(graph, equation, values)
        if op == "ReduceSum":
            return graph.emit(op, [full, graph.ints(axes)], keepdims=0)
        return graph.emit(op, [full], axes=axes, keepdims=0)

    return rule


def _select(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    if len(values) != 3 or array_of(equation.invars[0]).dtype != np.bool_:
        raise UserError("The policy selects among more than two arrays, which export can't translate; use jnp.where.")
    return graph.emit("Where", [values[0], values[2], values[1]])


def _concatenate(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    full = [_full(graph, equation, values, i) for i in range(len(values))]
    return graph.emit("Concat", full, axis=equation.params["dimension"])


def _stack(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    """Translate `stack`, a primitive since jax 0.11; earlier versions trace a concatenation of arrays with one more
    axis.
    """
    axis = equation.params["axis"]
    full = [_full(graph, equation, values, i) for i in range(len(values))]
    parts = [graph.emit("Unsqueeze", [value, graph.ints([axis])])[0] for value in full]
    return graph.emit("Concat", parts, axis=axis)


def _unstack(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    """Translate `unstack`, the inverse of `stack`."""
    axis, count = equation.params["axis"], len(equation.outvars)
    parts = graph.emit("Split", [_full(graph, equation, values), graph.ints([1] * count)], count, axis=axis)
    return [graph.emit("Squeeze", [part, graph.ints([axis])])[0] for part in parts]


def _reduce_bool(op: str) -> Rule:
    """All and any: the least and the largest of zeros and ones; of nothing, as of the mates of a robot that is alone,
    all is true and any is not, while runtimes differ on the least of nothing.
    """

    def rule(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
        axes, shape = [int(a) for a in equation.params["axes"]], array_of(equation.invars[0]).shape
        number = graph.emit("Cast", [_full(graph, equation, values)], to=TensorProto.FLOAT)
        if any(shape[axis] == 0 for axis in axes):
            none = graph.emit(
                "Cast", graph.emit("ReduceSum", [*number, graph.ints(axes)], keepdims=0), to=TensorProto.BOOL
            )
            return graph.emit("Not", none) if op == "ReduceMin" else none
        least = graph.emit(op, number, axes=axes, keepdims=0)
        return graph.emit("Cast", least, to=TensorProto.BOOL)

    return rule


def _top_k(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    operands = [_full(graph, equation, values), graph.ints([equation.params["k"]])]
    found, index = graph.emit("TopK", operands, 2, axis=-1)
    return [found, *graph.emit("Cast", [index], to=TensorProto.INT32)]


def _extreme(op: str) -> Rule:
    def rule(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
        (axis,), kind = equation.params["axes"], equation.params["index_dtype"]
        found = graph.emit(op, [_full(graph, equation, values)], axis=int(axis), keepdims=0)
        return found if kind == np.int64 else graph.emit("Cast", found, to=DTYPES[np.dtype(kind).name])

    return rule


def _one(equation: JaxprEqn) -> Constant:
    return Constant(np.ones((), array_of(equation.invars[0]).dtype))


def _integer_pow(graph: Graph, equation: JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    power = equation.params["y"]
    if power == 2:
        return graph.emit("Mul", [values[0], values[0]])
    return graph.emit("Pow", [values[0], Constant(np.array(power, array_of(equation.invars[0]).dtype))])


RULES: dict[str, Rule] = {
    "dot_general": _dot_general,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "split": _split,
    "slice": _slice,
    "gather": _gather,
    "concatenate": _concatenate,
    "stack": _stack,
    "unstack": _unstack,
    "select_n": _select,
    "reduce_sum": _reduce("ReduceSum"),
    "reduce_max": _reduce("ReduceMax"),
    "reduce_min": _reduce("ReduceMin"),
    "reduce_and": _reduce_bool("ReduceMin"),
    "reduce_or": _reduce_bool("ReduceMax"),
    "top_k": _top_k,
    "argmax": _extreme("ArgMax"),
    "argmin": _extreme("ArgMin"),
    "ne": lambda g, e, v: g.emit("Not", g.emit("Equal", v)),
    "transpose": lambda g, e, v: g.emit("Transpose", [_full(g, e, v)], perm=list(e.params["permutation"])),
    "convert_element_type": lambda g, e, v: g.emit("Cast", v, to=DTYPES[np.dtype(e.params["new_dtype"]).name]),
    "integer_pow": _integer_pow,
    "square": lambda g, e, v: g.emit("Mul", [v[0], v[0]]),
    "rsqrt": lambda g, e, v: g.emit("Reciprocal", g.emit("Sqrt", v)),
    "log1p": lambda g, e, v: g.emit("Log", g.emit("Add", [v[0], _one(e)])),
    "expm1": lambda g, e, v: g.emit("Sub", [g.emit("Exp", v)[0], _one(e)]),
}
"""Primitives that need more than one operator of their name."""
POINTWISE = ("select_n", "convert_element_type", "integer_pow", "square", "rsqrt", "log1p", "expm1", "ne")
"""Those among them that broadcast like numpy."""
