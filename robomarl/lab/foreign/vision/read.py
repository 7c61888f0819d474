"""`read_vision`: a network that reads pictures, from a file of any kind that import knows."""

from pathlib import Path

from robomarl.core.config import UserError
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.checkpoint.kinds import KINDS, kind_of
from robomarl.lab.foreign.vision.form import PictureOptions
from robomarl.lab.foreign.vision.graph_file import read_graph_file
from robomarl.lab.foreign.vision.script import read_script
from robomarl.lab.foreign.vision.source import VisionSource

MAX_BYTES = 64 * 2**20
"""Larger networks are too slow for each picture of a small robot."""


def read_vision(file: Path, options: PictureOptions) -> VisionSource:
    """Read a file by its kind, regardless of its name.

    Args:
        file: the file.
        options: what the user states on its pictures.

    Raises:
        UserError: there is no such file, it is no network that reads one picture alone, or an option is missing.
    """
    if not file.exists():
        raise UserError(f"{file}: there is no such file; name a perception network, .onnx or TorchScript's .pt.")
    with library_errors(f"{file}: can't be read", "fetch the file again, or export it anew"):
        kind = kind_of(file)
        if file.stat().st_size > MAX_BYTES:
            raise UserError(f"{file}: is over {MAX_BYTES >> 20} MiB, too large for each picture of a small robot.")
        if kind == "onnx":
            return read_graph_file(file, options)
        if kind == "torchscript":
            return read_script(file, options)
    raise UserError(
        f"{file}: holds weights without their computation; export the network as ONNX (torch.onnx.export, tf2onnx), "
        f"or save it as TorchScript. Policies of other kinds ({KINDS}) are imported with --contract."
    )
