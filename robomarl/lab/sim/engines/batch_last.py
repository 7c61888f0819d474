"""`vmap_last`: `jax.vmap` that keeps the batch the last axis of every array, all the way through.

A processor works on eight numbers at once if they lie side by side. `jax.vmap` prevents this: its
batch is the first axis, and the last axes have two to ten elements (coordinates, teammates). So the
program of one team is traced, and evaluated again operation by operation, each with one more axis
at the end. Sums over a few elements are written out, because XLA makes no such loop from them.
Operations without a rule here go through `jax.vmap`.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var

from robomarl.core.types import Array

Tree = TypeVar("Tree")
FEW = 24
"""Largest number of elements that are summed one after another."""


def to_last(tree: Tree) -> Tree:
    """The first axis of every array becomes the last."""
    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), tree)


def to_first(tree: Tree) -> Tree:
    """The last axis of every array becomes the first."""
    return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), tree)


def vmap_last(function: Callable[..., Tree]) -> Callable[..., Tree]:
    """The function of one as one of many: arrays [...] that it takes and returns are [..., B] each."""

    def many(*given: Tree) -> Tree:
        arrays, tree = jax.tree.flatten(given)
        one = [jax.ShapeDtypeStruct(x.shape[:-1], x.dtype) for x in arrays]
        trace = jax.make_jaxpr(lambda *parts: function(*tree.unflatten(parts)), return_shape=True)
        program, shapes = trace(*one)
        size = arrays[0].shape[-1]
        found = _run(size, program, [_Value(x, True) for x in arrays])
        return jax.tree.structure(shapes).unflatten([_wide(size, value) for value in found])

    return many


class _Value(NamedTuple):
    """Value of a variable."""

    array: Array
    many: bool
    """True if the batch is the last axis."""


Rule = Callable[[int, JaxprEqn, Sequence[_Value]], list[Array]]
"""(size of the batch, an operation, its inputs, some with the batch) -> its outputs, [..., B] each."""


def _run(size: int, program: ClosedJaxpr, given: Sequence[_Value]) -> list[_Value]:
    """Return the outputs of a program for given values."""
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.constvars, [_Value(x, False) for x in program.consts], strict=True))
    known |= zip(jaxpr.invars, given, strict=True)

    def read(name: Var | Literal) -> _Value:
        if isinstance(name, Literal):
            return _Value(jnp.asarray(name.val, name.aval.dtype), False)  # type: ignore[attr-defined]
        return known[name]

    for equation in jaxpr.eqns:
        known |= zip(equation.outvars, _apply(size, equation, [read(name) for name in equation.invars]), strict=True)
    return [read(name) for name in jaxpr.outvars]


def _apply(size: int, equation: JaxprEqn, given: list[_Value]) -> list[_Value]:
    """Return the outputs of one operation."""
    inner = [equation.params[name] for name in ("jaxpr", "call_jaxpr") if name in equation.params]
    if inner and equation.primitive.name in _CALLS:
        return _run(size, inner[0] if isinstance(inner[0], ClosedJaxpr) else ClosedJaxpr(inner[0], ()), given)
    if not any(value.many for value in given):
        return [_Value(x, False) for x in _bound(equation, [value.array for value in given])]
    rule = _RULES.get(equation.primitive.name, _by_vmap)
    return [_Value(x, True) for x in rule(size, equation, given)]


def _bound(equation: JaxprEqn, arrays: Sequence[Array], **changed: object) -> list[Array]:
    """The operation itself, on other arrays, and with some of its parameters changed."""
    made = equation.primitive.bind(*arrays, **equation.primitive.get_bind_params({**equation.params, **changed}))
    return list(made) if equation.primitive.multiple_results else [made]


def _shape(equation: JaxprEqn) -> tuple[int, ...]:
    """Return the shape of the operation's output for one batch element."""
    return equation.outvars[0].aval.shape  # type: ignore[attr-defined]


