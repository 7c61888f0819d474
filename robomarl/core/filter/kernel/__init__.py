"""Arithmetic of the safety filter, of the rules before it and of the certificate in C, called through cffi: optional.
Filter and certificate are equal to the Python code to 1e-9, the rules are in every bit.

It is built when robomarl is installed with a compiler and cffi present; cffi is needed to run it as
well. Without it Python computes equal results, in twenty times the time. `projection` is the QP
alone.
"""

import ctypes
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from robomarl.core.config import UserError
from robomarl.core.filter.kernel.build import MODULE, source_hash
from robomarl.core.filter.kernel.library import Ffi, Lib


class Kernel(NamedTuple):
    """The compiled module."""

    ffi: Ffi
    """Makes pointers of buffers."""
    lib: Lib
    """The functions of `kernel.h`."""
    decide_plain: Callable[..., tuple[float, float, bool, int, bool] | None]
    """One decision from Python's objects, `plain.c`."""
    give_way: Callable[..., tuple[float, float, float, float, float] | None]
    """The rules' decision before it, `plain_ways.c`."""
    certify: Callable[..., bool]
    """The certificate's decision, `plain_certificate.c`; False: an array is not as it lies in flight."""


def load() -> Kernel:
    """The kernel.

    Raises:
        UserError: it was not built, cffi is missing, or it was built from other sources.
    """
    kernel, problem = _find()
    if kernel is None:
        raise UserError(f"The C kernel of the safety filter {problem}; install robomarl anew where a compiler is.")
    return kernel


def usable() -> bool:
    """Return True if `load` succeeds."""
    return _find()[0] is not None


@cache
def _find() -> tuple[Kernel | None, str]:
    """Return the kernel, or the problem with it."""
    try:
        module = importlib.import_module(MODULE)
    except ImportError as error:
        return None, f"can't be loaded ({error})"
    if module.ffi.string(module.lib.RM_SOURCE).decode() != source_hash(Path(__file__).parent):
        return None, "was built from other sources than those that are here"
    addresses = module.lib.rm_plain(), module.lib.rm_plain_ways(), module.lib.rm_plain_certificate()
    return Kernel(module.ffi, module.lib, *(ctypes.cast(at, ctypes.py_object).value for at in addresses)), ""
