"""Conversion of a robot's strip to the picture that a network takes: in numpy, and as operators of ONNX.

Both follow one order: channels, scale, mean and deviation, size, type, axes. The numpy one feeds the network in its
own framework, to which the sealed graph is compared.
"""

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from robomarl.core.camera.strip import Picture8
from robomarl.lab.export.values import Constant, Graph
from robomarl.lab.foreign.vision.form import PictureForm

GREY = (19595.0, 38470.0, 7471.0)
"""Weights of red, green and blue, in parts of 2^16: those of Pillow's `convert("L")`, of ITU-R BT.601."""
PARTS, HALF = 65536.0, 32768.0
"""All sums of a pixel's parts are whole numbers below 2^24, so single precision holds them exactly."""
FloatArray = NDArray[np.float32]


def prepared(strip: Picture8, form: PictureForm) -> np.ndarray:
    """Return the picture of `form.shape` that a network takes, for a strip [R, C, 3]."""
    image = strip.astype(np.float32)
    if form.channels == 1:
        image = np.floor((image @ np.array(GREY, np.float32)[:, None] + np.float32(HALF)) / np.float32(PARTS))
    elif form.swapped:
        image = image[..., ::-1]
    if form.kind.kind == "f":
        image = image / np.float32(255 / form.scale)
        image = (image - np.array(form.mean, np.float32)) / np.array(form.std, np.float32)
    if form.resized:
        down, across = _resizing(form)
        image = np.stack([down @ image[..., i] @ across for i in range(form.channels)], -1)
    image = image.transpose(2, 0, 1) if form.layout == "nchw" else image
    return np.ascontiguousarray(image.astype(form.kind).reshape(form.shape))


def linear_weights(old: int, new: int) -> FloatArray:
    """Return weights [new, old] that resize an axis linearly between the middles of its cells.

    It is `align_corners=False` of PyTorch, `tf.image.resize` and OpenCV's `INTER_LINEAR`, without a filter against
    aliasing.
    """
    place = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    low = np.floor(place).astype(int)
    high, share = np.minimum(low + 1, old - 1), place - low
    weights = np.zeros((new, old))
    np.add.at(weights, (np.arange(new), low), 1 - share)
    np.add.at(weights, (np.arange(new), high), share)
    return weights.astype(np.float32)


def _resizing(form: PictureForm) -> tuple[FloatArray, FloatArray]:
    """Return matrices [rows, R] and [C, columns], from the left and from the right."""
    return linear_weights(form.strip.rows, form.rows), linear_weights(form.strip.columns, form.columns).T


def emit_preparation(graph: Graph, form: PictureForm, strip: str) -> str:
    """Add the operators that make a picture of `form.shape` of a strip [1, R, C, 3] uint8; return its name."""
    image = _emit_channels(graph, form, graph.emit("Cast", [strip], to=TensorProto.FLOAT)[0])
    is_planes = form.layout == "nchw" or form.resized
    if is_planes:
        (image,) = graph.emit("Transpose", [image], perm=[0, 3, 1, 2])
    if form.resized:
        down, across = map(Constant, _resizing(form))
        (image,) = graph.emit("MatMul", graph.emit("MatMul", [down, image]) + [across])
    if form.kind.kind != "f":
        (image,) = graph.emit("Cast", [image], to=helper.np_dtype_to_tensor_dtype(form.kind))
    if is_planes and form.layout == "nhwc":
        (image,) = graph.emit("Transpose", [image], perm=[0, 2, 3, 1])
    return image if form.is_batched else graph.emit("Reshape", [image, graph.ints(form.shape)])[0]


def _emit_channels(graph: Graph, form: PictureForm, image: str) -> str:
    """Bring the channels [..., 3] of a strip into the network's order and range."""
    if form.channels == 1:
        (image,) = graph.emit("MatMul", [image, Constant(np.array(GREY, np.float32)[:, None])])
        (image,) = graph.emit("Add", [image, Constant(np.float32(HALF))])
        (image,) = graph.emit("Floor", graph.emit("Div", [image, Constant(np.float32(PARTS))]))
    elif form.swapped:
        (image,) = graph.emit("Gather", [image, graph.ints([2, 1, 0])], axis=3)
    if form.kind.kind == "f":
        for op, value, idle in (("Div", (255 / form.scale,), 1.0), ("Sub", form.mean, 0.0), ("Div", form.std, 1.0)):
            if {*value} != {idle}:
                (image,) = graph.emit(op, [image, Constant(np.array(value, np.float32))])
    return image
