"""The filter in JAX for graphs: double precision inside for any input, and a projection of few large
operations.

The projection is the dual simplex of `qp.project_rows` and of the C kernel, on bases of at most
three rows. A round is written for a runtime in which an operation costs its call: the new row with
every one and every two rows of the basis are six sets of three planes. If a set has two rows, its
third plane is at right angles to both, through u0, so that one formula serves all sets. Besides its
rows, every result is checked for its multipliers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.core.domain.onboard import as_it_is
from robomarl.core.filter.decision import Library, filter_batch
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.model.constants import Mode
from robomarl.core.filter.params import SafetyParams
from robomarl.core.filter.qp.projection import TOLERANCE, Projection
from robomarl.core.types import Array, FilterResult
from robomarl.core.view import LocalView
from robomarl.lab.jax_filter.filter import JaxFilter, least_open
from robomarl.lab.trees import Tree

ROUNDS = 64
"""Maximum number of rounds; only an endless loop caused by rounding would need as many."""
PIVOT = 1e-11
"""Violation below which a row is left alone: a hundredth of the violation that the result may have."""
PARALLEL, FLAT = 1e-20, 1e-10
"""Least squared sine of two rows for a common line, and least determinant of three for a vertex. Rounding makes
1e-32 and 1e-16 of exactly parallel rows.
"""
NEGATIVE = -1e-6
"""Least multiplier, over the largest, that rounding can make of one that is 0 where rows are almost parallel."""


class StaticFilter(JaxFilter):
    """Counterpart of `JaxFilter` for views [B, ...]; made by `make_static_filter`. Takes and returns single
    precision.
    """

    def __init__(self, params: SafetyParams, mode: Mode, around: Callable) -> None:
        """Work out the constants; see `make_static_filter`."""
        super().__init__(params, mode)
        self._around = around

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; see `SafetyFilter.__call__`."""
        given = (carry, view, nominal) if gain_per_s is None else (carry, view, nominal, gain_per_s)
        with jax.enable_x64(True):
            return _cast(self._around(self._checked, *_cast(given, np.float64)), np.float32)

    def _checked(self, *given: Tree) -> tuple[FilterCarry, FilterResult]:
        self._check_shapes(*given, *[None] * (4 - len(given)))
        return filter_batch(self._constants, _STATIC, *given)


def make_static_filter(params: SafetyParams, mode: Mode = "qp", around: Callable = as_it_is) -> StaticFilter:
    """The filter of one type of vehicle, for graphs.

    Args:
        params: of the vehicle.
        mode: as of `SafetyFilter`.
        around: how commands of another kind go through it; see `robomarl.core.domain.onboard.Command.around`.
    """
    return StaticFilter(params, mode, around)


def _cast(tree: Tree, dtype: type) -> Tree:
    """All numbers of a tree in this type; whole numbers in 32 bits."""

    def cast(leaf: Array) -> Array:
        kind = jnp.result_type(leaf)
        if kind == np.bool_:
            return leaf
        return jnp.asarray(leaf).astype(np.int32 if np.issubdtype(kind, np.integer) else dtype)

    return jax.tree.map(cast, tree)


class State(NamedTuple):
    """State of the projection, for problems [B]. A row is n . u <= b, not relative to u0: u0 may be far away, and
    would then enter every rounding.
    """

    u: Array
    """[B, 3]"""
    basis: Array
    """[B, 3, 4] n and b of the rows that hold u in place; unused ones are 0 . u <= 1."""
    excess: Array
    """[B, m] by how much u violates each row."""
    least: Array
    """[B] smallest multiplier of the basis over its largest."""
    failed: Array
    """[B] bool: the rows seen so far have no common point."""


def project_static(rows: Array, point: Array, tolerance: float = TOLERANCE) -> Projection:
    """Project points with the interface of `qp.project_rows`, with batches [B], in double precision.

    Args:
        rows: [m, 4, B] unit normals and right-hand sides.
        point: [3, B] u0.
        tolerance: largest violation that counts as holding.
    """
    table, u0 = jnp.transpose(rows, (2, 0, 1)), point.T
    zero = u0 * 0.0
    blank = jnp.concatenate([zero, zero[:, :1] + 1.0], -1)
    start = State(u0, jnp.stack([blank] * 3, 1), _over(table, u0), zero[:, 0], zero[:, 0] > 1.0)

    def pivot(left: tuple) -> tuple:
        number, _, state = left
        state = _pivot((table, u0), blank, state)
        return number + 1, _unfinished(state).any(), state

    first = (jnp.zeros((), np.int32), _unfinished(start).any(), start)
    state = jax.lax.while_loop(lambda left: left[1] & (left[0] < ROUNDS), pivot, first)[2]
    u = state.u
    residual = _over(table, u).max(-1)
    solved = ~state.failed & (residual <= tolerance) & (state.least >= NEGATIVE)
    return Projection(u.T, solved, residual, state.failed)


def _unfinished(state: State) -> Array:
    return (state.excess.max(-1) > PIVOT) & ~state.failed


