"""Conversion of ONNX graphs of half or double precision to single precision."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

OTHER = (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)


def is_single(model: onnx.ModelProto) -> bool:
    """Return True if all float inputs, outputs and weights are of single precision."""
    ports = [*model.graph.input, *model.graph.output]
    kinds = {p.type.tensor_type.elem_type for p in ports} | {t.data_type for t in model.graph.initializer}
    return not kinds & {*OTHER}


def in_single(model: onnx.ModelProto) -> None:
    """Replace other precisions by single throughout.

    Every half number is a single number, so these weights do not change; doubles are rounded.
    """
    for port in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if port.type.tensor_type.elem_type in OTHER:
            port.type.tensor_type.elem_type = TensorProto.FLOAT
    for weight in model.graph.initializer:
        _convert(weight)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                _convert(attribute.t)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i in OTHER:
                attribute.i = TensorProto.FLOAT


def _convert(weight: onnx.TensorProto) -> None:
    if weight.data_type in OTHER:
        weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight).astype(np.float32), weight.name))
