"""`projection.project_rows` for compilers: rounds of scalar arithmetic that XLA turns into loops over
the problems.

Every component of every row is an array of its own. Entries that `projection` looks up are selected
one after another here, because lookups, concatenations and axes of three keep a processor from
working on eight problems at once. Rounds and tolerances are equal. In the plane the vertical axis
is separate, and two rows hold an optimum.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from types import ModuleType
from typing import NamedTuple

import numpy as np

from robomarl.core.filter.qp.candidates import PARALLEL
from robomarl.core.filter.qp.projection import SOLVER_TOLERANCE, Projection
from robomarl.core.types import Array
from robomarl.core.vectors import cross

SINGLE = 1e-6
"""`PARALLEL` in single precision."""

Numbers = tuple[Array, ...]
"""Components [...] of a point, or of a normal with its right-hand side."""


class HeldPoint(NamedTuple):
    """State of the projection."""

    point: Numbers
    """Optimum of the rows in the basis."""
    rows: tuple[Numbers, ...]
    """They hold it in place, as many as the space has axes; unused ones are 0 . u <= 1."""
    failed: Array
    """[...] bool: the rows seen so far have no common point."""


class RowProblem(NamedTuple):
    """Points to project, and the rows to project onto."""

    rows: Sequence[Numbers]
    point: Numbers
    tolerance: float
    """Largest violation that counts as holding."""
    xp: ModuleType
    """The library of the numbers: jax.numpy."""

    @property
    def enough(self) -> float:
        """Violations that are left alone; in double precision see `projection.SOLVER_TOLERANCE`."""
        return min(self.tolerance, SOLVER_TOLERANCE) if self.is_double else self.tolerance

    @property
    def is_double(self) -> bool:
        """Precision of the numbers."""
        return self.point[0].dtype == np.float64

    @property
    def blank(self) -> Numbers:
        """A row that never binds."""
        zero = self.point[0] * 0.0
        return (*[zero] * len(self.point), zero + 1.0)


Repeat = Callable[[Callable, HeldPoint], HeldPoint]
"""(round, state) -> the state after all rounds that are needed; a round says where it was, too."""


def project_lanes(problem: RowProblem, repeat: Repeat) -> Projection:
    """Project points in space; the rows' components are n and b. Returns as `projection.project_rows`."""
    xp, tolerance = problem.xp, problem.tolerance
    state = repeat(lambda state: _round(problem, state), _first(problem))
    residual = _worst(problem, state.point)[0]
    return Projection(xp.stack(state.point), ~state.failed & (residual <= tolerance), residual, state.failed)


def project_planar(problem: RowProblem, repeat: Repeat) -> Projection:
    """Project as `project_lanes`, if the last two rows are upwards and downwards, and no other row has a vertical
    part.
    """
    xp, tolerance, (*rows, up, down) = problem.xp, problem.tolerance, problem.rows
    x, y, z = problem.point
    flat = project_lanes(problem._replace(rows=[(*row[:2], row[3]) for row in rows], point=(x, y)), repeat)
    z = xp.minimum(xp.maximum(z, -down[3]), up[3])
    left = xp.maximum(-down[3] - z, z - up[3])
    solved, failed = flat.solved & (left <= tolerance), flat.infeasible | (left > tolerance)
    return Projection(xp.stack([*flat.u, z]), solved, xp.maximum(flat.residual, left), failed)


def _first(problem: RowProblem) -> HeldPoint:
    """The plane of the row that u0 violates most."""
    point, blank = problem.point, problem.blank
    most, new = _worst(problem, point)
    take = most > problem.enough
    at = _pick(problem, take, _along(point, -most, new[:-1]), point)
    unused = (blank,) * (len(point) - 1)
    return HeldPoint(at, (_pick(problem, take, new, blank), *unused), most > most)


