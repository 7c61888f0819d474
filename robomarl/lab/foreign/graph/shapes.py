"""Shapes and types of an ONNX graph's inputs for one robot, and how many robots the file decides for at once."""

from dataclasses import dataclass

import numpy as np
import onnx

from robomarl.core.config import UserError
from robomarl.lab.foreign.graph.ports import Ports

UNKNOWN = -1
"""Size of an axis that follows from how many numbers there are."""


@dataclass(frozen=True)
class InputShapes:
    """Shapes, batch axes and types of the graph's inputs."""

    one: dict[str, tuple[int, ...]]
    """Shape of each input for one robot; `UNKNOWN` for the last axis of an observation without a length in the file."""
    batch_axis: dict[str, int | None]
    """Axis that has one place for each robot, in files that decide for `batch` robots at once."""
    types: dict[str, np.dtype]
    batch: int
    """Robots for which the file decides at once; 1 for most files."""
    num_inputs: int | None
    """Length of the observation, if the file says it."""


def shapes_of(model: onnx.ModelProto, ports: Ports, where: str) -> InputShapes:
    """Shapes for one robot: axes without a size, as the batch, are 1, and so is a batch that was exported as fixed.

    Raises:
        UserError: an observation that is no array of floats, or memory without a shape.
    """
    inputs = {i.name: i for i in model.graph.input}
    outputs = {o.name: o for o in model.graph.output}
    raw = {name: _sizes(inputs[name]) for name in (ports.observation, *ports.memory, *ports.zeros)}
    types = {name: _type(inputs[name]) for name in raw}
    if types[ports.observation].kind != "f":
        raise UserError(
            f"{where}: reads the observation {ports.observation} as {types[ports.observation]}, and robomarl's are "
            "floats; export a policy of vectors."
        )
    seen, done = raw[ports.observation] or [1, 0], _sizes(outputs[ports.action]) or []
    batch = seen[0] if len(seen) > 1 and seen[0] > 1 and (not done or done[0] in (seen[0], 0)) else 1
    one, axes = {}, {}
    for name, sizes in {**raw, ports.observation: seen}.items():
        axes[name] = sizes.index(batch) if sizes and batch > 1 and batch in sizes else None
        one[name] = tuple(1 if i == axes[name] else size or 1 for i, size in enumerate(sizes or ()))
    if not seen[-1]:
        one[ports.observation] = (*one[ports.observation][:-1], UNKNOWN)
    count = int(np.prod(one[ports.observation]))
    return InputShapes(one, axes, types, batch, count if count > 0 else None)


def _sizes(port: onnx.ValueInfoProto) -> list[int] | None:
    """Size of each axis, 0 where the file leaves it open; None where it has no shape."""
    tensor = port.type.tensor_type
    return [d.dim_value for d in tensor.shape.dim] if tensor.HasField("shape") else None


def _type(port: onnx.ValueInfoProto) -> np.dtype:
    kind = port.type.tensor_type.elem_type
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind or onnx.TensorProto.FLOAT))
