"""Arrays by name out of a checkpoint, and nothing else: no code of a file is ever run."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robomarl.core.config import UserError
from robomarl.lab.foreign.checkpoint.flax_names import as_torch
from robomarl.lab.foreign.checkpoint.guard import library_errors
from robomarl.lab.foreign.checkpoint.stable_baselines import SpaceLimits, read_settings
from robomarl.lab.foreign.checkpoint.torch_file import is_legacy, read_archive, read_legacy
from robomarl.lab.foreign.checkpoint.unpickle import Inert, unpickle
from robomarl.lab.trees import Tree

SAVE = "save only the state_dict, as torch.save(policy.state_dict(), FILE)"


class Checkpoint(NamedTuple):
    """Content of a file of weights."""

    arrays: dict[str, np.ndarray]
    """Arrays by dotted name; floats in single precision, layers as PyTorch shapes them."""
    metadata: dict[str, str] = {}
    """Metadata of a safetensors file."""
    settings: SpaceLimits | None = None
    """Settings of the actions in a file of Stable-Baselines3."""


def read_state_dict(file: Path, kind: str) -> Checkpoint:
    """Return every array of a file of weights.

    Args:
        file: the file.
        kind: result of `kind_of`: safetensors, msgpack, sb3, torch or pickle.

    Raises:
        UserError: a pickle that wants more than data, numbers that are not finite, or no arrays at all.
        Exception: any that the libraries raise for a file that is not sound; see `library_errors`.
    """
    found = _READERS[kind](file)
    arrays = {name: array for name, array in found.arrays.items() if array.dtype.kind in "fiu"}
    if not arrays:
        raise UserError(f"{file}: has no tensors in it; save the state_dict of the policy.")
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise UserError(f"{file}: {name} has numbers that are not finite; take an earlier checkpoint.")
    return found._replace(arrays=as_torch({name: array.astype(np.float32) for name, array in arrays.items()}))


def flat(tree: Tree, prefix: str = "") -> dict[str, np.ndarray]:
    """Return the arrays of nested dicts, lists and objects by dotted name; other values are left out."""
    if isinstance(tree, np.ndarray):
        return {prefix: tree}
    if isinstance(tree, Inert):
        tree = tree.state
    elif isinstance(tree, list | tuple):
        tree = dict(enumerate(tree))
    if not isinstance(tree, Mapping):
        return {}
    parts = [flat(value, f"{prefix}.{name}" if prefix else str(name)) for name, value in tree.items()]
    return {name: array for part in parts for name, array in part.items()}


def _safetensors(file: Path) -> Checkpoint:
    from safetensors.numpy import load  # pyright: ignore[reportMissingImports]

    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    with library_errors(f"{file}: is no sound safetensors file of numpy's kinds of numbers", "save it anew"):
        metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
        arrays = {name.replace(",", "."): array for name, array in load(content).items()}  # JaxMARL's have commas
    return Checkpoint(arrays, metadata)


def _msgpack(file: Path) -> Checkpoint:
    from flax.serialization import msgpack_restore

    return Checkpoint(flat(msgpack_restore(file.read_bytes())))


def _torch(file: Path) -> Checkpoint:
    with zipfile.ZipFile(file) as archive:
        return Checkpoint(_data(*read_archive(archive), file))


def _pickle(file: Path) -> Checkpoint:
    content = file.read_bytes()
    return Checkpoint(_data(*(read_legacy if is_legacy(content) else unpickle)(content), file))


def _sb3(file: Path) -> Checkpoint:
    with zipfile.ZipFile(file) as outer:
        settings = read_settings(json.loads(outer.read("data")), str(file))
        with zipfile.ZipFile(outer.open("policy.pth")) as archive:
            return Checkpoint(_data(*read_archive(archive), file), settings=settings)


_READERS = {"safetensors": _safetensors, "msgpack": _msgpack, "torch": _torch, "pickle": _pickle, "sb3": _sb3}


def _data(tree: Tree, wanted: list[str], file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a pickle's content; raise `UserError` if it asked for more than data."""
    modules = [path for path in _modules(tree) if path]
    if modules or wanted:
        name = (modules or wanted)[0]
        whole = "is a whole module, as torch.save(policy) writes, and " if modules else ""
        raise UserError(
            f"{file}: {whole}wants to run {name} when it is read, which import never does; {SAVE}, or export it with "
            "torch.onnx.export."
        )
    return flat(tree)


def _modules(tree: Tree) -> list[str]:
    """Names of the PyTorch modules in a tree that are objects with code."""
    if isinstance(tree, Inert):
        return [tree.path] if {"_modules", "_parameters"} & tree.state.keys() else []
    if isinstance(tree, Mapping):
        return [path for value in tree.values() for path in _modules(value)]
    return [path for value in tree for path in _modules(value)] if isinstance(tree, list | tuple) else []
