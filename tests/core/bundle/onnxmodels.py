"""Small ONNX models as exporters write them, and what import makes of them."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.bundle.bundle import load_bundle
from robomarl.lab.foreign.policy import ForeignPolicy

RNG = np.random.default_rng(3)
SPEC, ACTION = (lambda c: (c.observation.spec, c.action))(load_bundle("swap_4").contract)
WIDTH = SPEC.size


def weights(*shape: int) -> np.ndarray:
    return (RNG.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)


def model(
    nodes: list[onnx.NodeProto], inputs: dict[str, list], outputs: list[str], **arrays: np.ndarray
) -> onnx.ModelProto:
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()]
    made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
    tensors = [numpy_helper.from_array(a, n) for n, a in arrays.items()]
    graph = helper.make_graph(nodes, "torch_jit", ports, made, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8, producer_name="pytorch")


def dense_model(width: int = WIDTH, commands: int = 4, activation: str = "Elu") -> onnx.ModelProto:
    """As PyTorch writes an actor with an empirical normalizer."""
    nodes = [
        helper.make_node("Sub", ["obs", "mean"], ["a"]),
        helper.make_node("Div", ["a", "std"], ["b"]),
        helper.make_node("Gemm", ["b", "w0", "b0"], ["c"], transB=1),
        helper.make_node(activation, ["c"], ["d"]),
        helper.make_node("Gemm", ["d", "w1", "b1"], ["actions"], transB=1),
    ]
    arrays = {"mean": weights(1, width), "std": 1 + weights(1, width) ** 2}
    arrays |= {"w0": weights(16, width), "b0": weights(16), "w1": weights(commands, 16), "b1": weights(commands)}
    return model(nodes, {"obs": [1, width]}, ["actions"], **arrays)


def recurrent_model(op: str) -> onnx.ModelProto:
    """As PyTorch writes one: the state has axes of layers and batch."""
    gates, names = (3, ["h"]) if op == "GRU" else (4, ["h", "c"])
    more: dict[str, Any] = {"linear_before_reset": 1} if op == "GRU" else {}
    cell_inputs = ["x", "w", "r", "b", "", *(f"{n}_in" for n in names)]
    nodes = [
        helper.make_node("Unsqueeze", ["obs", "zero"], ["x"]),
        helper.make_node(op, cell_inputs, ["y", *(f"{n}_out" for n in names)], hidden_size=8, **more),
        helper.make_node("Squeeze", ["y", "both"], ["z"]),
        helper.make_node("Gemm", ["z", "w1", "b1"], ["actions"], transB=1),
    ]
    arrays = {"w": weights(1, gates * 8, WIDTH), "r": weights(1, gates * 8, 8), "b": weights(1, 2 * gates * 8)}
    arrays |= {"w1": weights(4, 8), "b1": weights(4), "zero": np.array([0]), "both": np.array([0, 1])}
    inputs = {"obs": [1, WIDTH], **{f"{n}_in": [1, 1, 8] for n in names}}
    return model(nodes, inputs, ["actions", *(f"{n}_out" for n in names)], **arrays)


def saved(content: onnx.ModelProto, folder: Path, name: str = "actor.onnx") -> Path:
    (folder / name).write_bytes(content.SerializeToString())
    return folder / name


def difference(policy: ForeignPolicy, width: int = WIDTH) -> float:
    """Largest difference of our function from the file's framework over decisions in a row."""
    inputs = RNG.normal(size=(20, width)).astype(np.float32)
    memory, ours, apply = tuple(jnp.zeros(shape) for shape in policy.memory), [], jax.jit(policy.apply)
    for row in inputs:
        memory, output = apply(memory, jnp.asarray(row))
        ours.append(np.asarray(output))
    return float(np.abs(np.stack(ours) - policy.reference(inputs)).max())
