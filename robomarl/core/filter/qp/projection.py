"""Exact projection onto half-spaces in three dimensions: min |u - u0|^2 subject to A u <= b.

`project_rows` solves many at once in numpy (`lanes` in JAX): a dual simplex on LP-type bases
(Sharir and Welzl 1992; Seidel 1991). At most three rows hold the optimum in place. Each round takes
the row that is violated most and finds the optimum of this row and the three by trying the point,
lines and vertices on it; the distance to u0 grows every round, so none comes back. It is exact up
to rounding; the result is checked against all rows, and only that check counts.
"""

from typing import NamedTuple

import numpy as np

from robomarl.core.filter.qp.candidates import candidates, over
from robomarl.core.types import Array

TOLERANCE = 1e-9
"""Largest violation of a row [row units] that still counts as holding, in double precision."""
ROUNDS = 10
"""Rounds of `project_rows`; a problem that needs more counts as not solved. Of 800,000 random and degenerate problems
of 5 to 40 rows none needed more than 9."""
SOLVER_TOLERANCE = 1e-11
"""Violation that a solver leaves alone in double precision, so that the result holds to `TOLERANCE`."""


class Projection(NamedTuple):
    """Result of a projection."""

    u: Array
    """[..., 3] the projected point; the point itself where not solved."""
    solved: Array
    """[...] bool: solved, and the result holds all rows."""
    residual: Array
    """[...] max(A u - b), at most the tolerance where solved; inf where nothing was found."""
    infeasible: Array
    """[...] bool: the solver says that no point holds all rows."""


class Basis(NamedTuple):
    """State of the incremental projection, for problems [...]."""

    point: Array
    """[3, ...] optimum of the rows in the basis."""
    rows: Array
    """[3, 4, ...] rows that hold it in place; unused ones are 0 . u <= 1."""
    failed: Array
    """[...] bool: the rows seen so far have no common point."""


def project_batch(A: np.ndarray, b: np.ndarray, u0: np.ndarray) -> Projection:  # noqa: N803
    """Project many points, numpy, double precision.

    Args:
        A: [..., m, 3] unit rows.
        b: [..., m] right-hand sides.
        u0: [..., 3] the points.

    Returns:
        u [..., 3] and the outcome; rows hold to `TOLERANCE`.
    """
    finite: np.ndarray = np.logical_and.reduce(
        np.isfinite(np.concatenate([A.reshape(*b.shape[:-1], -1), b, u0], -1)), -1
    )
    if not b.shape[-1]:
        return Projection(u0, finite, np.where(finite, 0.0, np.inf), ~finite & finite)
    rows = np.where(finite[..., None, None], np.concatenate([A, b[..., None]], -1), 0.0)
    point = np.where(finite[..., None], u0, 0.0)
    found = project_rows(np.moveaxis(rows, (-2, -1), (0, 1)), np.moveaxis(point, -1, 0))
    solved = found.solved & finite
    u = np.where(solved[..., None], np.moveaxis(found.u, 0, -1), u0)
    return Projection(u, solved, np.where(finite, found.residual, np.inf), found.infeasible & finite)


def project_rows(rows: np.ndarray, point: np.ndarray, tolerance: float = TOLERANCE) -> Projection:
    """Project points; the components come first, so that operations run along the problems.

    Args:
        rows: [m, 4, ...] unit normals and right-hand sides.
        point: [3, ...] u0.
        tolerance: largest violation that counts as holding.

    Returns:
        u [3, ...] and the outcome; if not solved, u means nothing.
    """
    # A row is left alone at a hundredth of that, as in C: almost parallel rows of which one is violated by 1e-10 meet
    # 1e-5 from there.
    enough = min(tolerance, SOLVER_TOLERANCE)
    state = _repeat(rows, point, _first(rows, point, enough), enough)
    residual = over(rows, state.point).max(0)
    return Projection(state.point, ~state.failed & (residual <= tolerance), residual, state.failed)


def _repeat(rows: np.ndarray, point: np.ndarray, state: Basis, tolerance: float) -> Basis:
    """Each round only for the problems that are not finished."""
    shape = point.shape[1:]
    rows, point = rows.reshape(*rows.shape[:2], -1), point.reshape(3, -1)
    state = Basis(point, state.rows.reshape(3, 4, -1), state.failed.ravel())
    last, failed = point.copy(), state.failed.copy()
    left = np.arange(int(last.shape[1]))
    for _ in range(ROUNDS):
        state, todo = _pivot(rows, point, state, tolerance)
        last[:, left], failed[left] = state.point, state.failed
        todo &= ~state.failed
        if not todo.any():
            break
        left, rows, point = left[todo], rows[..., todo], point[:, todo]
        state = Basis(state.point[:, todo], state.rows[..., todo], state.failed[todo])
    return Basis(last.reshape(3, *shape), state.rows, failed.reshape(shape))


def _first(rows: np.ndarray, u0: np.ndarray, tolerance: float) -> Basis:
    """The first round: the plane of the row that u0 violates most."""
    excess, blank = over(rows, u0), _blank(u0[0] * 0.0)
    most, new = excess.max(0), _take(rows, excess.argmax(0))
    take = most > tolerance
    point = np.where(take, u0 - most * new[:3], u0)
    return Basis(point, np.stack([np.where(take, new, blank), blank, blank]), blank[0] > 1.0)


_MEMBERS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
"""Rows of the old basis that hold each candidate, together with the new row."""
_NEW, _UNUSED = 3, 4
_NEXT_BASIS = tuple((_NEW, *members, _UNUSED, _UNUSED)[:3] for members in _MEMBERS)


def _pivot(rows: np.ndarray, u0: np.ndarray, state: Basis, tolerance: float) -> tuple[Basis, np.ndarray]:
    """One round: bring the most violated row into the basis. Says as well where there was one."""
    excess = over(rows, state.point)
    todo = (excess.max(0) > tolerance) & ~state.failed
    new = _take(rows, excess.argmax(0))
    points, valid = candidates(new, state.rows, u0)
    # A candidate has to hold the rows of the old basis too, but for those that hold it in place.
    most = sum(state.rows[:, None, c] * points[None, :, c] for c in range(3)) - state.rows[:, None, 3]
    own = np.array([[k in members for members in _MEMBERS] for k in range(3)])
    valid = valid & ((most <= tolerance) | own.reshape(3, -1, *[1] * todo.ndim)).all(0)
    far = ((points - u0) ** 2).sum(1)
    best = np.where(valid, far, np.inf).argmin(0)
    found = valid.any(0)
    pool = np.concatenate([state.rows, new[None], _blank(u0[0] * 0.0)[None]])
    basis = np.stack([_take(pool, np.asarray(column)[best]) for column in zip(*_NEXT_BASIS, strict=True)])
    take = todo & found
    point = np.where(take, _take(points, best), state.point)
    return Basis(point, np.where(take, basis, state.rows), state.failed | (todo & ~found)), todo


def _blank(zero: np.ndarray) -> np.ndarray:
    """A row [4, ...] that never binds."""
    return np.stack([zero, zero, zero, zero + 1.0])


def _take(stack: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The entry of `stack` [n, c, ...] that `index` [...] names, for each problem."""
    return np.take_along_axis(stack, index[None, None], 0)[0]
