"""How XLA compiles what is simulated and trained on a CPU."""

import os
from typing import Any, TypeVar

import numpy as np

from robomarl.geometry import namespace

OPTION = "--xla_backend_extra_options"
SHARED = f"{OPTION}=xla_cpu_use_multi_output_fusion"
"""One loop may have several results; by default XLA works out what they have in common once for each of them."""


def share_results() -> None:
    """Tell XLA so, unless XLA_FLAGS says something about it already; it reads that when it compiles the first program.

    `lift_3` on `fast` took three quarters of the time, and compiling four fifths (docs/log/learners.md). Compilers that
    do not know the option pass over it.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if OPTION not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {SHARED}".strip()


T = TypeVar("T")
"""Arrays of JAX or of numpy, in tuples and lists."""


def settle(values: T) -> T:
    """Keeps XLA from working out what several results share once for each of them, or number by number."""
    if namespace(*_leaves(values)) is np:
        return values
    import jax

    return jax.lax.optimization_barrier(values)


def _leaves(values: Any) -> list[Any]:
    return [leaf for part in values for leaf in _leaves(part)] if isinstance(values, tuple | list) else [values]
