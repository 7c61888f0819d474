"""A JAX function becomes an ONNX graph: its jaxpr is traced with a symbolic batch and translated op by op.

Thirty primitives are enough for dense, recurrent and attention networks. What depends on constants only is
computed here. (`jax2onnx` gives the same graph, and 22 more packages and ten seconds before the first one.)
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import onnx
from jax.extend import core
from onnx import TensorProto, helper, numpy_helper

from robomarl.config import UserError

OPSET, IR_VERSION = 17, 8
"""Old enough for the onnxruntime of any robot that is still supported."""
BATCH = "batch"
_DTYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "bool": TensorProto.BOOL}

ELEMENTWISE = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "max": "Max", "min": "Min", "neg": "Neg",
    "abs": "Abs", "exp": "Exp", "log": "Log", "tanh": "Tanh", "logistic": "Sigmoid", "sqrt": "Sqrt",
    "pow": "Pow", "sign": "Sign", "erf": "Erf", "sin": "Sin", "cos": "Cos",
    "gt": "Greater", "lt": "Less", "ge": "GreaterOrEqual", "le": "LessOrEqual", "eq": "Equal",
    "and": "And", "or": "Or", "not": "Not",
}  # fmt: skip
"""Primitives that are one ONNX operator with the same arguments, and broadcast like numpy."""
SAME = ("stop_gradient", "copy", "copy_p", "optimization_barrier")
CALLS = ("jit", "pjit", "custom_jvp_call", "custom_vjp_call", "closed_call", "remat", "checkpoint")


class Constant:
    """A value that is known now."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)


class Graph:
    """The graph under construction. Values are names of tensors, or `Constant`s."""

    def __init__(self, batch_from: str) -> None:
        """Start empty; the batch size is read from the first axis of the input `batch_from`."""
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._batch_from = batch_from
        self._batch: str | None = None

    def emit(self, op: str, inputs: Sequence[Any], outputs: int = 1, **attributes: Any) -> list[str]:
        """Add a node; returns the names of its outputs."""
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, [self.name(i) for i in inputs], names, **attributes))
        return names

    def name(self, value: Any) -> str:
        """Name of a value; constants become initializers."""
        if not isinstance(value, Constant):
            return value
        name = f"constant_{len(self.initializers)}"
        array = value.value.astype(np.float32) if value.value.dtype == np.float64 else value.value
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def ints(self, values: Sequence[int]) -> str:
        """An int64 tensor."""
        return self.name(Constant(np.array(values, np.int64)))

    def expand(self, value: Any, shape: Sequence[Any]) -> str:
        """A value at its full shape, where it was left to be broadcast."""
        if all(isinstance(d, int) for d in shape):
            return self.emit("Expand", [value, Constant(np.array(shape, np.int64))])[0]
        if self._batch is None:
            whole = self.emit("Shape", [self._batch_from])[0]
            self._batch = self.emit("Slice", [whole, self.ints([0]), self.ints([1])])[0]
        parts = [self.ints([d]) if isinstance(d, int) else self._batch for d in shape]
        return self.emit("Expand", [value, self.emit("Concat", parts, axis=0)[0]])[0]


