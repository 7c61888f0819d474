"""The two formats that `torch.save` has written: a ZIP archive, and before version 1.6 pickles in a row."""

import io
import pickle
import struct
import zipfile

import numpy as np

from robomarl.lab.foreign.checkpoint.tensors import BFLOAT16, MAX_NUMBERS, Storage, numbers_of
from robomarl.lab.foreign.checkpoint.unpickle import Unpickler
from robomarl.lab.trees import Tree

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
"""First number of a file in the old format."""


def read_archive(archive: zipfile.ZipFile) -> tuple[Tree, list[str]]:
    """Read a ZIP archive that `torch.save` wrote; return its content and the foreign names that its pickle
    requested.

    Raises:
        Exception: any that zipfile, pickle or numpy raises for an archive that is not sound.
    """
    pickled = next(name for name in archive.namelist() if name.endswith("data.pkl"))
    root = pickled.removesuffix("data.pkl")
    if f"{root}byteorder" in archive.namelist() and archive.read(f"{root}byteorder") != b"little":
        raise ValueError("its numbers are big-endian")
    known: dict[str, Storage] = {}

    def storage(key: str, kind: object, count: int) -> Storage:
        if key not in known:
            known[key] = Storage(numbers_of(archive.read(f"{root}data/{key}"), kind))
        return known[key]

    reader = Unpickler(io.BytesIO(archive.read(pickled)), storage)
    return reader.load(), reader.wanted


def is_legacy(content: bytes) -> bool:
    """Return True if a file begins like PyTorch's old format."""
    return content[:16].find(LEGACY_MAGIC.to_bytes(10, "little")) > 0


def read_legacy(content: bytes) -> tuple[Tree, list[str]]:
    """Read the old format, as `read_archive` does: the numbers of all storages follow the pickle that refers to
    them.
    """
    file = io.BytesIO(content)
    for _ in range(3):  # magic number, protocol, sizes of the machine that wrote it
        Unpickler(file).load()
    start, kinds = file.tell(), dict[str, object]()

    def size_only(key: str, kind: object, count: int) -> Storage:
        if not 0 <= count <= MAX_NUMBERS:
            raise ValueError("it has a tensor that is larger than a policy's")
        kinds[key] = kind
        return Storage(np.zeros(count, "<f4"))

    Unpickler(file, size_only).load()
    keys = Unpickler(file).load()
    if not isinstance(keys, list):
        raise pickle.UnpicklingError("its storages are not listed")
    known = {key: _numbers(file, kinds[key]) for key in map(str, keys)}
    file.seek(start)
    reader = Unpickler(file, lambda key, *_: known[key])
    return reader.load(), reader.wanted


def _numbers(file: io.BytesIO, kind: object) -> Storage:
    """The next storage of a file."""
    (count,) = struct.unpack("<q", file.read(8))
    width = 2 if kind == BFLOAT16 else np.dtype(str(kind)).itemsize
    return Storage(numbers_of(file.read(count * width), kind))
