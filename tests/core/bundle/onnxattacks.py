"""ONNX graphs that would run something else than what was signed, each made from a sound one."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE_FILE = "side.bin"
"""What the graphs would read, beside the working directory."""
SIDE_SIZE = 400
"""Numbers in it that one attack reads: onnxruntime computes with few ones as it opens the graph, and fails then."""


def elsewhere(name: str = "bias", size: int = 4) -> TensorProto:
    """A constant whose numbers are in `SIDE_FILE`."""
    tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[size], name=name, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=SIDE_FILE)
    tensor.external_data.add(key="length", value=str(4 * size))
    return tensor


def _behind_action(model: onnx.ModelProto, op: str, extra: list[str] | None = None, domain: str = "", **about) -> None:
    """Put a node between the graph and its action."""
    last = next(node for node in model.graph.node if "action" in node.output)
    last.output[0] = "before"
    model.graph.node.append(helper.make_node(op, ["before", *(extra or [])], ["action"], domain=domain, **about))


def _function(model: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> None:
    opset = helper.make_opsetid("", 17)
    model.functions.append(helper.make_function("local", "Shift", ["x"], ["y"], nodes, [opset]))
    model.opset_import.append(helper.make_opsetid("local", 1))
    _behind_action(model, "Shift", domain="local")


def function_reads_a_file(model: onnx.ModelProto) -> None:
    """The attack that was shown: onnxruntime inlines the function, and reads the file."""
    constant = helper.make_node("Constant", [], ["c"], value=elsewhere(size=SIDE_SIZE))
    total = helper.make_node("ReduceSum", ["c"], ["s"], keepdims=0)
    _function(model, [constant, total, helper.make_node("Add", ["x", "s"], ["y"])])


def harmless_function(model: onnx.ModelProto) -> None:
    _function(model, [helper.make_node("Identity", ["x"], ["y"])])


def unused_function(model: onnx.ModelProto) -> None:
    opset = helper.make_opsetid("", 17)
    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    model.functions.append(helper.make_function("local", "Unused", ["x"], ["y"], nodes, [opset]))


def constant_reads_a_file(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Constant", [], ["c"], value=elsewhere()))
    _behind_action(model, "Add", ["c"])


def branch_reads_a_file(model: onnx.ModelProto) -> None:
    """The file is read in a graph within the graph."""
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    branch = helper.make_graph([helper.make_node("Identity", ["c"], ["y"])], "branch", [], [out], [elsewhere("c")])
    yes = numpy_helper.from_array(np.array(True), "yes")
    model.graph.initializer.append(yes)
    model.graph.node.append(helper.make_node("If", ["yes"], ["c4"], then_branch=branch, else_branch=branch))
    _behind_action(model, "Add", ["c4"])


def sparse_attribute(model: onnx.ModelProto) -> None:
    values, indices = elsewhere("v", 1), numpy_helper.from_array(np.array([0], np.int64), "i")
    sparse = helper.make_sparse_tensor(values, indices, [4])
    model.graph.node.insert(0, helper.make_node("Constant", [], ["c"], sparse_value=sparse))
    _behind_action(model, "Add", ["c"])


def training_info(model: onnx.ModelProto) -> None:
    model.training_info.add().initialization.initializer.append(elsewhere())


def other_domain(model: onnx.ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    _behind_action(model, "Gelu", domain="com.microsoft")


def imported_domain(model: onnx.ModelProto) -> None:
    """Nothing uses it; what it is for nobody says."""
    model.opset_import.append(helper.make_opsetid("org.example", 1))


def endless_loop(model: onnx.ModelProto) -> None:
    """2^62 turns of nothing."""
    yes, turns = np.array(True), np.int64(2**62)
    ports = [("turn", TensorProto.INT64, []), ("go", TensorProto.BOOL, []), ("value", TensorProto.FLOAT, None)]
    inputs = [helper.make_tensor_value_info(*port) for port in ports]
    outputs = [
        helper.make_tensor_value_info("goes", TensorProto.BOOL, []),
        helper.make_tensor_value_info("same", TensorProto.FLOAT, None),
    ]
    nodes = [helper.make_node("Identity", ["go"], ["goes"]), helper.make_node("Identity", ["value"], ["same"])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    model.graph.initializer.extend(
        [numpy_helper.from_array(np.asarray(turns), "turns"), numpy_helper.from_array(yes, "yes")]
    )
    last = next(node for node in model.graph.node if "action" in node.output)
    last.output[0] = "before"
    model.graph.node.append(helper.make_node("Loop", ["turns", "yes", "before"], ["action"], body=body))


def random_numbers(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("RandomNormal", [], ["c"], shape=[4], scale=1e-9))
    _behind_action(model, "Add", ["c"])


def large_constant(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(numpy_helper.from_array(np.array([2**31], np.int64), "size"))
    model.graph.node.insert(0, helper.make_node("ConstantOfShape", ["size"], ["c"]))
    model.graph.node.insert(1, helper.make_node("ReduceSum", ["c"], ["s"], keepdims=0))
    _behind_action(model, "Add", ["s"])


def nan_in_an_attribute(model: onnx.ModelProto) -> None:
    model.graph.node.insert(0, helper.make_node("Constant", [], ["c"], value_floats=[float("nan")] * 4))
    _behind_action(model, "Add", ["c"])


def bfloat16_weights(model: onnx.ModelProto) -> None:
    raw = helper.make_tensor("b", TensorProto.BFLOAT16, [4], b"\xc0\x7f" * 4, raw=True)
    model.graph.initializer.append(raw)


def half_as_integers(model: onnx.ModelProto) -> None:
    """NaN of half precision, in the field of the integers."""
    model.graph.initializer.append(TensorProto(data_type=TensorProto.FLOAT16, dims=[1], name="h", int32_data=[0x7E00]))


def strings(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(helper.make_tensor("s", TensorProto.STRING, [1], [b"text"]))  # type: ignore[arg-type]


ATTACKS: dict[Callable[[onnx.ModelProto], None], str] = {
    function_reads_a_file: "operator 'Shift'",
    harmless_function: "operator 'Shift'",
    unused_function: "functions of its own",
    constant_reads_a_file: "lies in another file",
    branch_reads_a_file: "lies in another file|operator 'If'",
    sparse_attribute: "sparse",
    training_info: "field 20",
    other_domain: "operators of 'com.microsoft'",
    imported_domain: "operators of 'org.example'",
    endless_loop: "operator 'Loop'",
    random_numbers: "operator 'RandomNormal'",
    large_constant: "operator 'ConstantOfShape'",
    nan_in_an_attribute: "that is nan",
    bfloat16_weights: "numbers of type 16",
    half_as_integers: "half precision as integers",
    strings: "field 6",
}
"""What is said of each."""
