"""PyTorch's tensors as numpy arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MAX_NUMBERS = 2**26
"""More numbers in one array than any policy of a small robot has."""
BFLOAT16 = "bfloat16"
STORAGES: dict[str, str] = {
    "BFloat16": BFLOAT16,
    **{"Double": "<f8", "Float": "<f4", "Half": "<f2", "Long": "<i8", "Int": "<i4", "Short": "<i2"},
    **{"Char": "<i1", "Byte": "<u1", "Bool": "?"},
}
"""numpy's type of each kind of PyTorch's storages."""


class Storage(NamedTuple):
    """Numbers in a row, of which tensors are views."""

    numbers: np.ndarray


def numbers_of(content: bytes, kind: object) -> np.ndarray:
    """Bytes as numbers of a kind of `STORAGES`; half precisions become single."""
    if kind == BFLOAT16:  # the upper half of a single
        return (np.frombuffer(content, "<u2").astype("<u4") << 16).view("<f4")
    if not isinstance(kind, str):
        raise ValueError("it has tensors of a kind that is no plain number")
    array = np.frombuffer(content, kind)
    return array.astype("<f4") if kind == "<f2" else array


def tensor(storage: object, offset: int, size: Sequence[int], stride: Sequence[int], *_: object) -> np.ndarray:
    """A copy of the view that a tensor is; raises `ValueError` if it reaches outside its storage."""
    if not isinstance(storage, Storage):
        raise ValueError("it has a tensor without numbers")
    size, stride = tuple(int(n) for n in size), tuple(int(n) for n in stride)
    numbers, count = storage.numbers, int(np.prod(size, dtype=object)) if size else 1
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if count else offset
    if min((offset, *size, *stride)) < 0 or last >= max(len(numbers), 1) or count > MAX_NUMBERS:
        raise ValueError("it has a tensor that reaches outside its numbers")
    if not count:
        return np.zeros(size, numbers.dtype)
    steps = [s * numbers.itemsize for s in stride]
    return np.lib.stride_tricks.as_strided(numbers[offset:], size, steps).copy()
