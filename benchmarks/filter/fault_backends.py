"""The backends of the safety filter behind one interface, for campaigns: (memory, view, nominal) -> (.., result)."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from robomarl.types import FilterResult


def names() -> list[str]:
    """All that can run here; `daqp` is the numpy filter for one robot at a time."""
    from robomarl.safety.kernel import usable

    return ["numpy", "daqp", *(["C"] if usable() else []), "JAX", "ONNX"]


def make(name: str) -> Any:
    """The filter of a robot of a team of four; has `params`, `init`, and is called like `SafetyFilter`."""
    from benchmarks.filter.faults import make_filter

    if name == "daqp":
        return OneByOne()
    if name in ("JAX", "ONNX"):
        return InJax() if name == "JAX" else InOnnx()
    return make_filter(name.lower())


@contextmanager
def given_up() -> Iterator[None]:
    """Every solver stops after its first row: real solvers, with an iteration limit of 1."""
    from robomarl.safety.qp import projection

    rounds, solver = projection.ROUNDS, projection.daqp
    projection.ROUNDS, projection.daqp = 0, SimpleNamespace(solve=partial(solver.solve, iter_limit=1))
    try:
        yield
    finally:
        projection.ROUNDS, projection.daqp = rounds, solver


class OneByOne:
    """Robots one after the other, so that daqp solves."""

    def __init__(self) -> None:
        """Make the filter."""
        from benchmarks.filter.faults import make_filter

        self._filter = make_filter("numpy")
        self.params, self.init = self._filter.params, self._filter.init

    def __call__(self, carry: Any, view: Any, nominal: np.ndarray) -> tuple[Any, FilterResult]:
        """One decision of each."""
        found = [self._filter(_pick(carry, i), _pick(view, i), nominal[i])[1] for i in range(len(nominal))]
        return carry, FilterResult(*(np.array(part) for part in zip(*found, strict=True)))


class InJax:
    """`jax_filter` in single precision, compiled."""

    def __init__(self) -> None:
        """Make the filter; it is compiled at once, with the limits that hold now."""
        import jax

        from benchmarks.filter.faults import make_filter
        from robomarl.safety.jax_filter import make_jax_filter

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


def _pick(tree: Any, i: int) -> Any:
    return type(tree)(*(_pick(part, i) for part in tree)) if isinstance(tree, tuple) else tree[i]
