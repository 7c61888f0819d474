"""Layers of Flax under the names and in the shapes that PyTorch gives them."""

import re
from collections.abc import Mapping

import numpy as np

GATES = {"r": 0, "z": 1, "n": 2}
"""Order of a GRU's gates in PyTorch."""


def as_torch(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rename `kernel` [in, out] to `weight` [out, in], and join the gates of a `GRUCell` as PyTorch does.

    Args:
        arrays: by dotted name; those of other libraries stay as they are.
    """
    found: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        start, _, last = name.rpartition(".")
        if last == "kernel" and array.ndim == 2:
            found[f"{start}.weight"] = array.T
        elif last == "kernel":
            found[f"{start}.weight"] = array  # of a convolution; the layout refuses its shape
        else:
            found[name] = array
    for cell in sorted({match[1] for name in found if (match := re.fullmatch(r"(.*GRUCell_\d+)\.hn\.weight", name))}):
        found |= _joined(found, cell)
    return found


def _joined(arrays: dict[str, np.ndarray], cell: str) -> dict[str, np.ndarray]:
    """Flax has one bias for the reset and the update gate, PyTorch two: the second is zero."""
    size = len(arrays[f"{cell}.hn.weight"])
    gates = {"ih": [f"{cell}.i{g}" for g in GATES], "hh": [f"{cell}.h{g}" for g in GATES]}
    joined = {}
    for side, names in gates.items():
        joined[f"{cell}.weight_{side}_l0"] = np.concatenate([arrays.pop(f"{name}.weight") for name in names])
        biases = [arrays.pop(f"{name}.bias", np.zeros(size, np.float32)) for name in names]
        joined[f"{cell}.bias_{side}_l0"] = np.concatenate(biases)
    return joined
