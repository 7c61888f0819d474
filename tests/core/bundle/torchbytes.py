"""Checkpoints as `torch.save` writes them, byte by byte and without PyTorch, which development does without.

`test_foreign_corpus.py` reads files of PyTorch itself where it makes an environment for it.
"""

import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np


def _text(word: str) -> bytes:
    encoded = word.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def _number(value: int) -> bytes:
    return b"J" + struct.pack("<i", value)


class Called:
    """A name that the pickle calls when it is read, with texts as arguments."""

    def __init__(self, name: str, *arguments: str, state: dict | None = None) -> None:
        self.name, self.arguments, self.state = name, arguments, state


def _pickled(value: Any, arrays: list[np.ndarray]) -> bytes:
    if isinstance(value, dict):
        items = b"".join(_pickled(k, arrays) + _pickled(v, arrays) for k, v in value.items())
        return b"}(" + items + b"u"
    if isinstance(value, tuple):
        return b"(" + b"".join(_pickled(v, arrays) for v in value) + b"t"
    if isinstance(value, np.ndarray):
        return _tensor(value, arrays)
    if isinstance(value, Called):
        module, _, name = value.name.rpartition(".")
        arguments = b"(" + b"".join(map(_text, value.arguments)) + b"t"
        state = b"" if value.state is None else _pickled(value.state, arrays) + b"b"
        return f"c{module}\n{name}\n".encode() + arguments + b"R" + state
    return _text(value) if isinstance(value, str) else _number(value)


def _tensor(array: np.ndarray, arrays: list[np.ndarray]) -> bytes:
    key, kind = str(len(arrays)), "DoubleStorage" if array.dtype == np.float64 else "FloatStorage"
    arrays.append(array)
    steps = [s // array.itemsize for s in np.ascontiguousarray(array).strides]
    storage = b"(" + _text("storage") + f"ctorch\n{kind}\n".encode() + _text(key) + _text("cpu") + _number(array.size)
    sizes = b"".join(b"(" + b"".join(map(_number, numbers)) + b"t" for numbers in (array.shape, steps))
    rest = _number(0) + sizes + b"\x89" + b"ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"tQ" + rest + b"tR"


def save(value: Any, file: Path, **changes: bytes) -> Path:
    """Write a value of dicts, tuples, texts, whole numbers, arrays and calls; `changes` replace members."""
    arrays: list[np.ndarray] = []
    members = {"data.pkl": b"\x80\x02" + _pickled(value, arrays) + b".", "byteorder": b"little", "version": b"3\n"}
    members |= {f"data/{i}": np.ascontiguousarray(a).tobytes() for i, a in enumerate(arrays)}
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {**members, **changes}.items():
            archive.writestr(f"{file.stem}/{name}", content)
    return file
