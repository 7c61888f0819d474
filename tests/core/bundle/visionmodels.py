"""Networks that read pictures, in the forms that exporters of other frameworks write."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from robomarl.core.bundle.bundle import PERCEPTION_FILE, load_bundle

RNG = np.random.default_rng(5)
OUTPUTS = 7
TYPES = {"float32": TensorProto.FLOAT, "uint8": TensorProto.UINT8, "int32": TensorProto.INT32}


def convolutional(layout: str, sizes: tuple[int | str, ...], kind: str = "float32", opset: int = 17) -> onnx.ModelProto:
    """A convolution and a dense layer of every cell, so that each pixel and channel counts differently.

    PyTorch writes `nchw` so; tf2onnx and jax2onnx put transpositions around the convolution of `nhwc` models.

    Args:
        layout: nchw or nhwc.
        sizes: of the input; words are open axes, and three sizes have no batch.
        kind: type of the input.
        opset: version of the operators.
    """
    one = [size if isinstance(size, int) else -1 for size in sizes[-3:]]
    rows, columns, channels = one if layout == "nhwc" else (*one[1:], one[0])
    rows, columns = (32, 96) if rows < 0 else (rows, columns)
    one = [rows, columns, channels] if layout == "nhwc" else [channels, rows, columns]
    cells = ((rows + 1) // 2) * ((columns + 1) // 2) * 4
    constants = {
        "kernel": np.float32(RNG.normal(0, 0.3, (4, channels, 3, 3))),
        "bias": np.float32(RNG.normal(0, 0.3, 4)),
        "dense": np.float32(RNG.normal(0, 1 / cells**0.5, (cells, OUTPUTS))),
        "one": np.array([1, *one]),
    }
    is_last = layout == "nhwc"
    nodes = [
        helper.make_node("Cast", ["image"], ["x"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["x", "one"], ["batched"]),
        *([helper.make_node("Transpose", ["batched"], ["planes"], perm=[0, 3, 1, 2])] if is_last else []),
        helper.make_node(
            "Conv", ["planes" if is_last else "batched", "kernel", "bias"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]
        ),
        *([helper.make_node("Transpose", ["c"], ["back"], perm=[0, 2, 3, 1])] if is_last else []),
        helper.make_node("Tanh", ["back" if is_last else "c"], ["t"]),
        helper.make_node("Flatten", ["t"], ["f"]),
        helper.make_node("MatMul", ["f", "dense"], ["sight"]),
    ]
    graph = helper.make_graph(
        nodes,
        "main_graph",
        [helper.make_tensor_value_info("image", TYPES[kind], sizes)],
        [helper.make_tensor_value_info("sight", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


def shipped_as_others() -> onnx.ModelProto:
    """The network of `soccer_2v2_eyes` as OpenCV's users have it: [1, 3, 32, 192] blue, green, red from 0 to 1."""
    model = onnx.load_from_string(load_bundle("soccer_2v2_eyes").files[PERCEPTION_FILE])
    before = [
        helper.make_node("Transpose", ["image"], ["rows"], perm=[0, 2, 3, 1]),
        helper.make_node("Gather", ["rows", "order"], ["rgb"], axis=3),
        helper.make_node("Mul", ["rgb", "white"], ["wide"]),
        helper.make_node("Round", ["wide"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["strip"], to=TensorProto.UINT8),
    ]
    graph = helper.make_graph(
        [*before, *model.graph.node],
        "others",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 32, 192])],
        [*model.graph.output],
        [
            *model.graph.initializer,
            numpy_helper.from_array(np.array([2, 1, 0]), "order"),
            numpy_helper.from_array(np.array(255, np.float32), "white"),
        ],
    )
    return helper.make_model(graph, opset_imports=[*model.opset_import], ir_version=8)


def written(model: onnx.ModelProto, folder: Path) -> Path:
    """Return the file of a model."""
    file = folder / "eyes.onnx"
    onnx.save(model, file)
    return file


def channels_first(torch: Any) -> Any:
    """A module that puts the channels first."""

    class Planes(torch.nn.Module):
        def forward(self, x):
            return x.permute(0, 3, 1, 2)

    return Planes()


def named(torch: Any, is_branched: bool) -> Any:
    """A module that returns its numbers by name, from its last line or from two branches."""

    class Named(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Conv2d(3, 4, 3)

        def forward(self, x):
            return {"sight": self.layer(x)}

    class Branched(Named):
        def forward(self, x):
            seen = self.layer(x)
            if bool(seen.sum() > 0):
                return {"sight": seen}
            return {"sight": -seen}

    return Branched() if is_branched else Named()
