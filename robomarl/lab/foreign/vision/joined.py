"""`joined`: the graph of a bundle, from a robot's strip to `sight`, around a network's own graph."""

import onnx
from onnx import TensorProto, helper

from robomarl.lab.export.values import Graph
from robomarl.lab.foreign.vision.preparation import emit_preparation
from robomarl.lab.foreign.vision.source import VisionSource
from robomarl.lab.onnx_graph import ancestors

NETWORK = "network/"
"""Beginning of the names of the network's own values."""
STRIP, SIGHT = "strip", "sight"
IR_VERSION = 8
"""Version of the file's format: that of bundles."""


def joined(source: VisionSource, size: int, origin: dict[str, str]) -> bytes:
    """Return the ONNX file `strip` [1, R, C, 3] uint8 -> `sight` [1, size] float32.

    Args:
        source: the network; only what its outputs need is taken.
        size: numbers of all outputs.
        origin: facts on the file, for the metadata.
    """
    model, around = onnx.compose.add_prefix(source.model, NETWORK), Graph(STRIP)
    outputs = [NETWORK + name for name in source.outputs]
    needed = ancestors(model, outputs)
    picture = emit_preparation(around, source.form, STRIP)
    around.nodes.append(helper.make_node("Identity", [picture], [NETWORK + source.picture]))
    around.nodes.extend(node for node in model.graph.node if needed & {*node.output})
    parts = [_row(around, name) for name in outputs]
    around.nodes.append(helper.make_node("Concat", parts, [SIGHT], axis=1))
    graph = helper.make_graph(
        around.nodes,
        "perception",
        [helper.make_tensor_value_info(STRIP, TensorProto.UINT8, [1, *source.form.strip.shape])],
        [helper.make_tensor_value_info(SIGHT, TensorProto.FLOAT, [1, size])],
        [*around.initializers, *(tensor for tensor in model.graph.initializer if tensor.name in needed)],
    )
    made = helper.make_model(graph, opset_imports=[*model.opset_import], ir_version=IR_VERSION)
    helper.set_model_props(made, origin)
    return made.SerializeToString()


def _row(graph: Graph, name: str) -> str:
    """Add the operators that put an output in a row [1, N] of floats; return its name."""
    numbers = graph.emit("Cast", [name], to=TensorProto.FLOAT)
    return graph.emit("Reshape", [*numbers, graph.ints([1, -1])])[0]
