"""A policy from an ONNX file of any exporter: read as a bundle's graph is, and computed in JAX operator by operator."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import onnx
from onnx import numpy_helper

from robomarl.config import UserError
from robomarl.policies.foreign.onnx_operators import OPERATORS
from robomarl.policies.foreign.policy import ForeignPolicy, Memory
from robomarl.policies.onnx_check import check_onnx


def read_onnx(file: Path) -> ForeignPolicy:
    """Read an ONNX file: its first input is the observation and its first output the action; what else goes in is
    memory, and comes out behind the action in the same order.

    Raises:
        UserError: not what may be in a bundle, an operator that is not translated, or memory that does not come back.
    """
    content = file.read_bytes()
    try:
        check_onnx(content, str(file))
    except UserError as error:
        if "lies in another file" in str(error):
            raise UserError(f"{error} With PyTorch: torch.onnx.export(..., external_data=False).") from None
        raise
    model = onnx.load_from_string(content)
    _check_operators(model, file)
    shapes = _inputs(model)
    memory = list(shapes.items())[1:]
    if len(model.graph.output) < 1 + len(memory):
        raise UserError(
            f"{file}: the inputs {', '.join(n for n, _ in memory)} are memory, but the outputs have none; export both."
        )
    return ForeignPolicy(
        framework=f"onnxruntime, {model.producer_name or 'unknown exporter'} {model.producer_version}".strip(),
        memory=tuple(shape for _, shape in memory),
        apply=_Graph(model, shapes, str(file)).apply,
        reference=_reference(content, shapes),
        num_inputs=int(np.prod(next(iter(shapes.values())))),
    )


def _check_operators(model: onnx.ModelProto, file: Path) -> None:
    for node in model.graph.node:
        if node.op_type not in OPERATORS:
            known = "dense, recurrent and normalizing layers"
            raise UserError(
                f"{file}: uses the operator {node.op_type!r}, which import can't translate; export {known}."
            )


def _inputs(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs for one robot: axes without a size, as the batch, are 1."""
    weights = {t.name for t in model.graph.initializer}
    nodes = [i for i in model.graph.input if i.name not in weights]
    return {i.name: tuple(d.dim_value or 1 for d in i.type.tensor_type.shape.dim) for i in nodes}


class _Graph:
    """The graph as a function."""

    def __init__(self, model: onnx.ModelProto, shapes: dict[str, tuple[int, ...]], where: str) -> None:
        self._weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self._nodes = [
            (n.op_type, list(n.input), list(n.output), {a.name: _attribute(a) for a in n.attribute})
            for n in model.graph.node
        ]
        self._outputs = [o.name for o in model.graph.output][: len(shapes)]
        self._shapes, self._where = shapes, where

    def apply(self, memory: Memory, x: Any) -> tuple[Memory, Any]:
        """See `ForeignPolicy.apply`."""
        known: dict[str, Any] = {"": None, **self._weights}
        for (name, shape), value in zip(self._shapes.items(), (x, *memory), strict=True):
            known[name] = jnp.reshape(value, shape)
        for op, inputs, outputs, attributes in self._nodes:
            try:
                found = OPERATORS[op](attributes, *(known[name] for name in inputs))
            except (TypeError, ValueError, KeyError, IndexError) as error:
                why = str(error).splitlines()[0][:120] if str(error) else "no reason"
                raise UserError(
                    f"{self._where}: {op} can't be translated ({why}); export dense and recurrent layers only."
                ) from None
            known.update(zip(outputs, found if isinstance(found, tuple) else (found,), strict=False))
        action, *after = (jnp.asarray(known[name]) for name in self._outputs)
        shapes = list(self._shapes.values())[1:]
        for name, value, shape in zip(self._outputs[1:], after, shapes, strict=True):
            if value.shape != shape:
                raise UserError(f"{self._where}: memory {name!r} comes back as {value.shape} and goes in as {shape}.")
        return tuple(after), action.reshape(-1)


def _attribute(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _reference(content: bytes, shapes: dict[str, tuple[int, ...]]) -> Any:
    """onnxruntime on the file as it is."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = list(shapes)

    def fly(inputs: np.ndarray) -> np.ndarray:
        memory, outputs = [np.zeros(shapes[name], np.float32) for name in names[1:]], []
        for row in inputs.astype(np.float32):
            feed = dict(zip(names, (row.reshape(shapes[names[0]]), *memory), strict=True))
            action, *after = (np.asarray(found) for found in session.run(None, feed))
            memory = after[: len(memory)]
            outputs.append(action.reshape(-1))
        return np.stack(outputs)

    return fly