def to_onnx(function: Callable[..., Sequence[jax.Array]], inputs: dict[str, tuple], outputs: list[str]) -> bytes:
    """Translate a pure function of float32 arrays [batch, *shape].

    Args:
        function: takes one array per input, returns one per output, batch first.
        inputs: name -> shape without the batch.
        outputs: names.

    Raises:
        UserError: a primitive that is not translated.
    """
    (batch,) = jax.export.symbolic_shape(BATCH)
    arrays = [jax.ShapeDtypeStruct((batch, *shape), np.float32) for shape in inputs.values()]
    closed = jax.make_jaxpr(function)(*arrays)
    graph = Graph(next(iter(inputs)))
    results = translate(graph, closed.jaxpr, [Constant(c) for c in closed.consts], list(inputs))
    full = [graph.expand(r, v.aval.shape) for r, v in zip(results, closed.jaxpr.outvars, strict=True)]
    for value, name in zip(full, outputs, strict=True):
        graph.nodes.append(helper.make_node("Identity", [value], [name]))
    shapes = [v.aval.shape[1:] for v in closed.jaxpr.outvars]
    ports = _ports(inputs), _ports(dict(zip(outputs, shapes, strict=True)))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "policy", *ports, graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="robomarl",
    )
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def translate(graph: Graph, jaxpr: Any, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
    """Add a jaxpr's equations to the graph; returns its outputs' values."""
    known = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *arguments), strict=True))

    def read(atom: Any) -> Any:
        return Constant(atom.val) if isinstance(atom, core.Literal) else known[atom]

    for equation in jaxpr.eqns:
        values = [read(v) for v in equation.invars]
        known.update(zip(equation.outvars, _equation(graph, equation, values), strict=True))
    return [read(v) for v in jaxpr.outvars]


