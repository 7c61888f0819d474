"""`vmap_last` is `jax.vmap` with the batch at the other end: of all kinds of operations, environments, gradients."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from robomarl.lab.jax_filter.filter import project
from robomarl.lab.sim.engines.batch_last import to_first, to_last, vmap_last
from robomarl.lab.sim.env import make_env
from robomarl.lab.sim.scenario import load_scenario

BATCH = 5


def count_up(x: jax.Array) -> jax.Array:
    """Loops that end at different times, and one that all end together."""
    grown = lax.while_loop(lambda s: s[0].sum() < 5, lambda s: (s[0] + jnp.abs(x) + 0.1, s[1] * 2), (x, x))
    return lax.scan(lambda s, row: (s + row, s), grown[0], x)[0] + lax.fori_loop(0, 3, lambda i, y: y * 0.5 + i, x)


CASES: dict[str, Callable[[jax.Array], object]] = {
    "numbers": lambda x: jnp.where(x > 0, jnp.sqrt(jnp.abs(x)), jnp.clip(x, -0.5, 2.0)) + jnp.arange(3.0) * 2 - x[0],
    "axes": lambda x: jnp.concatenate([x.T[None, 1:], jnp.broadcast_to(x[:, 0], (2, 3))[None]], 1).reshape(-1)[::2],
    "axes in another order": lambda x: lax.reshape(x, (9,), (1, 0)),
    "sums": lambda x: (x.sum(), x.max(0), x.min((0, 1)), (x > 0).any(-1), (x > 0).all(), (x > 0).sum(0), x.argmax(0)),
    "long sums": lambda x: (jnp.repeat(x, 20, 0).sum(0), jnp.cumsum(x, 0), jnp.sort(x, 1)),
    "products": lambda x: (x @ x.T, jnp.einsum("ij,ijk->ik", x, jnp.stack([x, x + 1], -1)), x @ x[0], x @ np.eye(3)),
    "products of many": lambda x: jnp.tile(x, (1, 20)) @ jnp.tile(x, (1, 20)).T,
    "entries": lambda x: (x[np.array([[1, 0], [2, 2]])], jnp.take_along_axis(x, x.argmax(0)[None], 0), x[:, ::-1]),
    "loops": count_up,
    "branches": lambda x: lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, x),
    "nothing of it": lambda x: jnp.arange(4),
}


@pytest.mark.parametrize("name", CASES)
def test_it_makes_of_each_operation_what_vmap_makes(name: str) -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(BATCH, 3, 3)), jnp.float32)
    expected, found = jax.vmap(CASES[name])(x), to_first(jax.jit(vmap_last(CASES[name]))(to_last(x)))
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_no_operation_of_an_environment_has_the_batch_anywhere_else() -> None:
    """What is left to `jax.vmap` would be slow: the batch is the last axis of all arrays with 7 teams."""
    env = make_env(load_scenario("navigation"), safety="qp")
    state = jax.eval_shape(lambda keys: to_last(jax.vmap(env.reset)(keys)), jax.random.split(jax.random.key(0), 7))
    program = jax.make_jaxpr(vmap_last(env.step))(state, jnp.zeros((env.num_agents, env.action_size, 7)))
    shapes = [v.aval.shape for equation in program.jaxpr.eqns for v in equation.outvars if 7 in v.aval.shape]
    assert len(shapes) > 500
    assert all(shape[-1] == 7 for shape in shapes)


@pytest.mark.parametrize(
    ("name", "mode"), [("swap_4", "off"), pytest.param("navigation", "qp", marks=pytest.mark.slow)]
)
def test_teams_do_what_they_did(name: str, mode: str) -> None:
    env = make_env(load_scenario(name), safety=mode)
    state = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), BATCH))
    action = jax.random.uniform(jax.random.key(1), (BATCH, env.num_agents, env.action_size), minval=-1.0)
    by_vmap, last, step = jax.jit(jax.vmap(env.step)), to_last(state), jax.jit(vmap_last(env.step))
    for _ in range(8):
        state, last = by_vmap(state, action), step(last, to_last(action))
    for a, b in zip(jax.tree.leaves(to_first(last)), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_a_projection_keeps_its_own_gradient() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(BATCH, 6, 4, 2))
    rows[:, :, :3] /= np.sqrt((rows[:, :, :3] ** 2).sum(2, keepdims=True))
    rows, points = jnp.asarray(rows, jnp.float32), jnp.asarray(random.normal(size=(BATCH, 3, 2)), jnp.float32)

    def loss(points: jax.Array, function: Callable, batch: Callable) -> jax.Array:
        return (function(lambda r, p: project(r, p).u)(batch(rows), points) ** 2).sum()

    expected = jax.grad(loss)(points, jax.vmap, lambda x: x)
    found = jax.grad(loss)(to_last(points), vmap_last, to_last)
    assert (np.asarray(expected) != 0).any()
    np.testing.assert_allclose(to_first(found), expected, atol=1e-5)
