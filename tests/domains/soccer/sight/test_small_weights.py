"""A quarter of the space for nearly equal numbers."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from robomarl.domains.soccer.lab.sight.small_weights import with_small_weights


def test_a_large_weight_takes_a_quarter_and_a_small_one_stays():
    """y = W x + b with 64 x 64 weights: a rounding is half of a 127th of the largest weight of its row."""
    random = np.random.default_rng(0)
    weight, offset = random.normal(size=(64, 64)).astype(np.float32), random.normal(size=64).astype(np.float32)
    weight[0], weight[1] = 0.0, 1e-3 * weight[1]
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64]) for name in "xy"]
    kept = [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(offset, "b")]
    graph = helper.make_graph(nodes, "line", ends[:1], ends[1:], kept)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    small = with_small_weights(whole)
    onnx.checker.check_model(small)
    assert len(small.SerializeToString()) < 0.35 * len(whole.SerializeToString())
    kinds = {tensor.name: tensor.data_type for tensor in small.graph.initializer}
    assert kinds == {"w_small": TensorProto.INT8, "b": TensorProto.FLOAT, "w_scale": TensorProto.FLOAT}
    assert [tensor.name for tensor in whole.graph.initializer] == ["w", "b"], "it stays as it is"
    x = random.uniform(-1, 1, (1, 64)).astype(np.float32)
    found = np.asarray(onnxruntime.InferenceSession(small.SerializeToString()).run(None, {"x": x})[0])
    right, most = x @ weight.T + offset, np.abs(weight).max(1) / 127 / 2 * np.abs(x).sum()
    assert (np.abs(found - right) <= most + 1e-5).all() and not np.array_equal(found, right)
    assert found[0, 0] == offset[0]