def _equation(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    name = equation.primitive.name
    if name in CALLS:
        inner = next(equation.params[k] for k in ("jaxpr", "call_jaxpr", "fun_jaxpr") if k in equation.params)
        closed = isinstance(inner, core.ClosedJaxpr)
        consts = [Constant(c) for c in inner.consts] if closed else []
        return translate(graph, inner.jaxpr if closed else inner, consts, values)
    if all(isinstance(v, Constant) for v in values) and all(isinstance(d, int) for d in _dims(equation)):
        result = equation.primitive.bind(*(v.value for v in values), **equation.params)
        return [Constant(r) for r in (result if equation.primitive.multiple_results else [result])]
    if name in SAME:
        return values
    if name in ELEMENTWISE:
        return graph.emit(ELEMENTWISE[name], values)
    if name not in RULES:
        raise UserError(
            f"The policy uses the JAX operation {name!r}, which export can't translate; "
            "write it with others, or add it to robomarl/policies/export/graph.py."
        )
    return RULES[name](graph, equation, values)


def _dims(equation: Any) -> list[Any]:
    return [d for v in equation.outvars for d in v.aval.shape]


def _full(graph: Graph, equation: Any, values: list[Any], index: int = 0) -> str:
    """An operand at the shape that JAX says it has: only element-wise operators may see a smaller one."""
    return graph.expand(values[index], equation.invars[index].aval.shape)


def _dot_general(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    (left, right), (batch_l, batch_r) = equation.params["dimension_numbers"]
    rank_l, rank_r = (len(v.aval.shape) for v in equation.invars)
    if (rank_l, rank_r, *left, *right) == (2, 2, 1, 0):
        return graph.emit("MatMul", values)
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    a = [next(letters) for _ in range(rank_l)]
    pairs = dict(zip((*right, *batch_r), (*left, *batch_l), strict=True))
    b = [a[pairs[i]] if i in pairs else next(letters) for i in range(rank_r)]
    out = [a[i] for i in batch_l]
    out += [a[i] for i in range(rank_l) if i not in (*left, *batch_l)] + [b[i] for i in range(rank_r) if i not in pairs]
    operands = [_full(graph, equation, values, i) for i in (0, 1)]
    return graph.emit("Einsum", operands, equation=f"{''.join(a)},{''.join(b)}->{''.join(out)}")


def _broadcast(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    """Axes of size 1 in the right places; the operators that follow do the rest."""
    out, kept = _dims(equation), equation.params["broadcast_dimensions"]
    sizes = equation.invars[0].aval.shape
    shape = [1] * len(out)
    for axis, size in zip(kept, sizes, strict=True):
        shape[axis] = size if isinstance(size, int) else -1
    if isinstance(values[0], Constant):
        return [Constant(values[0].value.reshape(shape))]
    return graph.emit("Reshape", [_full(graph, equation, values), graph.ints(shape)])


def _reshape(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    shape = [d if isinstance(d, int) else -1 for d in _dims(equation)]
    return graph.emit("Reshape", [_full(graph, equation, values), graph.ints(shape)])


def _split(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    sizes = [int(s) for s in equation.params["sizes"]]
    operands = [_full(graph, equation, values), graph.ints(sizes)]
    return graph.emit("Split", operands, len(sizes), axis=equation.params["axis"])


def _slice(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    p = equation.params
    strides = p["strides"] or (1,) * len(p["start_indices"])
    axes = [i for i, d in enumerate(p["limit_indices"]) if isinstance(d, int)]
    parts = [graph.ints([int(x[i]) for i in axes]) for x in (p["start_indices"], p["limit_indices"])]
    full = _full(graph, equation, values)
    return graph.emit("Slice", [full, *parts, graph.ints(axes), graph.ints([int(strides[i]) for i in axes])])


def _gather(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    """`x[:, 3]` and `x[:, 2:5]`, which JAX spells so where the batch is symbolic; other indexing is not translated."""
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    where = values[1]
    if not isinstance(where, Constant) or where.value.ndim != 1 or numbers.operand_batching_dims:
        raise UserError("The policy indexes by a computed number, which export can't translate; use jnp.where.")
    axes = list(numbers.start_index_map)
    stops = [int(start) + sizes[axis] for start, axis in zip(where.value, axes, strict=True)]
    starts = graph.ints([int(start) for start in where.value])
    part = graph.emit("Slice", [_full(graph, equation, values), starts, graph.ints(stops), graph.ints(axes)])
    shape = [d if isinstance(d, int) else -1 for d in _dims(equation)]
    return graph.emit("Reshape", [*part, graph.ints(shape)])


def _reduce(op: str) -> Callable[[Graph, Any, list[Any]], list[Any]]:
    def rule(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
        axes, full = [int(a) for a in equation.params["axes"]], _full(graph, equation, values)
        if op == "ReduceSum":
            return graph.emit(op, [full, graph.ints(axes)], keepdims=0)
        return graph.emit(op, [full], axes=axes, keepdims=0)

    return rule


def _select(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    if len(values) != 3 or equation.invars[0].aval.dtype != np.bool_:
        raise UserError("The policy selects among more than two arrays, which export can't translate; use jnp.where.")
    return graph.emit("Where", [values[0], values[2], values[1]])


def _concatenate(graph: Graph, equation: Any, values: list[Any]) -> list[Any]:
    full = [_full(graph, equation, values, i) for i in range(len(values))]
    return graph.emit("Concat", full, axis=equation.params["dimension"])


def _one(value: float) -> Constant:
    return Constant(np.float32(value))


RULES: dict[str, Callable[[Graph, Any, list[Any]], list[Any]]] = {
    "dot_general": _dot_general,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "split": _split,
    "slice": _slice,
    "gather": _gather,
    "concatenate": _concatenate,
    "select_n": _select,
    "reduce_sum": _reduce("ReduceSum"),
    "reduce_max": _reduce("ReduceMax"),
    "reduce_min": _reduce("ReduceMin"),
    "transpose": lambda g, e, v: g.emit("Transpose", [_full(g, e, v)], perm=list(e.params["permutation"])),
    "convert_element_type": lambda g, e, v: g.emit("Cast", v, to=_DTYPES[np.dtype(e.params["new_dtype"]).name]),
    "integer_pow": lambda g, e, v: g.emit("Pow", [v[0], _one(e.params["y"])]),
    "square": lambda g, e, v: g.emit("Mul", [v[0], v[0]]),
    "rsqrt": lambda g, e, v: g.emit("Reciprocal", g.emit("Sqrt", v)),
    "log1p": lambda g, e, v: g.emit("Log", g.emit("Add", [v[0], _one(1)])),
    "expm1": lambda g, e, v: g.emit("Sub", [g.emit("Exp", v)[0], _one(1)]),
}
"""Primitives that need more than one operator of their name."""


def _ports(shapes: dict[str, tuple]) -> list[onnx.ValueInfoProto]:
    return [helper.make_tensor_value_info(n, TensorProto.FLOAT, [BATCH, *s]) for n, s in shapes.items()]
