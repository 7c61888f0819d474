"""Types of what cffi makes of the kernel: it has none."""

from collections.abc import Callable, Sequence
from typing import Protocol, SupportsInt

import numpy as np


class CPointer(Protocol):
    """Memory of C: one struct, or several numbers or structs."""

    def __getitem__(self, at: int) -> object:
        """Return one number, or one struct, whose fields are attributes."""
        ...


class CType(Protocol):
    """A type of C; a struct has fields, by name."""

    @property
    def fields(self) -> Sequence[tuple[str, object]]:
        """Return the fields in order."""
        ...


class Ffi(Protocol):
    """Part of `cffi.FFI` that this package uses; the text names a type of C."""

    new: Callable[..., CPointer]
    typeof: Callable[[str], CType]
    cast: Callable[[str, CPointer], SupportsInt]
    from_buffer: Callable[[str, np.ndarray], CPointer]


class Lib(Protocol):
    """Functions of `kernel.h` that Python calls."""

    rm_room_size: Callable[[CPointer, CPointer], int]
    rm_in_size: Callable[[CPointer], int]
    rm_out_size: Callable[[CPointer], int]
    rm_decide_many: Callable[..., None]
    rm_project_many: Callable[..., None]
    rm_certify: Callable[..., None]
    rm_certify_room: Callable[[CPointer, CPointer], int]
