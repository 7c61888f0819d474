"""Campaign: random, degenerate and infeasible projections, every backend against daqp in double precision; and whole
decisions that are ugly, see `fuzz`."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks import Row
from benchmarks.filter import fuzz, fuzz_jax
from benchmarks.filter.problems import KINDS, Problems, draw

COUNT = 1_000_000
ROWS = (3, 5, 10, 30)
CHUNK = 2500
EXACT = 1e-10
"""Violation of a row at which the JAX projection stops in double precision, where it is to be compared."""
CLOSE = {"double": 1e-9, "single": 1e-4}
"""Largest difference of a component that counts as none."""
NUDGE = {"double": 1e-13, "single": 2e-6}
"""What rounding does to a right-hand side: a problem whose answer turns on it has none in this precision."""

Solver = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


class Backend(NamedTuple):
    """A solver of batches."""

    name: str
    solve: Solver
    """As `qp.project_batch`."""
    precision: str
    """double or single."""


class Tally:
    """What came of one backend."""

    def __init__(self, backend: Backend) -> None:
        """Start with nothing seen."""
        self.backend = backend
        self.problems = self.undecided = self.other_status = self.off = self.off_undecided = 0
        self.furthest = 0.0

    def add(self, problems: Problems, reference: Any, undecided: np.ndarray) -> None:
        """Solve, and compare with the reference; `undecided` [P] are the problems without an answer."""
        found = self.backend.solve(*problems)
        solved = np.asarray(found.solved)
        other = (solved != reference.solved) | (np.asarray(found.infeasible) != reference.infeasible)
        apart = np.abs(np.asarray(found.u, float) - reference.u).max(-1)
        apart[~(solved & reference.solved)] = 0.0
        off = ~(apart <= CLOSE[self.backend.precision])
        self.problems += len(solved)
        self.undecided += int(undecided.sum())
        self.other_status += int((other & ~undecided).sum())
        self.off += int((off & ~undecided).sum())
        self.off_undecided += int(((other | off) & undecided).sum())
        self.furthest = max(self.furthest, float(apart[~undecided].max(initial=0.0)))

    def rows(self) -> list[Row]:
        """The figures."""
        name, kind = f"exactness, {self.backend.name}", self.backend.precision
        return [
            Row(name, "problems", self.problems, ""),
            Row(name, "other status", self.other_status, ""),
            Row(name, f"off by more than {CLOSE[kind]:g}", self.off, ""),
            Row(name, "furthest off", self.furthest, "m/s^2"),
            Row(name, f"no answer in {kind} precision", self.undecided, ""),
            Row(name, "differ among those", self.off_undecided, ""),
        ]


def rows() -> list[Row]:
    """Both campaigns."""
    found = [row for tally in campaign(COUNT, backends()) for row in tally.rows()]
    return [*found, *fuzz.rows(fuzz_jax.backends())]


def campaign(count: int, backends: list[Backend], seed: int = 0) -> list[Tally]:
    """Draw at least so many problems, solve all of them with daqp and with every backend."""
    from tqdm import tqdm

    tallies, random = [Tally(b) for b in backends], np.random.default_rng(seed)
    cases = [(kind, m) for kind in KINDS for m in ROWS]
    size, done = min(CHUNK, -(-count // len(cases))), 0
    with tqdm(total=count, desc="exactness", unit="qp", disable=None) as bar:
        while done < count:
            for kind, m in cases:
                problems = draw(kind, random, size, m)
                reference = one_by_one(*problems)
                undecided = {p: turns(problems, reference, p) for p in {b.precision for b in backends}}
                for tally in tallies:
                    tally.add(problems, reference, undecided[tally.backend.precision])
                done += size
                bar.update(size)
    return tallies


def turns(problems: Problems, reference: Any, precision: str) -> np.ndarray:
    """[P] whether a nudge of the right-hand sides turns the status, or moves the result noticeably."""
    from robomarl.core.filter.kernel import usable

    solve, nudge, limit = one_by_one, NUDGE[precision], CLOSE[precision] / 2
    if usable():
        from robomarl.core.filter.kernel.projection import project_batch as solve
    found = np.zeros(len(problems.points), bool)
    for sign in (-1, 1):
        moved = solve(problems.rows, problems.bounds + sign * nudge, problems.points)
        both = moved.solved & reference.solved
        found |= (moved.solved != reference.solved) | (both & (np.abs(moved.u - reference.u).max(-1) > limit))
    return found


def one_by_one(rows: np.ndarray, bounds: np.ndarray, points: np.ndarray) -> Any:
    """The reference, daqp."""
    from benchmarks.filter.daqp_projection import project
    from robomarl.core.filter.qp.projection import Projection

    found = [project(*one) for one in zip(rows, bounds, points, strict=True)]
    return Projection(*(np.array(part) for part in zip(*found, strict=True)))


def backends() -> list[Backend]:
    """All that can run here."""
    from robomarl.core.filter import kernel
    from robomarl.core.filter.qp import projection

    found = [Backend("numpy", projection.project_batch, "double")]
    if kernel.usable():
        from robomarl.core.filter.kernel.projection import project_batch

        found.append(Backend("C", project_batch, "double"))
    jax_loop, jax_static, graph = _jax_backends()
    return [
        *found,
        Backend("JAX, f64", partial(jax_loop, dtype=np.float64), "double"),
        Backend("JAX, f32", partial(jax_loop, dtype=np.float32), "single"),
        Backend("the graph's in JAX, f64", partial(jax_static, dtype=np.float64), "double"),
        Backend("ONNX, f64", graph, "double"),
    ]


def _jax_backends() -> tuple[Any, Any, Solver]:
    """The projection of `jax_filter`, that of `jax_static`, and that as a graph."""
    import jax

    from robomarl.lab.jax_filter import filter as jax_filter
    from robomarl.lab.jax_filter import static as jax_static

    def solver(project: Callable) -> Any:
        compiled = jax.jit(lambda rows, points, tolerance: project(rows, points, tolerance), static_argnums=2)

        def solve(rows: np.ndarray, bounds: np.ndarray, points: np.ndarray, dtype: type) -> Any:
            with jax.enable_x64(dtype == np.float64):
                tolerance = EXACT if dtype == np.float64 else jax_filter.TOLERANCE
                table, given = _columns(rows, bounds, points, dtype)
                found = jax.tree.map(np.asarray, compiled(table, given, tolerance))
            return found._replace(u=found.u.T)

        return solve

    found = (jax_filter.project, jax_static.project_static)
    return *(solver(project) for project in found), _graph_solver()  # type: ignore[return-value]


def _graph_solver() -> Solver:
    import jax
    import onnxruntime

    from robomarl.core.filter.qp import projection
    from robomarl.lab.export.graph import to_onnx
    from robomarl.lab.jax_filter import static as jax_static

    sessions: dict[int, Any] = {}

    def function(rows: Any, point: Any) -> tuple:
        found = jax_static.project_static(rows.transpose(1, 2, 0), point.T)
        return found.u.T, found.solved, found.residual, found.infeasible

    def make(m: int) -> Any:
        sizes, names = {"rows": (m, 4), "point": (3,)}, list(projection.Projection._fields)
        with jax.enable_x64(True):
            graph = to_onnx(function, sizes, names, dict.fromkeys(sizes, "float64"))
        return onnxruntime.InferenceSession(graph)

    def solve(rows: np.ndarray, bounds: np.ndarray, points: np.ndarray) -> Any:
        m = bounds.shape[-1]
        session = sessions.get(m) or sessions.setdefault(m, make(m))
        table = np.concatenate([rows, bounds[..., None]], -1)
        return projection.Projection(*session.run(None, {"rows": table, "point": points}))

    return solve


def _columns(rows: np.ndarray, bounds: np.ndarray, points: np.ndarray, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """As `qp.project_rows` takes them: [m, 4, P] and [3, P]."""
    table = np.concatenate([rows, bounds[..., None]], -1)
    return np.ascontiguousarray(np.moveaxis(table, 0, -1), dtype), np.ascontiguousarray(points.T, dtype)
