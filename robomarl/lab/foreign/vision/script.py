"""A network that reads pictures, from a TorchScript file: its code is read before PyTorch opens it."""

import io
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robomarl.core.config import UserError
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.onnx_file import checked
from robomarl.lab.foreign.script_graph import Script, ScriptGraph
from robomarl.lab.foreign.torchscript import VISION_CALLS, check_code, opened, pytorch
from robomarl.lab.foreign.vision.form import PictureForm, PictureOptions, form_of
from robomarl.lab.foreign.vision.source import Reference, VisionSource

PICTURE = "picture"
OPSET = 17


def read_script(file: Path, options: PictureOptions) -> VisionSource:
    """Read a TorchScript file whose `forward` takes a picture, of the layout and columns that the user states.

    Raises:
        UserError: code that calls something else, memory, an option is missing, or PyTorch can't export it.
    """
    check_code(file, VISION_CALLS)
    if options.outputs:
        raise UserError(f"{file}: is TorchScript, whose outputs have an order and no names; leave --outputs out.")
    if options.layout is None or options.columns is None:
        raise UserError(
            f"{file}: is TorchScript, which does not say what pictures it reads; add --image-layout nchw or nhwc, and "
            "--strip-columns."
        )
    module = opened(file)
    if memory := ScriptGraph(module, str(file)).memory:
        raise UserError(f"{file}: has a memory ({next(iter(memory))}); export a network that reads one picture alone.")
    planes = (3, None, None) if options.layout == "nchw" else (None, None, 3)
    form = form_of((None, *planes), np.dtype(np.float32), options, str(file))
    model, _ = checked(_exported(module, form, str(file)), str(file), "vision")
    outputs = tuple(output.name for output in model.graph.output)
    framework = f"torch {pytorch().__version__}, TorchScript"
    return VisionSource(framework, model, PICTURE, outputs, form, _reference(module, str(file)))


def _exported(module: Script, form: PictureForm, where: str) -> bytes:
    torch, content = pytorch(), io.BytesIO()
    cannot = f"{where}: PyTorch can't write it as ONNX for pictures of {form.shape}"
    with warnings.catch_warnings(), library_errors(cannot, "export it as ONNX"):
        warnings.simplefilter("ignore")  # this way from TorchScript to ONNX is deprecated, and the only one
        frozen, picture = torch.jit.freeze(module), torch.zeros(form.shape)
        _check_writable(frozen, where)  # the exporter prints a graph that it can't write
        torch.onnx.export(frozen, (picture,), content, input_names=[PICTURE], opset_version=OPSET, dynamo=False)
    return content.getvalue()


def _check_writable(module: Script, where: str) -> None:
    """Raise `UserError` if the code of a module loops or makes a dict, in its branches too."""
    graph = module.inlined_graph
    if graph.findAllNodes("prim::Loop"):
        raise UserError(f"{where}: its code loops, as that of interpolate does; export it as ONNX.")
    if graph.findAllNodes("prim::DictConstruct"):
        raise UserError(
            f"{where}: its code makes a dict, which ONNX can't hold; return a tensor, or a tuple of tensors in the "
            "order of the numbers that the robot reads."
        )


def _reference(module: Script, where: str) -> Reference:
    """The module itself, in PyTorch."""
    torch = pytorch()

    def look(image: np.ndarray) -> NDArray[np.float32]:
        with torch.no_grad(), library_errors(f"{where}: PyTorch can't run it on {image.shape}", "export it as ONNX"):
            found = module(torch.from_numpy(image))
            parts = found if isinstance(found, tuple) else (found,)
            return np.concatenate([part.numpy().reshape(-1) for part in parts]).astype(np.float32)

    return look
