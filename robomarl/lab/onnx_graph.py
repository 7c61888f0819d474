"""Reader of ONNX graphs: operations, constants and dependences. A robot has `robomarl.core.bundle.onnx_check`."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper

Attributes = dict[str, Any]
"""Attributes of an operator by name: numbers, words, lists, arrays and graphs."""


class Operation(NamedTuple):
    """One operator, its inputs and outputs by name."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Attributes


def operations(model: onnx.ModelProto) -> list[Operation]:
    """Return the operations in the order of computation."""
    return [
        Operation(node.op_type, tuple(node.input), tuple(node.output), {a.name: _value(a) for a in node.attribute})
        for node in model.graph.node
    ]


def constants(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Return the arrays that the file holds, by name."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def ancestors(model: onnx.ModelProto, names: Iterable[str]) -> set[str]:
    """Return every value that these values are computed from, themselves included."""
    made = {output: node for node in model.graph.node for output in node.output}
    found, left = set(), [*names]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += made[name].input if name in made else ()
    return found


def _value(attribute: onnx.AttributeProto) -> object:
    value = onnx.helper.get_attribute_value(attribute)
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
