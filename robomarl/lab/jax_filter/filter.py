"""The safety filter in JAX, for training with it in the loop: jit, vmap, scan and gradients.

Constraints (rows), checks and fallbacks are those of `batch`; only the loop of the projection is
the compiler's. In single precision rows hold to `TOLERANCE`, and commands agree with the numpy
filter to 1e-4. Loops end with the last robot that needs another round. The projection's gradient is
that of its solution, from the active rows.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp

from robomarl.core.filter.decision import Library, filter_batch
from robomarl.core.filter.memory import FilterCarry, initial_carry
from robomarl.core.filter.model.constants import Mode, constants_of
from robomarl.core.filter.params import SafetyParams
from robomarl.core.filter.qp import least, projection
from robomarl.core.filter.qp.candidates import over
from robomarl.core.filter.shapes import ShapeCheck
from robomarl.core.types import Array, FilterResult
from robomarl.core.vectors import cross, dot
from robomarl.core.view import LocalView
from robomarl.lab.jax_filter.lanes import HeldPoint, RowProblem, project_lanes, project_planar

TOLERANCE = 2e-5
"""Violation of a row [m/s^2] that counts as holding in single precision."""
STIFF = 1e3
"""How much more a row that holds counts than the way from the nominal command, in gradients: right to 0.1 %."""


class JaxFilter:
    """Counterpart of `SafetyFilter` for JAX arrays with any leading axes; made by `make_jax_filter`."""

    def __init__(self, params: SafetyParams, mode: Mode) -> None:
        """Work out the constants; see `make_jax_filter`."""
        self.params = params
        self.mode = mode
        self._constants = constants_of(params, mode)
        self._check_shapes = ShapeCheck(params)
        self._library = jax_library(params.planar)

    def init(self, batch: tuple[int, ...] = ()) -> FilterCarry:
        """The memory before the first decision, for robots with these leading axes."""
        return initial_carry(self.params, batch, jnp, "float32")

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; see `SafetyFilter.__call__`. Shapes are checked during tracing."""
        self._check_shapes(carry, view, nominal, gain_per_s)
        return filter_batch(self._constants, self._library, carry, view, nominal, gain_per_s)


def jax_library(planar: bool) -> Library:
    """JAX's arrays and solver; `planar`: of robots that move in the plane."""
    return Library(jnp, partial(project, planar=planar), repeat=least_open, each=each_row)


def make_jax_filter(params: SafetyParams, mode: Mode = "qp") -> JaxFilter:
    """The filter of one type of vehicle, to be wrapped around an environment in training.

    Args:
        params: of the vehicle.
        mode: as of `SafetyFilter`.
    """
    return JaxFilter(params, mode)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def project(rows: Array, point: Array, tolerance: float = TOLERANCE, planar: bool = False) -> projection.Projection:
    """`qp.project_rows` for JAX: rounds end with the last problem that needs one.

    Args:
        rows: [m, 4, ...] unit normals and right-hand sides.
        point: [3, ...] u0.
        tolerance: largest violation that counts as holding.
        planar: the last two rows are upwards and downwards, and no other has a vertical part.
    """
    problem = RowProblem([tuple(row) for row in rows], tuple(point), tolerance, jnp)
    return (project_planar if planar else project_lanes)(problem, _repeat)


@project.defjvp
def _project_jvp(
    tolerance: float, planar: bool, given: tuple[Array, Array], moved: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the derivative of the projection by the point and its active rows; 0 for unsolved problems."""
    found = project(*given, tolerance, planar)
    holds = (over(given[0], found.u) >= -tolerance) & found.solved
    _, way = jax.jvp(lambda rows, point: _held(rows, point, holds), given, moved)
    return found, projection.Projection(way * found.solved, *map(_still, found[1:]))


def _held(rows: jax.Array, point: jax.Array, holds: jax.Array) -> jax.Array:
    """[3, ...] the point nearest to `point` on the planes of the rows that hold, as stiff springs.

    (1 + STIFF sum n n') u = point + STIFF sum n b, by Cramer's rule. Planes that follow from others need no care so.
    """
    stiff = holds.astype(rows.dtype) * STIFF**0.5
    normals = rows[:, :3] * stiff[:, None]
    dots = [[(normals[:, i] * normals[:, k]).sum(0) + (i == k) for i in range(3)] for k in range(3)]
    wanted: Array = point + (normals * (rows[:, 3] * stiff)[:, None]).sum(0)
    x, y, z = ((a, b, c) for a, b, c in dots)
    whole = dot(x, cross(y, z))
    return jnp.stack([dot(wanted, cross(y, z)), dot(x, cross(wanted, z)), dot(x, cross(y, wanted))]) / whole


def _still(x: Array) -> Array:
    """Return the tangent of a value without a gradient."""
    return jnp.zeros_like(x) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.zeros(x.shape, jax.dtypes.float0)


def least_open(step: Callable, u: Array, needed: Array) -> Array:
    """Run the rounds of `least`, none if no robot needs them. JAX sees the result as a constant, because a point
    between infeasible rows jumps from one row to another.
    """
    u = jax.lax.stop_gradient(u)
    step, seen = jax.closure_convert(step, u)
    seen, more = jax.lax.stop_gradient(seen), lambda s: (s[0] < least.ROUNDS) & needed.any()
    return jax.lax.while_loop(more, lambda s: (s[0] + 1, step(s[1], *seen)), (0, u))[1]


def each_row(step: Callable, u: Array, rows: Array) -> Array:
    """Apply the rows in turn, in a loop. Unrolled, XLA computes each step three times for each component of the next
    one; for the eight rows of four obstacles, this dominates its run time and its compilation.
    """
    return jax.lax.scan(lambda u, row: (step(u, row), None), u, rows)[0]


def _repeat(step: Callable, state: HeldPoint) -> HeldPoint:
    def once_more(left: tuple) -> tuple:
        number, _, state = left
        state, todo = step(state)
        return number + 1, todo.any(), state

    return jax.lax.while_loop(lambda s: s[1] & (s[0] < projection.ROUNDS), once_more, (0, jnp.array(True), state))[2]
