"""`with_small_weights`: an ONNX graph that keeps its large weights as bytes, and computes in single precision.

onnxruntime widens them once, when it loads the graph, so a picture takes as long as before.
"""

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

LARGE = 256
"""Least number of elements of a weight that is kept as bytes."""
STEPS = 127
"""Steps from 0 to the largest weight of an output channel."""


def with_small_weights(model: ModelProto) -> ModelProto:
    """Return the graph with its large weights as int8 and one scale for each output channel, their first axis.

    Args:
        model: graph with float32 weights; it stays as it is.
    """
    made = ModelProto()
    made.CopyFrom(model)
    graph, widened = made.graph, list[NodeProto]()
    for at, tensor in enumerate(model.graph.initializer):
        weights = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or weights.size < LARGE or weights.ndim < 2:
            continue
        most = np.abs(weights).max(tuple(range(1, weights.ndim)), keepdims=True)
        scale = (np.maximum(most, np.finfo(np.float32).tiny) / STEPS).astype(np.float32)
        small, wide, unit = (f"{tensor.name}_{kind}" for kind in ("small", "wide", "scale"))
        graph.initializer[at].CopyFrom(numpy_helper.from_array(np.rint(weights / scale).astype(np.int8), small))
        graph.initializer.append(numpy_helper.from_array(scale, unit))
        widened.append(helper.make_node("Cast", [small], [wide], to=TensorProto.FLOAT))
        widened.append(helper.make_node("Mul", [wide, unit], [tensor.name]))
    nodes = [*widened, *model.graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    return made
