"""The backends of the safety filter behind one interface, for campaigns: (memory, view, nominal) -> (.., result)."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from robomarl.core.types import FilterResult


def names() -> list[str]:
    """All that can run here."""
    from robomarl.core.filter.kernel import usable

    return ["numpy", *(["C"] if usable() else []), "JAX", "ONNX"]


def make(name: str) -> Any:
    """The filter of a robot of a team of four; has `params`, `init`, and is called like `SafetyFilter`."""
    from benchmarks.filter.faults import make_filter

    if name in ("JAX", "ONNX"):
        return InJax() if name == "JAX" else InOnnx()
    return make_filter(name.lower())


@contextmanager
def given_up() -> Iterator[None]:
    """Every solver stops after its first row: real solvers, with an iteration limit of 1."""
    from robomarl.core.filter.qp import projection

    rounds, projection.ROUNDS = projection.ROUNDS, 0
    try:
        yield
    finally:
        projection.ROUNDS = rounds


class InJax:
    """`jax_filter` in single precision, compiled."""

    def __init__(self) -> None:
        """Make the filter; it is compiled at once, with the limits that hold now."""
        import jax

        from benchmarks.filter.faults import make_filter
        from robomarl.lab.jax_filter.filter import make_jax_filter

        self.params = make_filter("numpy").params
        decide = make_jax_filter(self.params)
        self.init, self._step, self._jax = decide.init, jax.jit(decide.__call__), jax

    def __call__(self, carry: Any, view: Any, nominal: np.ndarray) -> tuple[Any, FilterResult]:
        """One decision of each."""
        single = partial(self._jax.tree.map, lambda x: x.astype(np.float32) if x.dtype == np.float64 else x)
        carry, result = self._step(carry, single(view), nominal.astype(np.float32))
        return carry, FilterResult(*(np.asarray(part) for part in result))


class InOnnx:
    """`policy_filtered.onnx` of a policy that does what its observation says."""

    def __init__(self) -> None:
        """Make the graph."""
        from benchmarks.filter.faults import make_filter
        from benchmarks.filter.graph_ok import make_graph

        self._filter = make_filter("numpy")
        self.params, self.init, self._graph = self._filter.params, self._filter.init, make_graph()

    def __call__(self, carry: Any, view: Any, nominal: np.ndarray) -> tuple[Any, FilterResult]:
        """One decision of each; the graph does not say slack and margin."""
        command, ok, reason = self._graph(view, nominal)
        none = np.zeros(len(ok))
        return carry, FilterResult(command, nominal, none > 0, none, ok, reason, none)
