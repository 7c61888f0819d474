"""Translation of ONNX operators to C; https://onnx.ai/onnx/operators defines the operators."""

from collections.abc import Callable

import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.export_c.graph import OneRobot
from robomarl.lab.export_c.program import Program, Value
from robomarl.lab.onnx_graph import Operation

EXPRESSIONS: dict[str, str] = {
    "Abs": "fabsf({0})",
    "Acos": "acosf({0})",
    "Asin": "asinf({0})",
    "Atan": "atanf({0})",
    "Ceil": "ceilf({0})",
    "Cos": "cosf({0})",
    "Cosh": "coshf({0})",
    "Erf": "erff({0})",
    "Exp": "expf({0})",
    "Floor": "floorf({0})",
    "Log": "logf({0})",
    "Neg": "-{0}",
    "Not": "{0} != 0.0f ? 0.0f : 1.0f",
    "Reciprocal": "1.0f / {0}",
    "Relu": "{0} > 0.0f ? {0} : 0.0f",
    "Sigmoid": "1.0f / (1.0f + expf(-{0}))",
    "Sign": "(float)({0} > 0.0f) - (float)({0} < 0.0f)",
    "Sin": "sinf({0})",
    "Sinh": "sinhf({0})",
    "Softplus": "{0} > 20.0f ? {0} : logf(1.0f + expf({0}))",
    "Softsign": "{0} / (1.0f + fabsf({0}))",
    "Sqrt": "sqrtf({0})",
    "Tan": "tanf({0})",
    "Tanh": "tanhf({0})",
    "Add": "{0} + {1}",
    "Sub": "{0} - {1}",
    "Mul": "{0} * {1}",
    "Div": "{0} / {1}",
    "Max": "{0} > {1} ? {0} : {1}",
    "Min": "{0} < {1} ? {0} : {1}",
    "Pow": "powf({0}, {1})",
    "Equal": "{0} == {1} ? 1.0f : 0.0f",
    "Less": "{0} < {1} ? 1.0f : 0.0f",
    "LessOrEqual": "{0} <= {1} ? 1.0f : 0.0f",
    "Greater": "{0} > {1} ? 1.0f : 0.0f",
    "GreaterOrEqual": "{0} >= {1} ? 1.0f : 0.0f",
    "And": "{0} != 0.0f && {1} != 0.0f ? 1.0f : 0.0f",
    "Or": "{0} != 0.0f || {1} != 0.0f ? 1.0f : 0.0f",
    "Where": "{0} != 0.0f ? {1} : {2}",
}
"""C expressions of the element-wise operators; true is 1. Inputs that are not finite are rejected before the first
one.
"""
REDUCTIONS = {"ReduceSum": "+=", "ReduceMean": "+=", "ReduceMax": ">", "ReduceMin": "<"}
SAME = ("Identity", "Cast")
"""A cast between numbers and truth needs nothing: truth is 1 and 0."""


