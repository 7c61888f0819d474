"""The same filter in JAX, for training with it in the loop: jit, vmap, scan and gradients.

Rows, checks and fallbacks are those of `batch`; only the loop of the projection is the compiler's. In single
precision rows hold to `TOLERANCE`, and commands agree with the numpy filter to 1e-4.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from robomarl.safety.decision import Library, filter_batch
from robomarl.safety.memory import FilterCarry, initial_carry
from robomarl.safety.model.constants import Mode, constants_of
from robomarl.safety.params import SafetyParams
from robomarl.safety.qp import least, projection
from robomarl.safety.shapes import ShapeCheck
from robomarl.types import Array, FilterResult
from robomarl.view import LocalView

TOLERANCE = 2e-5
"""Violation of a row [m/s^2] that counts as holding in single precision."""


class JaxFilter:
    """As `SafetyFilter`, for JAX arrays with any leading axes; made by `make_jax_filter`."""

    def __init__(self, params: SafetyParams, mode: Mode, gradients: bool = True) -> None:
        """Work out the constants; see `make_jax_filter`."""
        self.params = params
        self.mode = mode
        self._constants = constants_of(params, mode)
        self._check_shapes = ShapeCheck(params)
        self._library = GRADIENTS if gradients else Library(jnp, project_open, repeat=least_open)

    def init(self, batch: tuple[int, ...] = ()) -> FilterCarry:
        """The memory before the first decision, for robots with these leading axes."""
        return initial_carry(self.params, batch, jnp, "float32")

    def __call__(
        self, carry: FilterCarry, view: LocalView, nominal: Array, gain_per_s: Array | None = None
    ) -> tuple[FilterCarry, FilterResult]:
        """Filter one decision; see `SafetyFilter.__call__`. Shapes are checked as it is traced."""
        self._check_shapes(carry, view, nominal, gain_per_s)
        return filter_batch(self._constants, self._library, carry, view, nominal, gain_per_s)


def make_jax_filter(params: SafetyParams, mode: Mode = "qp", gradients: bool = True) -> JaxFilter:
    """The filter of one type of vehicle, to be wrapped around an environment in training.

    Args:
        params: of the vehicle.
        mode: as of `SafetyFilter`.
        gradients: whether its result will be differentiated. If not, rounds end with the last problem that needs one.
    """
    return JaxFilter(params, mode, gradients)


def project(rows: Array, point: Array, tolerance: float = TOLERANCE) -> projection.Projection:
    """`qp.project_rows` for JAX."""
    return projection.project_rows(rows, point, jnp, tolerance, _repeat)


def project_open(rows: Array, point: Array, tolerance: float = TOLERANCE) -> projection.Projection:
    """The same, without gradients: constant in its arguments, as far as JAX knows."""
    rows, point = jax.lax.stop_gradient((rows, point))
    return projection.project_rows(rows, point, jnp, tolerance, _repeat_open)


def least_open(step: Callable, u: Array, needed: Array) -> Array:
    """The rounds of `least`, none where nobody needs them; without gradients."""
    more = lambda s: (s[0] < least.ROUNDS) & needed.any()  # noqa: E731
    return jax.lax.while_loop(more, lambda s: (s[0] + 1, step(s[1])), (0, jax.lax.stop_gradient(u)))[1]


def _least(step: Callable, u: Array, needed: Array) -> Array:
    """The rounds of `least`; constant, as far as JAX knows: what is torn between rows jumps from one to another."""
    return jax.lax.stop_gradient(jax.lax.scan(lambda s, _: (step(s), None), u, None, length=least.ROUNDS)[0])


def _repeat(pivot: Callable, rows: Array, point: Array, state: projection.Basis) -> projection.Basis:
    """As a scan: the graph holds one round, and gradients flow backwards through it."""
    state, _ = jax.lax.scan(lambda s, _: (pivot(rows, point, s)[0], None), state, None, length=projection.ROUNDS)
    return state


def _repeat_open(pivot: Callable, rows: Array, point: Array, state: projection.Basis) -> projection.Basis:
    """As a loop that ends when no problem is left that a round would change."""

    def step(left: tuple) -> tuple:
        number, _, state = left
        state, todo = pivot(rows, point, state)
        return number + 1, todo.any(), state

    return jax.lax.while_loop(lambda s: s[1] & (s[0] < projection.ROUNDS), step, (0, jnp.array(True), state))[2]


GRADIENTS = Library(jnp, project, repeat=_least)
"""For filters whose result will be differentiated."""
