"""How the C kernel is built: `setup.py` gives this file to cffi (API mode).

The kernel is optional: where there is no compiler, or no cffi, everything else is installed as ever.
"""

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cffi import FFI

MODULE = "robomarl.core.filter.kernel._kernel"
SOURCES = (
    *("separation.c", "motion.c", "rows.c", "hold.c", "projection.c", "read.c", "decide.c", "plain.c"),
    *("ways.c", "plain_ways.c", "course.c", "state_box.c", "certificate.c", "plain_certificate.c"),
)
"""C files of one unit, callees first: if the compiler sees the whole unit, a decision takes a fifth less time."""
CONSTANTS = "constants.h"
"""See `layout`."""
HEADER, INNER = "kernel.h", ("read.h", "rows.h", "separation.h", "ways.h", "course.h")
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden"]
"""Compiler flags without contraction, so that the source gives equal numbers on every processor."""
STABLE_ABI = [("Py_LIMITED_API", "0x030B0000")]
"""Macro for one binary for every Python from 3.11 on, the first with the memory of arrays in its stable interface."""


def builder() -> "FFI":
    """The `cffi.FFI` object that `setup.py` builds from; paths are relative to the repository's root."""
    from cffi import FFI

    folder = Path(__file__).parent
    headers = [(folder / name).read_text() for name in (CONSTANTS, HEADER)]
    ffi = FFI()
    ffi.cdef("\n".join(map(declarations, headers)) + "\nstatic const char *const RM_SOURCE;")
    here, files = "robomarl/core/filter/kernel", (CONSTANTS, HEADER, *SOURCES)
    code = [*(f'#include "{name}"' for name in files), f'static const char *const RM_SOURCE = "{source_hash(folder)}";']
    ffi.set_source(
        MODULE,
        "\n".join(code),
        depends=[f"{here}/{name}" for name in (*files, *INNER)],
        include_dirs=[here],
        define_macros=STABLE_ABI,
        extra_compile_args=FLAGS,
        optional=True,
    )
    return ffi


def declarations(header: str) -> str:
    """Return the part of the header that cffi needs: everything but the preprocessor's lines and the comments."""
    plain = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    return "\n".join(line for line in plain.splitlines() if not line.startswith("#"))


def source_hash(folder: Path) -> str:
    """Return the hash of all C files, which tells whether a kernel was built from the sources that are there."""
    digest = hashlib.sha256()
    for name in (CONSTANTS, HEADER, *INNER, *SOURCES):
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()
