"""A bundle that sees with a network that was never trained: means of rows of the strip."""

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip, Picture8
from robomarl.lab.export.seeing import Eyes, seal_perception

CAMERA = PinholeCamera(
    *(160, 120, 40.0, 40.0, 79.5, 59.5),
    distortion=(-0.02, 0.0, 0.0, 0.0, 0.0),
    place_m=(0.06, 0.0, 0.14),
    pitch_rad=0.35,
    rate_hz=25.0,
    latency_s=0.04,
    exposure_s=0.008,
    readout_s=0.015,
)
"""A small one, so that a test's pictures are small."""


def network(outputs: int, bias: np.ndarray | None = None) -> bytes:
    """A network of one convolution: strip [B, 32, 96, 3] -> sight [B, outputs]; with `bias` always that."""
    rows, columns, _ = GroundStrip().shape
    weight = np.random.default_rng(0).normal(0, 1e-4, (outputs, 3, rows, columns)).astype(np.float32)
    constant = np.zeros(outputs, np.float32) if bias is None else bias.astype(np.float32)
    weight = weight if bias is None else weight * 0
    nodes = [
        helper.make_node("Cast", ["strip"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Transpose", ["numbers"], ["planes"], perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["planes", "weight", "bias"], ["one"]),
        helper.make_node("Flatten", ["one"], ["sight"]),
    ]
    constants = [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(constant, "bias")]
    inputs = [helper.make_tensor_value_info("strip", TensorProto.UINT8, ["batch", rows, columns, 3])]
    outs = [helper.make_tensor_value_info("sight", TensorProto.FLOAT, ["batch", outputs])]
    graph = helper.make_graph(
        nodes,
        "eyes",
        inputs,
        outs,
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def pictures(camera: PinholeCamera, count: int) -> Picture8:
    """Pictures of a green floor with noise, as a camera at work makes them."""
    random = np.random.default_rng(1)
    image = random.integers(0, 40, (count, camera.height, camera.width, 3), np.uint8)
    image[:, camera.height // 3 :, :, 1] += 120
    image[:, : camera.height // 3] += 60
    return image


def seeing_bundle(folder: Path, graph: bytes = b"", most_m: float = 0.1) -> Bundle:
    """The shipped policy with these eyes; by default a network of 8 outputs."""
    return seal_perception(load_bundle("soccer_2v2"), Eyes(graph or network(8), CAMERA, most_m), pictures, folder)