def _wide(size: int, value: _Value) -> jax.Array:
    """The value with the batch as its last axis."""
    array = jnp.asarray(value.array)
    return array if value.many else lax.broadcast_in_dim(array, (*array.shape, size), tuple(range(array.ndim)))


def _by_vmap(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    axes = [-1 if value.many else None for value in given]
    each = jax.vmap(lambda *arrays: _bound(equation, arrays), in_axes=axes, out_axes=-1)
    return each(*(value.array for value in given))


def _elementwise(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """Numbers without axes go with arrays that have some."""
    shape = (*_shape(equation), size)

    def fit(value: _Value) -> jax.Array:
        array = _wide(size, value)
        return array if array.ndim == len(shape) else lax.broadcast_in_dim(array, shape, (len(shape) - 1,))

    return _bound(equation, [fit(value) for value in given])


def _as_it_is(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """Axes that are named by their numbers from the first on."""
    return _bound(equation, [_wide(size, value) for value in given])


def _one_more(**parameters: Callable[[int, int], int]) -> Rule:
    """For every parameter that has an entry for each axis, the last axis' entry: (its size, its number) -> entry."""

    def rule(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
        axis = len(_shape(equation))
        old = {name: equation.params[name] for name in parameters}
        changed = {k: v if v is None else (*v, parameters[k](size, axis)) for k, v in old.items()}
        return _bound(equation, [_wide(size, value) for value in given], **changed)

    return rule


def _reshape(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """Bring the axes into the order that the operation takes them in, then reshape."""
    array, order = _wide(size, given[0]), equation.params["dimensions"]
    if order is not None:
        array = lax.transpose(array, (*order, len(order)))
    return [lax.reshape(array, (*equation.params["new_sizes"], size))]


def _folded(operation: Callable) -> Rule:
    """Return the rule of a sum or a similar reduction, over one axis with few elements after another."""

    def rule(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
        (array, _), axes = given[0], sorted(equation.params["axes"], reverse=True)
        if jnp.issubdtype(array.dtype, jnp.integer) or not all(0 < array.shape[axis] <= FEW for axis in axes):
            return _bound(equation, [array])
        for axis in axes:
            parts = [lax.index_in_dim(array, i, axis, keepdims=False) for i in range(array.shape[axis])]
            array = reduce(operation, parts)
        return [array]

    return rule


def _product(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """A product of matrices with one short axis in common, as a sum of products of numbers."""
    ((left,), (right,)), both = (equation.params["dimension_numbers"][0], equation.params["dimension_numbers"][1])
    a, b = lax.optimization_barrier([_wide(size, value) for value in given])
    if not 0 < a.shape[left] <= FEW or both != (tuple(range(len(both[0]))),) * 2:
        return _by_vmap(size, equation, given)
    a, b = jnp.moveaxis(a, left, 0), jnp.moveaxis(b, right, 0)
    shared = len(both[0])
    for _ in range(b.ndim - 2 - shared):
        a = jnp.expand_dims(a, -2)
    b = jnp.expand_dims(b, tuple(range(1 + shared, a.ndim - (b.ndim - 2 - shared) - 1)))
    return [reduce(lax.add, [a[k] * b[k] for k in range(len(a))])]


def _gather(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """Gather entries at indices that are equal for the whole batch."""
    if given[1].many:
        return _by_vmap(size, equation, given)
    numbers, axis = equation.params["dimension_numbers"], len(_shape(equation))
    numbers = numbers._replace(offset_dims=(*numbers.offset_dims, axis))
    sizes = (*equation.params["slice_sizes"], size)
    return _bound(equation, [value.array for value in given], dimension_numbers=numbers, slice_sizes=sizes)


def _while(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """Run until every batch element has finished. Finished elements keep their state."""
    p = equation.params
    first, second = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    start = [_wide(size, value) for value in given[second:]]

    def goes_on(state: Sequence[Array]) -> jax.Array:
        known = [*given[:first], *(_Value(x, True) for x in state)]
        return _wide(size, _run(size, p["cond_jaxpr"], known)[0])

    def body(state: Sequence[Array]) -> list[Array]:
        more = goes_on(state)
        made = _run(size, p["body_jaxpr"], [*given[first:second], *(_Value(x, True) for x in state)])
        return [jnp.where(more, _wide(size, new), old) for new, old in zip(made, state, strict=True)]

    return lax.while_loop(lambda state: goes_on(state).any(), body, start)


def _scan(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    p = equation.params
    constant, state, along = _scanned(p, given)

    def body(state: Sequence[Array], rows: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        now = [_Value(row, value.many) for row, value in zip(rows, along, strict=True)]
        made = _run(size, p["jaxpr"], [*constant, *(_Value(x, True) for x in state), *now])
        wide = [_wide(size, value) for value in made]
        return wide[: len(state)], wide[len(state) :]

    start, rows = [_wide(size, value) for value in state], [value.array for value in along]
    options = {name: p[name] for name in ("length", "reverse", "unroll")}
    last, made = lax.scan(body, start, rows, **options)
    return [*last, *made]


def _scanned(params: dict[str, Any], given: Sequence[_Value]) -> Sequence[list[_Value]]:
    """Split a scan's operands into constants, initial carry and scanned inputs."""
    if "ft_in" in params:  # from jax 0.11 on
        return [list(part) for part in params["ft_in"].update(list(given)).unpack()]
    first, second = params["num_consts"], params["num_consts"] + params["num_carry"]
    return [list(given[:first]), list(given[first:second]), list(given[second:])]


def _own_slope(size: int, equation: JaxprEqn, given: Sequence[_Value]) -> list[Array]:
    """Run a function with a custom derivative, which is computed through `jax.vmap`."""
    arrays, many = [value.array for value in given], [value.many for value in given]
    values = lambda arrays: [_Value(*pair) for pair in zip(arrays, many, strict=True)]  # noqa: E731

    @jax.custom_jvp
    def call(*arrays: Array) -> list[Array]:
        return [_wide(size, x) for x in _run(size, equation.params["call_jaxpr"], values(arrays))]

    call.defjvp(lambda at, way: jax.jvp(lambda *x: _by_vmap(size, equation, values(x)), at, way))
    return call(*arrays)


_CALLS = ("jit", "pjit", "closed_call", "checkpoint")
_NUMBERS = """add sub mul div rem max min neg abs sign sqrt rsqrt exp exp2 log log1p expm1 tanh logistic sin cos tan
asin acos atan atan2 pow integer_pow square floor ceil round and or not xor eq ne lt le gt ge select_n clamp is_finite
shift_left shift_right_logical shift_right_arithmetic stop_gradient erf convert_element_type"""
_BY_NUMBER = (
    "squeeze argmax argmin cumsum cumprod cummax cummin sort rev split concatenate stack unstack optimization_barrier"
)
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_NUMBERS.split(), _elementwise),
    **dict.fromkeys(_BY_NUMBER.split(), _as_it_is),
    "broadcast_in_dim": _one_more(shape=lambda size, axis: size, broadcast_dimensions=lambda size, axis: axis),
    "reshape": _reshape,
    "transpose": _one_more(permutation=lambda size, axis: axis),
    "slice": _one_more(
        start_indices=lambda size, axis: 0, limit_indices=lambda size, axis: size, strides=lambda size, axis: 1
    ),
    "reduce_sum": _folded(lax.add),
    "reduce_max": _folded(lax.max),
    "reduce_min": _folded(lax.min),
    "reduce_and": _folded(lax.bitwise_and),
    "reduce_or": _folded(lax.bitwise_or),
    "dot_general": _product,
    "gather": _gather,
    "while": _while,
    "scan": _scan,
    "custom_jvp_call": _own_slope,
}