class Translator:
    """Adds the nodes of a graph to a program. Errors are told in `translate`."""

    def __init__(self, program: Program, graph: OneRobot, where: str) -> None:
        """Start with the constants of the graph."""
        self.program, self._graph, self._where = program, graph, where
        self.values: dict[str, Value] = {}

    def translate(self, node: Operation) -> None:
        """Add one node.

        Raises:
            UserError: it is of an operator that is not translated, or computes with whole numbers.
        """
        out = node.outputs[0]
        if self._graph.types[out].kind not in "fb":
            self._refuse(node.op, "computes whole numbers")
        if node.op in EXPRESSIONS:
            self.values[out] = self._elements(node)
        elif node.op in SAME:
            self.values[out] = self.value(node.inputs[0])
        elif node.op in MOVES:
            self._move(node)
        elif node.op in REDUCTIONS:
            self.values[out] = self._reduce(node)
        elif node.op == "Concat":
            self.values[out] = self._concat(node)
        elif node.op == "MatMul":
            self.values[out] = self._matmul(node)
        else:
            self._refuse(node.op, "is not translated")

    def value(self, name: str) -> Value:
        """A tensor by name; raises `UserError` where a constant is a whole number that C would need."""
        if name not in self.values:
            self.values[name] = self.program.constant(self._graph.constants[name])
        return self.values[name]

    def _refuse(self, op: str, why: str) -> None:
        raise UserError(f"{self._where}: the operator {op!r} {why} in C; fly the bundle with onnxruntime instead.")

    def _ints(self, node: Operation, place: int, attribute: str) -> list[int] | None:
        """Whole numbers that an operator is told by an input or, before it was one, by an attribute."""
        if len(node.inputs) > place and node.inputs[place]:
            return [int(i) for i in np.atleast_1d(self._graph.constants[node.inputs[place]])]
        found = node.attributes.get(attribute)
        return None if found is None else [int(i) for i in np.atleast_1d(found)]

    def _elements(self, node: Operation) -> Value:
        shape = self._graph.shapes[node.outputs[0]]
        sources = [self.value(name) for name in node.inputs]
        terms = [self.program.at(Value(v.base, np.broadcast_to(v.index, shape))) for v in sources]
        template, out = EXPRESSIONS[node.op], self.program.buffer(shape)
        count = out.index.size
        places = 1 + max(i for i in range(3) if f"{{{i}}}" in template)
        said = template.format(*terms[:places])
        self.program.loop(count, f"{self.program.at(out)} = {said};")
        for more in terms[places:]:  # Max and Min take any number
            said = template.format(self.program.at(out), more)
            self.program.loop(count, f"{self.program.at(out)} = {said};")
        return out

    def _move(self, node: Operation) -> None:
        source = self.value(node.inputs[0])
        pieces = MOVES[node.op](self, node, source.index)
        for name, index in zip(node.outputs, pieces, strict=True):
            self.values[name] = Value(source.base, index)

    def _reduce(self, node: Operation) -> Value:
        source, out = self.value(node.inputs[0]), self.program.buffer(self._graph.shapes[node.outputs[0]])
        axes = self._ints(node, 1, "axes")
        axes = list(range(source.index.ndim)) if axes is None else [a % source.index.ndim for a in axes]
        kept = [a for a in range(source.index.ndim) if a not in axes]
        rows = source.index.transpose(kept + axes).reshape(out.index.size, -1)
        term, here, sign = self.program.at(Value(source.base, rows)), self.program.at(out), REDUCTIONS[node.op]
        count, width = out.index.size, rows.shape[1]
        here = here.replace("i", f"(i / {width})") if count > 1 else here
        first = Value(source.base, rows[:, 0])
        self.program.loop(count, f"{self.program.at(out)} = {'0.0f' if sign == '+=' else self.program.at(first)};")
        step = f"{here} += {term};" if sign == "+=" else f"if ({term} {sign} {here}) {{ {here} = {term}; }}"
        self.program.loop(rows.size, step)
        if node.op == "ReduceMean":
            self.program.loop(count, f"{self.program.at(out)} /= {width}.0f;")
        return out

    def _concat(self, node: Operation) -> Value:
        out, at = self.program.buffer(self._graph.shapes[node.outputs[0]]), 0
        axis = node.attributes["axis"] % out.index.ndim
        for source in map(self.value, node.inputs):
            width = source.shape[axis]
            part = Value(out.base, out.index.take(range(at, at + width), axis))
            if part.index.size:
                self.program.loop(part.index.size, f"{self.program.at(part)} = {self.program.at(source)};")
            at += width
        return out

    def _matmul(self, node: Operation) -> Value:
        """Rows of weights follow each other: the inner loop runs along them, which compilers vectorize."""
        left, right = (self.value(name) for name in node.inputs)
        out = self.program.buffer(self._graph.shapes[node.outputs[0]])
        a = left.index if left.index.ndim > 1 else left.index[None]
        b = right.index if right.index.ndim > 1 else right.index[:, None]
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        (rows, inner), columns = a.shape[-2:], b.shape[-1]
        grid_a = np.broadcast_to(a, (*lead, rows, inner)).reshape(-1, rows, inner)
        grid_b = np.broadcast_to(b, (*lead, inner, columns)).reshape(-1, inner, columns)
        shared = all(np.array_equal(grid_b[0], g) for g in grid_b[1:])
        groups = [(grid_a.reshape(-1, inner), grid_b[0])] if shared else list(zip(grid_a, grid_b, strict=True))
        done = 0
        for x, w in groups:
            ours = (self.program.contiguous(Value(left.base, x)), self.program.contiguous(Value(right.base, w)))
            self._product((out.base, done), *ours, (len(x), inner, columns))
            done += len(x) * columns
        return out

    def _product(
        self, out: tuple[str, int], x: tuple[str, int], w: tuple[str, int], sizes: tuple[int, int, int]
    ) -> None:
        rows, inner, columns = sizes
        m_out, m_x = (f"m * {columns} + ", f"m * {inner} + ") if rows > 1 else ("", "")
        to = f"{out[0]}[{out[1]} + {m_out}n]"
        term = f"{x[0]}[{x[1]} + {m_x}k] * {w[0]}[{w[1]} + k * {columns} + n]"
        row = f"for (int n = 0; n < {columns}; ++n)"
        lines = [
            f"{row} {{ {to} = 0.0f; }}",
            f"for (int k = 0; k < {inner}; ++k) {{",
            f"    {row} {{ {to} += {term}; }}",
            "}",
        ]
        if rows > 1:
            lines = [f"for (int m = 0; m < {rows}; ++m) {{", *(f"    {line}" for line in lines), "}"]
        self.program.line("\n".join(lines))

    def _slice(self, node: Operation, index: np.ndarray) -> list[np.ndarray]:
        starts, ends = self._ints(node, 1, "starts") or [], self._ints(node, 2, "ends") or []
        axes = self._ints(node, 3, "axes") or list(range(len(starts)))
        steps = self._ints(node, 4, "steps") or [1] * len(starts)
        cut = [slice(None)] * index.ndim
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
            cut[axis] = slice(start, end if end >= -index.shape[axis] - 1 else None, step)
        return [index[tuple(cut)]]

    def _split(self, node: Operation, index: np.ndarray) -> list[np.ndarray]:
        axis = node.attributes.get("axis", 0)
        widths = [self._graph.shapes[name][axis] for name in node.outputs]
        return np.split(index, np.cumsum(widths)[:-1], axis)

    def _gather(self, node: Operation, index: np.ndarray) -> list[np.ndarray]:
        if node.inputs[1] not in self._graph.constants:
            self._refuse(node.op, "with places that are computed is not translated")
        return [np.take(index, self._graph.constants[node.inputs[1]], node.attributes.get("axis", 0))]

    def _shape(self, node: Operation, index: np.ndarray) -> list[np.ndarray]:
        return [index.reshape(self._graph.shapes[node.outputs[0]])]

    def _expand(self, node: Operation, index: np.ndarray) -> list[np.ndarray]:
        return [np.broadcast_to(index, self._graph.shapes[node.outputs[0]])]

    def _transpose(self, node: Operation, index: np.ndarray) -> list[np.ndarray]:
        return [index.transpose(node.attributes.get("perm"))]


MOVES: dict[str, Callable[[Translator, Operation, np.ndarray], list[np.ndarray]]] = {
    "Slice": Translator._slice,
    "Split": Translator._split,
    "Gather": Translator._gather,
    "Reshape": Translator._shape,
    "Squeeze": Translator._shape,
    "Unsqueeze": Translator._shape,
    "Flatten": Translator._shape,
    "Expand": Translator._expand,
    "Transpose": Translator._transpose,
}
"""Operators that only rearrange elements."""
