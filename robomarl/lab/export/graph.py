"""Translation of JAX functions to ONNX: a jaxpr is traced with a symbolic batch and translated op by
op.

Thirty primitives are enough for dense, recurrent and attention networks. Values that depend on
constants only are computed here. (`jax2onnx` gives an equal graph, but needs 22 more packages and
ten seconds before the first one.)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import numpy as np
import onnx
from jax.extend import core
from onnx import helper

from robomarl.core.config import UserError
from robomarl.lab.export.loop import loop
from robomarl.lab.export.rules import ELEMENTWISE, POINTWISE, RULES, dims
from robomarl.lab.export.values import BATCH, DTYPES, Atom, Constant, Graph, Value, array_of

OPSET, IR_VERSION = 17, 8
"""Old enough for the onnxruntime of any robot that is still supported."""
SAME = ("stop_gradient", "copy", "copy_p", "optimization_barrier")
CALLS = ("jit", "pjit", "custom_jvp_call", "custom_vjp_call", "closed_call", "remat", "checkpoint")


class ArrayFunction(NamedTuple):
    """Pure function of named arrays, batch first; the arguments of `to_onnx`."""

    function: Callable[..., Sequence[jax.Array]]
    inputs: dict[str, tuple]
    """Shapes without the batch."""
    outputs: list[str]
    dtypes: dict[str, str] | None = None
    """Types of the inputs that are not float32."""


def to_onnx(
    function: Callable[..., Sequence[jax.Array]],
    inputs: dict[str, tuple],
    outputs: list[str],
    dtypes: dict[str, str] | None = None,
) -> bytes:
    """Translate a pure function of arrays [batch, *shape].

    Args:
        function: takes one array per input, returns one per output, batch first.
        inputs: name -> shape without the batch.
        outputs: names.
        dtypes: name -> dtype of the inputs that are not float32.

    Raises:
        UserError: a primitive that is not translated.
    """
    (batch,) = jax.export.symbolic_shape(BATCH)
    kinds = {name: np.dtype((dtypes or {}).get(name, "float32")) for name in inputs}
    arrays = [jax.ShapeDtypeStruct((batch, *shape), kinds[name]) for name, shape in inputs.items()]
    closed = jax.make_jaxpr(function)(*arrays)
    graph = Graph(next(iter(inputs)))
    graph.whole.update(inputs)
    # What is constant is computed here, in the precision that it was traced in.
    with jax.enable_x64(True):
        results = translate(graph, closed.jaxpr, [Constant(c) for c in closed.consts], list(inputs))
    full = [graph.expand(r, array_of(v).shape) for r, v in zip(results, closed.jaxpr.outvars, strict=True)]
    for value, name in zip(full, outputs, strict=True):
        graph.nodes.append(helper.make_node("Identity", [value], [name]))
    avals = [array_of(v) for v in closed.jaxpr.outvars]
    made = {name: a.shape[1:] for name, a in zip(outputs, avals, strict=True)}
    ports = _ports(inputs, kinds), _ports(made, {n: a.dtype for n, a in zip(outputs, avals, strict=True)})
    model = helper.make_model(
        helper.make_graph(graph.nodes, "policy", *ports, graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="robomarl",
    )
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def translate(
    graph: Graph, jaxpr: core.Jaxpr, consts: Sequence[Constant], arguments: Sequence[Value]
) -> Sequence[Value]:
    """Add a jaxpr's equations to the graph; returns its outputs' values."""
    fixed = [Constant(c.value.astype(_dtype(v))) for v, c in zip(jaxpr.constvars, consts, strict=True)]
    known = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*fixed, *arguments), strict=True))

    def read(atom: Atom) -> Value:
        return Constant(np.asarray(atom.val, _dtype(atom))) if isinstance(atom, core.Literal) else known[atom]

    for equation in needed(jaxpr)[0]:
        values = [read(v) for v in equation.invars]
        results = _equation(graph, equation, values)
        _mark_whole(graph, equation, values, results)
        known.update(zip(equation.outvars, results, strict=True))
    return [read(v) for v in jaxpr.outvars]


def needed(jaxpr: core.Jaxpr) -> tuple[list[core.JaxprEqn], set[core.Var]]:
    """The equations that the outputs depend on, in their order, and all the variables that those read."""
    found, read = [], {v for v in jaxpr.outvars if not isinstance(v, core.Literal)}
    for equation in reversed(jaxpr.eqns):
        if any(v in read for v in equation.outvars):
            found.append(equation)
            read.update(v for v in equation.invars if not isinstance(v, core.Literal))
    return found[::-1], read


def _dtype(atom: Atom) -> np.dtype:
    return array_of(atom).dtype


def _mark_whole(graph: Graph, equation: core.JaxprEqn, values: Sequence[Value], results: Sequence[Value]) -> None:
    """Note which results need no expansion: it would be a node of its own, and an operator's cost is its call."""
    name, shape = equation.primitive.name, array_of(equation.outvars[0]).shape
    if name in ELEMENTWISE or name in POINTWISE:
        reach = zip(equation.invars, values, strict=True)
        full = any(array_of(a).shape == shape and not isinstance(v, Constant) and v in graph.whole for a, v in reach)
    elif name == "broadcast_in_dim":
        kept = equation.params["broadcast_dimensions"]
        same = [shape[axis] for axis in kept] == list(array_of(equation.invars[0]).shape)
        full = same and all(d == 1 for axis, d in enumerate(shape) if axis not in kept)
    else:
        full = name in RULES and name not in CALLS
    if full:
        graph.whole.update(r for r in results if not isinstance(r, Constant))


def _equation(graph: Graph, equation: core.JaxprEqn, values: Sequence[Value]) -> Sequence[Value]:
    name = equation.primitive.name
    if name in CALLS:
        inner = next(equation.params[k] for k in ("jaxpr", "call_jaxpr", "fun_jaxpr") if k in equation.params)
        closed = isinstance(inner, core.ClosedJaxpr)
        consts = [Constant(c) for c in inner.consts] if closed else []
        return translate(graph, inner.jaxpr if closed else inner, consts, values)
    known = [v.value for v in values if isinstance(v, Constant)]
    if len(known) == len(values) and all(isinstance(d, int) for d in dims(equation)):
        result = equation.primitive.bind(*known, **equation.params)
        return [Constant(r) for r in (result if equation.primitive.multiple_results else [result])]
    if name in SAME:
        return values
    if name == "while":
        return loop(graph, equation, values, translate)
    if name in ELEMENTWISE:
        return graph.emit(ELEMENTWISE[name], values)
    if name not in RULES:
        raise UserError(
            f"The policy uses the JAX operation {name!r}, which export can't translate; "
            "write it with others, or add it to robomarl/lab/export/graph.py."
        )
    return RULES[name](graph, equation, values)


def _ports(shapes: dict[str, tuple], dtypes: Mapping[str, np.typing.DTypeLike]) -> list[onnx.ValueInfoProto]:
    kinds = {name: DTYPES[np.dtype(dtypes[name]).name] for name in shapes}
    return [helper.make_tensor_value_info(n, kinds[n], [BATCH, *s]) for n, s in shapes.items()]
