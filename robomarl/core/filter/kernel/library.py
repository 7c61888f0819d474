"""Types of what cffi makes of the kernel: it has none."""

from collections.abc import Sequence
from typing import Protocol, SupportsInt

import numpy as np


class Pointer(Protocol):
    """Memory of C: one struct, or several numbers or structs."""

    def __getitem__(self, at: int) -> object:
        """One number, or one struct, whose fields are attributes."""
        ...


class CType(Protocol):
    """A struct's type."""

    @property
    def fields(self) -> Sequence[tuple[str, object]]:
        """Its fields by name, in order."""
        ...


class Ffi(Protocol):
    """Part of `cffi.FFI` that this package uses."""

    def new(self, kind: str, init: object = None) -> Pointer:
        """Take memory for a type of C."""
        ...

    def typeof(self, kind: str) -> CType:
        """Return a type of C."""
        ...

    def cast(self, kind: str, value: object) -> SupportsInt:
        """Return a value as another type of C."""
        ...

    def from_buffer(self, kind: str, array: np.ndarray) -> Pointer:
        """Return the memory of an array."""
        ...


class Lib(Protocol):
    """Functions of `kernel.h` that Python calls."""

    def rm_room_size(self, constants: Pointer, sizes: Pointer) -> int:
        """Return how many numbers a decision needs room for."""
        ...

    def rm_in_size(self, sizes: Pointer) -> int:
        """Return how many numbers of one robot go in."""
        ...

    def rm_out_size(self, sizes: Pointer) -> int:
        """Return how many numbers of one robot come out."""
        ...

    def rm_decide_many(self, count: int, constants: Pointer, sizes: Pointer, *memory: Pointer) -> None:
        """Decide for many robots; `memory` is what goes in, what comes out, and the room."""
        ...

    def rm_project_many(self, count: int, rows: int, *arrays: Pointer) -> None:
        """Solve many problems of `rows` rows each."""
        ...
