"""A network that reads pictures, from an ONNX file: which input takes the picture, and which outputs count."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from robomarl.core.bundle.bundle import PERCEPTION_FILE
from robomarl.core.bundle.runtime import open_session
from robomarl.core.config import UserError
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.onnx_file import checked
from robomarl.lab.foreign.vision.form import PictureOptions, Sizes, form_of, is_picture
from robomarl.lab.foreign.vision.source import Reference, VisionSource
from robomarl.lab.onnx_graph import ancestors

OPSETS = (7, 21)
"""Oldest and newest operators: older ones do not broadcast, and onnxruntime 1.18, a robot's oldest, lacks newer."""


def read_graph_file(file: Path, options: PictureOptions) -> VisionSource:
    """Read an ONNX file.

    Raises:
        UserError: it is no sound file, reads something beside one picture, or an option is missing.
    """
    model, content = checked(file.read_bytes(), str(file), "vision")
    version = max(opset.version for opset in model.opset_import)
    if not OPSETS[0] <= version <= OPSETS[1]:
        raise UserError(
            f"{file}: has operators of opset {version}, and robots read {OPSETS[0]} to {OPSETS[1]}; export it with "
            "opset 17."
        )
    outputs = _chosen_outputs(model, options, str(file))
    picture = _picture(model, outputs, str(file))
    form = form_of(_sizes(picture), _kind(picture), options, f"{file}: {picture.name}")
    producer = f"{model.producer_name or 'unknown exporter'} {model.producer_version}".strip()
    reference = _in_onnxruntime(content, picture.name, outputs, str(file))
    return VisionSource(f"onnxruntime, {producer}", model, picture.name, outputs, form, reference)


def _chosen_outputs(model: onnx.ModelProto, options: PictureOptions, where: str) -> tuple[str, ...]:
    """Return the outputs in order: those that the user names, or the only one.

    Raises:
        UserError: a name that the graph lacks, or that stands twice, or several outputs and none named.
    """
    there = [output.name for output in model.graph.output]
    if unknown := [name for name in options.outputs if name not in there]:
        raise UserError(f"{where}: has no output {unknown[0]!r}; --outputs may name {', '.join(there)}.")
    if twice := [name for name in options.outputs if options.outputs.count(name) > 1]:
        raise UserError(f"{where}: --outputs names {twice[0]!r} twice; name each output once.")
    if not options.outputs and len(there) != 1:
        raise UserError(
            f"{where}: has the outputs {', '.join(there)}, whose order a file does not say; add --outputs with their "
            "names in the order of the numbers that the robot reads."
        )
    return options.outputs or tuple(there)


def _picture(model: onnx.ModelProto, outputs: Sequence[str], where: str) -> onnx.ValueInfoProto:
    """Return the input that takes the picture.

    Raises:
        UserError: none does, or the outputs need another input beside it.
    """
    needed, weights = ancestors(model, outputs), {tensor.name for tensor in model.graph.initializer}
    inputs = [port for port in model.graph.input if port.name in needed and port.name not in weights]
    pictures = sorted((port for port in inputs if is_picture(_sizes(port))), key=lambda port: -len(_sizes(port)))
    if not pictures:
        told = ", ".join(f"{port.name} {[*_sizes(port)]}" for port in inputs) or "nothing"
        raise UserError(f"{where}: reads {told}, and no picture; import a policy of numbers with --contract.")
    if others := [port.name for port in inputs if port is not pictures[0]]:
        raise UserError(
            f"{where}: reads {', '.join(others)} beside the picture {pictures[0].name}, and robots give a perception "
            "network one picture alone; export the part from the picture to its numbers without state or memory."
        )
    return pictures[0]


def _sizes(port: onnx.ValueInfoProto) -> Sizes:
    """Return the size of each axis of an input; empty where the file gives it no shape."""
    return tuple(axis.dim_value or None for axis in port.type.tensor_type.shape.dim)


def _kind(port: onnx.ValueInfoProto) -> np.dtype:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(port.type.tensor_type.elem_type or onnx.TensorProto.FLOAT))


def _in_onnxruntime(content: bytes, picture: str, outputs: Sequence[str], where: str) -> Reference:
    """Return the file's own graph in onnxruntime, as a function of a picture."""
    session = open_session(content, PERCEPTION_FILE)

    def look(image: np.ndarray) -> NDArray[np.float32]:
        mend = "export it for pictures of one size, and with a batch of 1 or an open one"
        with library_errors(f"{where}: onnxruntime can't run it on {image.shape} {image.dtype}", mend):
            found = session.run([*outputs], {picture: image})
            return np.concatenate([np.asarray(part, np.float32).reshape(-1) for part in found])

    return look
