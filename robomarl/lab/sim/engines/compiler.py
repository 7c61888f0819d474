"""XLA's compiler options for simulation and training on a CPU."""

import os
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from robomarl.core.geometry import namespace
from robomarl.core.paths import cache_dir
from robomarl.core.types import Array
from robomarl.lab.trees import Tree

if TYPE_CHECKING:
    import jax

OPTION = "--xla_backend_extra_options"
SHARED = f"{OPTION}=xla_cpu_use_multi_output_fusion"
"""Flag that lets one loop have several results; by default XLA recomputes their common parts for each result."""

IN_HASTE = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
"""Options of a program that runs a single time: its compiler takes a fifth of the time."""


def share_results() -> None:
    """Tell XLA so, unless XLA_FLAGS says something about it already; it reads that when it compiles the first program.

    `lift_3` on `fast` took three quarters of the time, and compiling four fifths (docs/log/learners.md). Compilers that
    do not know the option pass over it.
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if OPTION not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {SHARED}".strip()


def keep_compiled(shares: bool = True) -> None:
    """Keep compiled programs between runs, so that the second starts at once; in the folder of JAX's
    variable, if set.

    Args:
        shares: before the first program, let the compiler compute shared parts of several results once
            (`share_results`). The compiler then aborts the process on SHAC's gradient through `swap_4`,
            and on games (symbolic_map.cc, jaxlib 0.9.2).
    """
    import jax

    if shares:
        share_results()
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    jax.config.update("jax_compilation_cache_dir", str(cache_dir() / "xla"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.5)


def compiled_once(program: "jax.stages.Lowered") -> "jax.stages.Compiled":
    """A program that runs a single time, compiled as fast as XLA can, and not to be fast.

    The first state of `swap_4` took 4.7 s of a core and takes 1.0 (docs/log/learners.md).

    Args:
        program: `jax.stages.Lowered`.
    """
    import jax

    try:
        return program.compile(compiler_options=IN_HASTE)
    except jax.errors.JaxRuntimeError:  # a compiler that does not know one of them
        return program.compile()


T = TypeVar("T")
"""Arrays of JAX or of numpy, in tuples and lists."""


def settle(values: T) -> T:
    """Keep XLA from recomputing shared parts once for each of several results, or number by number."""
    if namespace(*_leaves(values)) is np:
        return values
    import jax

    return jax.lax.optimization_barrier(values)


def _leaves(values: Tree) -> list[Array]:
    return [leaf for part in values for leaf in _leaves(part)] if isinstance(values, tuple | list) else [values]
