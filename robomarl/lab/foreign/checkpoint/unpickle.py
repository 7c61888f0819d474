"""Pickles read as data: tensors, arrays and containers are made, and everything else stays an inert name.

A pickle is a program that may call anything. Here the only calls that do something are those of `MAKERS`, which build
arrays and containers; any other name that a pickle asks for becomes an `Inert` object, which does nothing.
"""

import collections
import io
import pickle
from collections.abc import Callable
from typing import BinaryIO, ClassVar

import numpy as np

from robomarl.lab.foreign.checkpoint.tensors import STORAGES, Storage, tensor
from robomarl.lab.trees import Tree

DATA_ROOTS = frozenset(
    "argparse brax collections copyreg datetime easydict enum flax gym gymnasium jax jaxlib ml_collections numpy "
    "omegaconf optax rl_games rsl_rl sb3_contrib skrl stable_baselines3 torch typing".split()
)
"""Packages of objects stored beside weights in checkpoints: settings, counters, spaces. These objects stay inert,
too.
"""


class Inert:
    """Stand-in for an object that is not made."""

    path: ClassVar[str] = ""
    """Module and name that the pickle asked for."""
    state: dict[str, object]
    """Attributes that the pickle gives the object."""

    def __new__(cls, *args: object, **kwargs: object) -> "Inert":
        """Begin without attributes; a pickle may create objects without `__init__`."""
        self = object.__new__(cls)
        self.state = {}
        return self

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        """Remember the attributes."""
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.state.update(part)

    def __call__(self, *args: object, **kwargs: object) -> "Inert":
        """Stay inert."""
        return Inert()

    def __setitem__(self, key: object, value: object) -> None:
        """Do nothing."""

    def append(self, *items: object) -> None:
        """Do nothing."""

    extend = add = append


def _array_of_jax(make: Callable[..., np.ndarray], args: tuple, state: tuple, *_: object) -> np.ndarray:
    array = make(*args)
    array.__setstate__(state)
    return array


def _array_of_bytes(buffer: bytes, kind: str, shape: tuple[int, ...], order: object, *_: object) -> np.ndarray:
    return np.frombuffer(buffer, np.dtype(kind)).reshape(shape, order="F" if order == "F" else "C")


def _old_object(cls: object, *_: object) -> Inert:
    return cls() if isinstance(cls, type) and issubclass(cls, Inert) else Inert()


Maker = Callable[..., object] | str
"""Function or class that a pickle calls in place of the one that it names; of storages the type of their numbers."""
_NUMPY = {
    (f"numpy.{core}.multiarray", name): made
    for core in ("core", "_core")
    for name, made in (("_reconstruct", lambda kind, *how: np.ndarray(*how)), ("scalar", lambda *_: None))
} | {(f"numpy.{core}.numeric", "_frombuffer"): _array_of_bytes for core in ("core", "_core")}
MAKERS: dict[tuple[str, str], Maker] = {
    **_NUMPY,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): lambda text, *_: text.encode("latin1"),  # numpy's bytes in pickles of protocol 2
    ("jax._src.array", "_reconstruct_array"): _array_of_jax,
    ("flax.core.frozen_dict", "FrozenDict"): dict,
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "defaultdict"): lambda *_: {},
    ("copyreg", "_reconstructor"): _old_object,
    ("torch", "Size"): tuple,
    ("torch._utils", "_rebuild_tensor"): tensor,
    ("torch._utils", "_rebuild_tensor_v2"): tensor,
    ("torch._utils", "_rebuild_parameter"): lambda data, *_: data,
    **{("torch", f"{name}Storage"): kind for name, kind in STORAGES.items()},
    **{("builtins", name): made for name, made in (("set", set), ("frozenset", frozenset), ("list", list))},
    **{("builtins", name): made for name, made in (("dict", dict), ("tuple", tuple), ("object", Inert))},
}
"""Substitute for each name that a pickle may call."""


class Unpickler(pickle.Unpickler):
    """Reader of one pickle; `wanted` lists the names outside `MAKERS` and `DATA_ROOTS` that it asked for."""

    def __init__(self, file: BinaryIO, storage: Callable[[str, object, int], Storage] | None = None) -> None:
        """Prepare to read.

        Args:
            file: binary file.
            storage: finds the numbers of a tensor by (key, kind, count); without it a pickle has none beside it.
        """
        super().__init__(file)
        self._storage = storage
        self.wanted: list[str] = []

    def find_class(self, module: str, name: str) -> Maker:
        """The maker of a name, or a class of inert objects; nothing is imported."""
        module = "builtins" if module == "__builtin__" else module
        if (module, name) in MAKERS:
            return MAKERS[module, name]
        if module.split(".")[0] not in DATA_ROOTS:
            self.wanted.append(f"{module}.{name}")
        return type(name, (Inert,), {"path": f"{module}.{name}"})

    def persistent_load(self, pid: tuple) -> Storage:
        """Numbers of a tensor, which PyTorch keeps outside the pickle."""
        if self._storage is None:
            raise pickle.UnpicklingError("it refers to numbers that lie outside it")
        _, kind, key, _, count, *_ = pid
        return self._storage(str(key), kind, int(count))


def unpickle(content: bytes) -> tuple[Tree, list[str]]:
    """Return the content of a pickle, and the foreign names that it requested."""
    reader = Unpickler(io.BytesIO(content))
    return reader.load(), reader.wanted
