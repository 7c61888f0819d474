"""A bundle that sees with a network that was never trained: means of rows of the strip."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.camera.camera import PinholeCamera
from robomarl.core.camera.strip import GroundStrip, Picture8
from robomarl.lab.export.seeing import Eyes, seal_perception

CAMERA = PinholeCamera(
    **{"width": 160, "height": 120, "fx": 40.0, "fy": 40.0, "cx": 79.5, "cy": 59.5},
    distortion=(-0.02, 0.0, 0.0, 0.0, 0.0),
    place_m=(0.06, 0.0, 0.14),
    pitch_rad=0.35,
    **{"rate_hz": 25.0, "latency_s": 0.04, "exposure_s": 0.008, "readout_s": 0.015},
)
"""A small one, so that a test's pictures are small."""


def network(outputs: int, operator: str = "Conv") -> bytes:
    """A network of one convolution: strip uint8 [B, 32, 96, 3] -> sight float32 [B, outputs]."""
    rows, columns, _ = GroundStrip().shape
    weight = np.random.default_rng(0).normal(0, 1e-4, (outputs, 3, rows, columns)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["strip"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Transpose", ["numbers"], ["planes"], perm=[0, 3, 1, 2]),
        helper.make_node(operator, ["planes", "weight"], ["one"]),
        helper.make_node("Flatten", ["one"], ["sight"]),
    ]
    inputs = [helper.make_tensor_value_info("strip", TensorProto.UINT8, ["batch", rows, columns, 3])]
    outs = [helper.make_tensor_value_info("sight", TensorProto.FLOAT, ["batch", outputs])]
    graph = helper.make_graph(nodes, "eyes", inputs, outs, [numpy_helper.from_array(weight, "weight")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def pictures(camera: PinholeCamera, count: int) -> Picture8:
    """Pictures of a green floor with noise, as a camera at work makes them."""
    random = np.random.default_rng(1)
    image = random.integers(0, 40, (count, camera.height, camera.width, 3), np.uint8)
    image[:, camera.height // 3 :, :, 1] += 120
    image[:, : camera.height // 3] += 60
    return image


def seeing_bundle(folder: Path, outputs: int = 8, camera: PinholeCamera = CAMERA) -> Bundle:
    """The shipped policy with these eyes."""
    assert onnx.__version__
    return seal_perception(load_bundle("soccer_2v2"), Eyes(network(outputs), camera, 0.1), pictures, folder)
