"""`weights.npz`: the learned arrays, by name. An array that is bit by bit in the policy's graph is
stored only there.

In place of such an array is a string, the name of the graph's initializer. Otherwise a bundle would
hold every actor twice.
"""

import io
from collections.abc import Mapping

import numpy as np
import onnx

from robomarl.lab.onnx_graph import constants

LEAST_BYTES = 4096
"""Smaller arrays are worth no reference."""
CRITIC = "['critic']"
"""Part of the names of a critic's parameters."""


def to_npz(weights: Mapping[str, np.ndarray], graph: bytes) -> bytes:
    """The bytes of the file.

    Args:
        weights: named arrays.
        graph: the bundle's `policy.onnx`.
    """
    names = {
        _content(array): name
        for name, array in constants(onnx.load_from_string(graph)).items()
        if array.nbytes >= LEAST_BYTES
    }
    stream = io.BytesIO()
    arrays = {name: np.asarray(names.get(_content(array), array)) for name, array in weights.items()}
    np.savez_compressed(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def from_npz(content: bytes, graph: bytes) -> dict[str, np.ndarray]:
    """The named arrays of a file, see `to_npz`; raises KeyError where the graph is another one."""
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        found = {name: data[name] for name in data.files}
    if not any(array.dtype.kind == "U" for array in found.values()):
        return found
    there = constants(onnx.load_from_string(graph))
    return {name: there[str(array)] if array.dtype.kind == "U" else array for name, array in found.items()}


def without_critics(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of the actors, for a bundle of several, which critics would make half as large again."""
    return {name: array for name, array in weights.items() if CRITIC not in name}


def _content(array: np.ndarray) -> tuple:
    return array.dtype.str, array.shape, array.tobytes()
