"""`jax.lax.while_loop` becomes ONNX's `Loop`."""

from collections.abc import Callable, Sequence

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from onnx import TensorProto, helper

from robomarl.lab.export.values import BATCH, DTYPES, ArrayType, Constant, Graph, Value, array_of

ENDLESS = np.iinfo(np.int64).max
"""Rounds after which the runtime would end a loop; the condition ends it before."""
Translate = Callable[[Graph, Jaxpr, Sequence[Constant], Sequence[Value]], Sequence[Value]]
"""(graph, jaxpr, constants, arguments) -> results, see `robomarl.lab.export.graph.translate`."""


def loop(graph: Graph, equation: JaxprEqn, values: Sequence[Value], translate: Translate) -> Sequence[Value]:
    """Add a loop: the condition is worked out once before it, and at the end of every round.

    Args:
        graph: where it is added.
        equation: of the primitive `while`.
        values: its operands: constants of the condition, constants of the body, first state.
        translate: of `robomarl.lab.export.graph`.
    """
    p = equation.params
    test, body = p["cond_jaxpr"], p["body_jaxpr"]
    of_test, of_body = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    shapes = [array_of(v) for v in body.jaxpr.outvars]
    first = [graph.expand(v, a.shape) for v, a in zip(values[of_body:], shapes, strict=True)]
    inner = graph.inside()
    state = [f"{name}_{inner.label}" for name in ("round", "go", *(f"state{i}" for i in range(len(shapes))))]
    inner.whole.update(state)

    def run(where: Graph, closed: ClosedJaxpr, consts: Sequence[Value], given: Sequence[Value]) -> Sequence[Value]:
        return translate(where, closed.jaxpr, [Constant(c) for c in closed.consts], [*consts, *given])

    after = run(inner, body, values[of_test:of_body], state[2:])
    after = [inner.own(inner.expand(v, a.shape)) for v, a in zip(after, shapes, strict=True)]
    (go,) = map(inner.name, run(inner, test, values[:of_test], after))
    ports = [(TensorProto.INT64, []), (TensorProto.BOOL, []), *map(_port, shapes)]
    inputs = [helper.make_tensor_value_info(n, *port) for n, port in zip(state, ports, strict=True)]
    outputs = [helper.make_tensor_value_info(n, *port) for n, port in zip((go, *after), ports[1:], strict=True)]
    (start,) = run(graph, test, values[:of_test], first)
    inside = helper.make_graph(inner.nodes, f"loop_{inner.label}", inputs, outputs)
    return graph.emit("Loop", [Constant(np.int64(ENDLESS)), start, *first], len(shapes), body=inside)


def _port(shape: ArrayType) -> tuple[int, list[int | str]]:
    return DTYPES[np.dtype(shape.dtype).name], [d if isinstance(d, int) else BATCH for d in shape.shape]
