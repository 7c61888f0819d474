"""The filter in JAX without a loop, for graphs: the projection enumerates the active sets among the rows that matter.

At most three rows hold the optimum in place. Of the `WATCHED` rows that the point violates most, or comes nearest to
violating, every set of up to three is tried; the nearest candidate that holds all of these rows is their optimum, and
where it holds the other rows too it is the optimum of all. Where it does not, the problem counts as not solved.
"""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from robomarl.safety import carriers
from robomarl.safety.batch import Library, filter_batch
from robomarl.safety.carry import FilterCarry
from robomarl.safety.constants import Mode
from robomarl.safety.jax_filter import TOLERANCE, JaxFilter
from robomarl.safety.params import SafetyParams
from robomarl.safety.qp import Projection
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView

WATCHED = 10
"""Rows among which all active sets are tried: 175 of them."""
TINY = 1e-6
"""Squares of sines and determinants from here on down count as parallel, in single precision."""


class StaticFilter(JaxFilter):
    """As `JaxFilter`, for views [B, ...]; made by `make_static_filter`."""

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; see `SafetyFilter.__call__`."""
        decide = partial(filter_batch, self._constants, _STATIC)
        if nominal.shape[-1] == carriers.WIDTH:
            return carriers.filter_carrier(decide, carry, view, nominal, gain_per_s)
        return decide(carry, view, nominal, gain_per_s)


def make_static_filter(params: SafetyParams, mode: Mode = "qp") -> StaticFilter:
    """The filter of one type of vehicle, as a fixed sequence of operations."""
    return StaticFilter(params, mode)


def project_static(rows: Array, point: Array, tolerance: float) -> Projection:
    """Project points; takes and returns what `qp.project_rows` does, with batches [B].

    Args:
        rows: [m, 4, B] unit normals and right-hand sides.
        point: [3, B] u0.
        tolerance: largest violation that counts as holding.
    """
    table, u0 = jnp.transpose(rows, (2, 0, 1)), point.T
    excess = _excess(table, u0[:, None])
    watched, over = table, excess
    if rows.shape[0] > WATCHED:
        over, index = jax.lax.top_k(excess, WATCHED)
        # A product with ones and zeros instead of indexing: every runtime has it.
        chosen = (index[..., None] == jnp.arange(rows.shape[0])).astype(table.dtype)
        watched = chosen @ table
    points, valid = _candidates(watched[..., :3], over, u0)
    holds = (_excess(watched[:, None], points[:, :, None]) <= tolerance).all(-1) & valid
    far: Array = ((points - u0[:, None]) ** 2).sum(-1)
    far = _where(holds, far, jnp.inf)
    nearest = far.min(-1, keepdims=True)
    # The projection is unique: equally near candidates are one point up to rounding, and their mean is as good.
    best = holds & (far <= nearest)
    u = _where(best[..., None], points, 0.0).sum(1) / jnp.maximum(best.sum(-1, keepdims=True), 1)
    failed = ~holds.any(-1)
    residual = _excess(table, u[:, None]).max(-1)
    return Projection(u.T, ~failed & (residual <= tolerance), residual, failed)


def _candidates(normal: Array, over: Array, u0: Array) -> tuple[Array, Array]:
    """u0 and its projections onto all planes, lines and vertices: [B, S, 3], and where they exist [B, S]."""
    count = normal.shape[1]
    sets = (np.array(list(itertools.combinations(range(count), k)), int).reshape(-1, k).T for k in (2, 3))
    (i, j), (a, b, c) = sets
    here, wide = u0[:, None], jnp.ones_like(over[:, :1])
    planes = here - over[..., None] * normal
    n, m, r, s = normal[:, i], normal[:, j], over[:, i], over[:, j]
    dot = (n * m).sum(-1)
    square = 1 - dot * dot
    scale = 1 / _where(square > TINY, square, 1.0)
    lines = here - ((r - dot * s) * scale)[..., None] * n - ((s - dot * r) * scale)[..., None] * m
    ab, bc, ca = (jnp.cross(normal[:, x], normal[:, y]) for x, y in ((a, b), (b, c), (c, a)))
    det = (ab * normal[:, c]).sum(-1)
    scale = 1 / _where(det * det > TINY, det, 1.0)
    step = over[:, a, None] * bc + over[:, b, None] * ca + over[:, c, None] * ab
    vertices = here - scale[..., None] * step
    valid = [wide > 0, over == over, square > TINY, det * det > TINY]
    return jnp.concatenate([here, planes, lines, vertices], 1), jnp.concatenate(valid, 1)


def _where(condition: Array, yes: Array, no: Array) -> Array:
    return jnp.where(condition, yes, no)


def _excess(rows: Array, u: Array) -> Array:
    """A u - b for rows [..., 4] and points [..., 3]."""
    return (rows[..., :3] * u).sum(-1) - rows[..., 3]


_STATIC = Library(jnp, partial(project_static, tolerance=TOLERANCE))
