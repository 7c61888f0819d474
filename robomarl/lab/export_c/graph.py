"""The ONNX graph of a bundle for one robot: its nodes, the shape of every tensor, and its constants."""

from dataclasses import dataclass

import numpy as np
import onnx

from robomarl.lab.onnx_graph import Operation, constants, operations


@dataclass(frozen=True)
class OneRobot:
    """The graph for a batch of 1."""

    inputs: dict[str, tuple[int, ...]]
    """Name -> shape, without the batch."""
    outputs: dict[str, tuple[int, ...]]
    nodes: tuple[Operation, ...]
    """Operations in the order of computation, without those that have constant outputs."""
    constants: dict[str, np.ndarray]
    """Every tensor that does not depend on the inputs."""
    shapes: dict[str, tuple[int, ...]]
    """Shapes of the inputs and of all computed tensors, batch included."""
    types: dict[str, np.dtype]


def one_robot(content: bytes) -> OneRobot:
    """Read a graph that `robomarl.core.bundle.onnx_check` has accepted.

    Shapes and constants are those that onnxruntime finds when it computes every tensor once.
    """
    model = onnx.load_from_string(content)
    graph = model.graph
    inputs = {i.name: tuple(d.dim_value for d in i.type.tensor_type.shape.dim[1:]) for i in graph.input}
    known = constants(model)
    found = _computed(model, {name: np.zeros((1, *shape), np.float32) for name, shape in inputs.items()})
    kept = []
    for node in operations(model):
        if node.op == "Shape" or all(not name or name in known for name in node.inputs):
            known.update({name: found[name] for name in node.outputs if name in found})
        else:
            kept.append(node)
    outputs = {o.name: found[o.name].shape[1:] for o in graph.output}
    shapes = {name: array.shape for name, array in found.items()} | {n: (1, *s) for n, s in inputs.items()}
    types = {name: array.dtype for name, array in found.items()}
    return OneRobot(inputs, outputs, tuple(kept), known, shapes, types)


def _computed(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every tensor of one decision by name."""
    import onnxruntime

    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    given = {output.name for output in whole.graph.output}
    names = [name for node in model.graph.node for name in node.output if name and name not in given]
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(None, feed)
    return {node.name: np.asarray(array) for node, array in zip(session.get_outputs(), results, strict=True)}