def _round(problem: RowProblem, state: HeldPoint) -> tuple[HeldPoint, Array]:
    """Bring the most violated row into the basis."""
    xp, blank = problem.xp, problem.blank
    most, new = _worst(problem, state.point)
    todo = (most > problem.enough) & ~state.failed
    nearest, point, held = most * 0.0 + xp.inf, state.point, (blank,) * (len(state.rows) - 1)
    for members, at, exists in _candidates(problem, new, state.rows):
        # A candidate has to hold the rows of the old basis too, but for those that hold it in place.
        for k, row in enumerate(state.rows):
            exists = exists if k in members else exists & (_over(row, at) <= problem.enough)
        away = [a - b for a, b in zip(at, problem.point, strict=True)]
        far = xp.where(exists, _dot(away, away), xp.inf)
        better = far < nearest
        nearest, point = xp.where(better, far, nearest), _pick(problem, better, at, point)
        others = ([state.rows[k] for k in members] + [blank] * len(held))[: len(held)]
        held = tuple(_pick(problem, better, a, b) for a, b in zip(others, held, strict=True))
    found = nearest < xp.inf
    take = todo & found
    basis = tuple(_pick(problem, take, a, b) for a, b in zip((new, *held), state.rows, strict=True))
    return HeldPoint(_pick(problem, take, point, state.point), basis, state.failed | (todo & ~found)), todo


Candidate = tuple[tuple[int, ...], Numbers, Array]
"""Members of the basis that hold it beside the new row, the point, and where it exists."""


def _candidates(problem: RowProblem, new: Numbers, basis: tuple[Numbers, ...]) -> Iterator[Candidate]:
    """Points on the plane of the new row, its lines and its vertices with the basis' planes; see `candidates`."""
    n, u0, own = new[:-1], problem.point, _over(new, problem.point)
    tiny, plane = PARALLEL if problem.is_double else SINGLE, _along(u0, -own, n)
    yield (), _along(plane, -_over(new, plane), n) if problem.is_double else plane, own == own
    for k, row in enumerate(basis):
        square, aside = _across(n, row[:-1])
        exists, share = square > tiny, _dot(n, row[:-1])
        scale, at = 1.0 / problem.xp.where(exists, square, 1.0), u0
        for _ in range(2):  # once more for what rounding left
            first, second = _over(new, at), _over(row, at)
            at = _along(_along(at, -first, n), -(second - share * first) * scale, aside)
        yield (k,), at, exists
    for i, j in combinations(range(len(basis)), 2) if len(n) == 3 else ():
        ways = [cross(a, b) for a, b in ((basis[i][:3], basis[j][:3]), (n, basis[j][:3]), (n, basis[i][:3]))]
        volume = _dot(n, ways[0])
        exists = volume * volume > tiny
        scale, at = 1.0 / problem.xp.where(exists, volume, 1.0), u0
        for _ in range(2):
            first, second, third = _over(new, at), _over(basis[i], at), _over(basis[j], at)
            shift = [first * a - second * b + third * c for a, b, c in zip(*ways, strict=True)]
            at = _along(at, -scale, shift)
        yield (i, j), at, exists


def _across(n: Numbers, m: Numbers) -> tuple[Array, Numbers]:
    """Return the squared sine of the angle between two normals, and the part of m at right angles to n."""
    if len(n) == 2:
        sine = n[0] * m[1] - n[1] * m[0]
        return sine * sine, (-sine * n[1], sine * n[0])
    normal = cross(n, m)  # type: ignore[arg-type]
    return _dot(normal, normal), cross(normal, n)  # type: ignore[arg-type]


def _worst(problem: RowProblem, u: Numbers) -> tuple[Array, Numbers]:
    """Return the largest violation of a row by u, and that row."""
    worst, *others = problem.rows
    most = _over(worst, u)
    for row in others:
        over = _over(row, u)
        more = over > most
        most, worst = problem.xp.where(more, over, most), _pick(problem, more, row, worst)
    return most, worst


def _over(row: Numbers, u: Numbers) -> Array:
    return _dot(row[:-1], u) - row[-1]


def _dot(a: Sequence[Array], b: Sequence[Array]) -> Array:
    first, *others = (x * y for x, y in zip(a, b, strict=True))
    return sum(others, first)


def _along(at: Numbers, share: Array, way: Sequence[Array]) -> Numbers:
    return tuple(a + share * b for a, b in zip(at, way, strict=True))


def _pick(problem: RowProblem, condition: Array, yes: Numbers, no: Numbers) -> Numbers:
    return tuple(problem.xp.where(condition, a, b) for a, b in zip(yes, no, strict=True))
