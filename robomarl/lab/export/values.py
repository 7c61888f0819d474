"""The ONNX graph under construction, and the values in it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from jax.core import ShapedArray
from jax.extend.core import Literal, Var
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.types import Array

DTYPES = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
}
BATCH = "batch"
"""Name of the axis of unknown size."""
Dim = object
"""Size of an axis: an int, or a symbol of JAX where it is unknown."""


class Constant:
    """A value that is known now."""

    def __init__(self, value: Array) -> None:
        self.value = np.asarray(value)


Value = str | Constant
"""The name of a tensor, or a value that is known now."""


Atom = Var | Literal
"""An operand or a result of an equation of JAX."""


class ArrayType(NamedTuple):
    """Shape and type of an operand or a result."""

    shape: tuple[Dim, ...]
    dtype: np.dtype


def array_of(atom: Atom) -> ArrayType:
    """Shape and type of an operand or a result, which has to be an array of numbers."""
    found = atom.aval
    assert isinstance(found, ShapedArray) and isinstance(found.dtype, np.dtype), "policies compute with arrays only"
    return ArrayType(found.shape, found.dtype)


class Graph:
    """The graph under construction. Values are names of tensors, or `Constant`s."""

    def __init__(self, batch_from: str) -> None:
        """Start empty; the batch size is read from the first axis of the input `batch_from`."""
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.whole: set[str] = set()
        """Names of tensors that are known to have the shape that JAX says they have."""
        self._made: dict[tuple, list[str]] = {}
        """Results computed so far, by operator, inputs and attributes; nothing is computed twice."""
        self._constants: dict[tuple, str] = {}
        self.loops = 0
        """Loops in it so far."""
        self._batch_from = batch_from
        self._batch: str | None = None
        self.label = ""
        """Prefix for the names in a loop's body; it makes them unique."""

    def inside(self) -> "Graph":
        """The body of a loop: it sees the values of this graph, and keeps its nodes to itself."""
        self.loops += 1
        body = Graph(self._batch_from)
        body.initializers, body.whole, body.label = self.initializers, set(self.whole), f"{self.label}{self.loops}_"
        body._made, body._constants = dict(self._made), self._constants
        return body

    def emit(self, op: str, inputs: "Sequence[Value]", outputs: int = 1, **attributes: Any) -> list[str]:
        """Add a node; returns the names of its outputs."""
        given = [self.name(i) for i in inputs]
        key = (op, *given, *((name, str(value)) for name, value in sorted(attributes.items())))
        if key not in self._made:
            self._made[key] = [f"{self.label}{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
            self.nodes.append(helper.make_node(op, given, self._made[key], **attributes))
        return self._made[key]

    def own(self, name: str) -> str:
        """Return the value under a name of its own: a value that leaves a body must be made in the body, and leave
        it once.
        """
        self.nodes.append(helper.make_node("Identity", [name], [f"{self.label}own_{len(self.nodes)}"]))
        return self.nodes[-1].output[0]

    def name(self, value: Value) -> str:
        """Name of a value; constants become initializers."""
        if not isinstance(value, Constant):
            return value
        array = np.ascontiguousarray(value.value).reshape(value.value.shape)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = f"constant_{len(self.initializers)}"
            self.initializers.append(numpy_helper.from_array(array, self._constants[key]))
        return self._constants[key]

    def ints(self, values: Sequence[int]) -> str:
        """An int64 tensor."""
        return self.name(Constant(np.array(values, np.int64)))

    def expand(self, value: Value, shape: Sequence[Dim]) -> str:
        """A value at its full shape, where it was left to be broadcast."""
        if not isinstance(value, Constant) and value in self.whole:
            return value
        if all(isinstance(d, int) for d in shape):
            return self.emit("Expand", [value, Constant(np.array(shape, np.int64))])[0]
        if self._batch is None:
            whole = self.emit("Shape", [self._batch_from])[0]
            self._batch = self.emit("Slice", [whole, self.ints([0]), self.ints([1])])[0]
        parts = [self.ints([d]) if isinstance(d, int) else self._batch for d in shape]
        return self.emit("Expand", [value, self.emit("Concat", parts, axis=0)[0]])[0]