_SETS = np.array([[0, 1, 4], [0, 2, 5], [0, 3, 6], [0, 1, 2], [0, 1, 3], [0, 2, 3]])
"""Planes of each candidate but the first, the new row's own: 0 is the new row, 1 to 3 the basis, 4 to 6 are at right
angles to the new row and to one of 1 to 3.
"""
_LEAST = np.array([PARALLEL] * 3 + [FLAT] * 3)
_MEMBERS = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
"""Rows of the old basis that hold each candidate, together with the new row."""
_ALLOWED = np.array([[np.inf if k in members else PIVOT for k in range(3)] for members in _MEMBERS])
_NEXT = np.array([np.eye(5)[[0, *(k + 1 for k in members), 4, 4][:3]].ravel() for members in _MEMBERS])
"""[7, 15] ones where an entry of the next basis is the new row, a row of the old one, or unused."""


def _pivot(given: tuple[Array, Array], blank: Array, state: State) -> State:
    """One round: bring the row that is violated most into the basis, for the problems that have one.

    Args:
        given: [B, m, 4] n and b of all rows, [B, 3] u0.
        blank: [B, 4] the row that never binds.
        state: of the round before.
    """
    table, u0 = given
    new = _hot(state.excess.argmax(-1), table.shape[1]) @ table
    pool = jnp.concatenate([new, state.basis], 1)
    points, exists, least = _candidates(pool, u0)
    # A candidate has to hold the rows of the old basis too, but for those that hold it in place.
    over = points @ state.basis[..., :3].transpose(0, 2, 1) - state.basis[:, None, :, 3]
    steps = u0[:, None] - points
    far = (steps * steps).sum(-1)
    far = _where(exists & (over <= _ALLOWED).all(-1), far, np.inf)
    found = far.min(-1) < np.inf
    best = _hot(far.argmin(-1), len(_MEMBERS))
    share = (best @ _NEXT).reshape(-1, 3, 5)
    basis = share @ jnp.concatenate([pool, blank[:, None]], 1)
    todo = _unfinished(state)
    take = (todo & found)[:, None]
    u = _where(take, (best @ points)[:, 0], state.u)
    return State(
        u,
        _where(take[..., None], basis, state.basis),
        _over(table, u),
        _where(take[:, 0], (best @ least[..., None])[:, 0, 0], state.least),
        state.failed | (todo & ~found),
    )


def _candidates(pool: Array, u0: Array) -> tuple[Array, Array, Array]:
    """Points on the plane of the new row, its lines and its vertices with the basis' planes.

    Args:
        pool: [B, 4, 4] n and b of the new row, and of the three of the basis.
        u0: [B, 3].

    Returns:
        points [B, 7, 3] in the order of `_MEMBERS`, where they exist [B, 7], and the smallest multiplier over the
        largest [B, 7].
    """
    new, normals = pool[:, :1, :3], pool[..., :3]
    turned, start = _cross(new, normals[:, 1:]), u0[:, None, :, None]
    every = jnp.concatenate([pool, jnp.concatenate([turned, turned @ start[:, 0]], -1)], 1)[:, _SETS]
    matrix, b = every[..., :3], every[..., 3:]
    inverse = _cross(matrix[:, :, [1, 2, 0]], matrix[:, :, [2, 0, 1]])
    det = (matrix * inverse).sum(-1, keepdims=True)
    exists = jnp.abs(det).min(-2) > _LEAST[:, None]
    # Rows over their determinant: the transposed inverse.
    inverse = inverse / _where(exists[..., None], det, 1.0)
    back = inverse.transpose(0, 1, 3, 2)
    points = start - back @ (matrix @ start - b)
    # A second step takes away what rounding left of the first.
    points = points - back @ (matrix @ points - b)
    multiplier = inverse @ (start - points)
    share = multiplier.min(-2) / jnp.maximum(jnp.abs(multiplier).max(-2), 1e-300)
    one = new[..., 0] == new[..., 0]
    plane = u0 - _over(pool[:, :1], u0) * new[:, 0]
    plane = (plane - _over(pool[:, :1], plane) * new[:, 0])[:, None]
    return (
        jnp.concatenate([plane, points[..., 0]], 1),
        jnp.concatenate([one, exists[..., 0]], 1),
        jnp.concatenate([plane[..., 0] * 0.0, share[..., 0]], 1),
    )


def _cross(a: Array, b: Array) -> Array:
    """Cross product along the last axis."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def _hot(index: Array, size: int) -> Array:
    """[B, 1, size] a one where `index` [B] says: its product with a stack is the entry."""
    return (index[:, None, None] == np.arange(size)).astype(np.float64)


def _where(condition: Array, yes: Array, no: Array) -> Array:
    return jnp.where(condition, yes, no)


def _over(rows: Array, u: Array) -> Array:
    """[B, m] by how much points [B, 3] violate rows [B, m, 4]."""
    return (rows[..., :3] @ u[..., None])[..., 0] - rows[..., 3]


def _weigh(start: Array, values: Array, weights: Sequence[float]) -> Array:
    """`stacked.weigh` in two operations."""
    return start + (values * np.array(weights)).sum(-1)


_STATIC = Library(jnp, project_static, _weigh, least_open)
