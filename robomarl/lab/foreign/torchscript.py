"""A policy from a TorchScript file: its code is read before PyTorch opens it, and computed in JAX line
by line.

An archive of TorchScript holds a program. A program with operators outside the list is not even
opened; the operators on the list have no access to a file or another process.
"""

import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.foreign.aten import OPERATORS
from robomarl.lab.foreign.policy import ForeignPolicy
from robomarl.lab.foreign.script_graph import Script, ScriptGraph
from robomarl.lab.foreign.vision.refused import pictures_refused

MAX_CODE = 2**22
"""More characters of code than any policy has."""
LANGUAGE = frozenset(
    "annotate append copy_ fill_ zero_ getattr uninitialized unchecked_cast RaiseException dtype device format forward "
    "tensor is_scripting get_tracing_state type float int bool str isinstance range min max unwrap_optional "
    "NumToTensor Float Int Bool ones zeros_like ones_like index_select sort alias "
    "_VF warn numel is_cuda is_floating_point __range_length __derive_index floordiv remainder and or xor".split()
)
"""Words of compiled code beside the operators; none gives access to anything outside the program."""
PICTURE_LAYERS = frozenset(
    "conv2d _convolution max_pool2d avg_pool2d adaptive_avg_pool2d upsample_nearest2d upsample_bilinear2d".split()
)
"""Calls that show that a network reads pictures."""
VISION_CALLS = PICTURE_LAYERS | {*"batch_norm hardtanh hardswish hardsigmoid relu6 constant_pad_nd".split()}
"""Calls of such networks, which are exported and not translated."""
_CALL = re.compile(r"(?<![\w.])(?:torch|ops)\.([\w.]+)\(")


def read_torchscript(file: Path) -> ForeignPolicy:
    """Read a TorchScript file: `forward` takes the observation and returns the action; buffers that it writes are its
    memory, which begins as zeros.

    Raises:
        UserError: code that calls something else, or that can't be translated.
    """
    check_code(file)
    module = opened(file)
    graph = ScriptGraph(module, str(file))
    return ForeignPolicy(
        framework=f"torch {pytorch().__version__}, TorchScript",
        memory=tuple(graph.memory.values()),
        apply=graph.apply,
        reference=_reference(module, list(graph.memory)),
    )


def opened(file: Path) -> Script:
    """Return the module of an archive whose code has been read; raises `UserError` if PyTorch can't open it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated, and robots still get it from every trainer
        try:
            return pytorch().jit.load(str(file), map_location="cpu").eval()
        except RuntimeError as error:
            raise UserError(f"{file}: PyTorch can't open it ({str(error).splitlines()[0][:120]}).") from None


def check_code(file: Path, more: frozenset[str] = frozenset()) -> None:
    """Read all code of an archive.

    Args:
        file: the archive.
        more: calls that are allowed beside those of policies.

    Raises:
        UserError: the code calls something outside the lists, or runs something when it is opened.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if "/code/" in name and name.endswith(".py")]
            if sum(archive.getinfo(name).file_size for name in names) > MAX_CODE:
                raise UserError(f"{file}: has more code than a policy has; it is none.")
            code = "\n".join(archive.read(name).decode() for name in names)
    except (zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError) as error:
        raise UserError(f"{file}: is no sound TorchScript archive ({error}); save it anew.") from None
    if "__setstate__" in code or "__getstate__" in code:
        raise UserError(f"{file}: runs code of its own when it is opened (__setstate__); save it without.")
    for call in _CALL.findall(code):
        name = call.rpartition(".")[2]
        plain = name if name in LANGUAGE | OPERATORS.keys() | VISION_CALLS else name.rstrip("_")
        if plain in PICTURE_LAYERS - more:
            raise pictures_refused(str(file), f"call {name}")
        if plain not in LANGUAGE | OPERATORS.keys() | more:
            raise UserError(f"{file}: its code calls {call!r}, which import does not know; export the policy as ONNX.")


def _reference(module: Script, buffers: list[str]) -> Callable[[np.ndarray], np.ndarray]:
    """The module itself, in PyTorch."""
    torch = pytorch()

    @torch.no_grad()
    def fly(inputs: np.ndarray) -> np.ndarray:
        for name, buffer in module.named_buffers():
            if name in buffers:
                buffer.zero_()
        rows = torch.from_numpy(inputs.astype(np.float32))
        return np.stack([module(row[None]).numpy().reshape(-1) for row in rows])

    return fly


def pytorch() -> ModuleType:
    """Return PyTorch, of the extra `torch`; raises `ModuleNotFoundError` where the extra is not installed."""
    import torch  # pyright: ignore[reportMissingImports]

    return torch
