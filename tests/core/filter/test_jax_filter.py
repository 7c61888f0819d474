"""The filter in JAX: the numpy filter's results in single precision, under jit, vmap, scan and grad."""

from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from robomarl.core.filter.filter import Reason, SafetyFilter, SafetyParams
from robomarl.core.filter.memory import FilterCarry
from robomarl.core.filter.qp import least, projection
from robomarl.core.filter.qp.candidates import over
from robomarl.core.view import LocalView
from robomarl.lab.jax_filter.filter import each_row, make_jax_filter, project
from tests.core.filter.views import PARAMS, leaves, random_carry, random_views

NUM = 256


def single(tree):
    """In single precision, as JAX arrays."""
    return jax.tree.map(lambda x: jnp.asarray(np.asarray(x, np.float32) if np.asarray(x).dtype == float else x), tree)


JAX_FILTER = make_jax_filter(PARAMS)
STEP = jax.jit(JAX_FILTER.__call__)


@pytest.fixture(scope="module")
def case() -> tuple[FilterCarry, LocalView, np.ndarray]:
    """Robots in the middle of a flight; what single precision cannot tell is rounded away first."""
    random = np.random.default_rng(11)
    carry, view = random_carry(PARAMS, random, NUM), random_views(random, NUM)
    return jax.tree.map(np.asarray, jax.tree.map(np.float64, single((carry, view, random.uniform(-4, 4, (NUM, 4))))))


def to_bool(view: LocalView) -> LocalView:
    return view._replace(heard=view.heard._replace(mask=view.heard.mask.astype(bool)))


def test_it_agrees_with_numpy(params: SafetyParams, case):
    carry, view, nominal = case
    view = to_bool(view)
    expected_carry, expected = SafetyFilter(params)(carry, view, nominal)
    found_carry, found = STEP(*single((carry, view, nominal)))
    np.testing.assert_array_equal(found.reason, expected.reason)
    np.testing.assert_array_equal(found.solved, expected.solved)
    np.testing.assert_allclose(found.command, expected.command, atol=1e-4)
    np.testing.assert_allclose(found.slack, expected.slack, atol=1e-3, rtol=1e-3)
    np.testing.assert_allclose(found.margin_m, expected.margin_m, atol=1e-5)
    for (name, a), (_, b) in zip(leaves(found_carry), leaves(expected_carry), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-4, rtol=1e-5, err_msg=name)
    assert {Reason.OK, Reason.INFEASIBLE} <= set(np.asarray(found.reason).tolist())


def test_vmap_and_scan_change_nothing(case):
    carry, view, nominal = case
    carry, view, nominal = single((carry, to_bool(view), nominal))

    def step(state, _):
        state, result = jax.vmap(JAX_FILTER.__call__)(state, view, nominal)
        return state, result.command

    last, commands = jax.jit(lambda c: jax.lax.scan(step, c, None, length=3))(carry)
    for k in range(3):
        carry, result = STEP(carry, view, nominal)
        # Between nominal command and brake a row counts three times, and rows at odds are divided by a period:
        # single precision is felt there.
        np.testing.assert_allclose(commands[k], result.command, atol=3e-3)
    assert jax.tree.structure(last) == jax.tree.structure(carry)


def test_faults_have_the_same_names(params: SafetyParams, case):
    carry, view, nominal = jax.tree.map(np.copy, case)
    view = to_bool(view)
    nominal[0, 1], view.own.pos_m[1, 0], view.own.vel_m_s[2] = np.nan, np.inf, np.nan
    view.heard.mask[3:6] = True
    view.heard.vel_m_s[3, 1], view.heard.age_s[4, 0], view.own.age_s[5] = np.nan, 0.7, 0.3
    _, expected = SafetyFilter(params)(carry, view, nominal)
    _, found = STEP(*single((carry, view, nominal)))
    assert np.asarray(found.reason)[:6].tolist() == [3, 3, 3, 3, 2, 2]
    np.testing.assert_array_equal(found.reason, expected.reason)
    seen = ~np.isin(np.arange(len(nominal)), (1, 2, 5))  # without a new estimate `SafetyFilter` alone flies blind
    np.testing.assert_allclose(found.command[seen], expected.command[seen], atol=1e-4)
    assert np.isfinite(found.command).all()


def test_gradients_are_finite_everywhere(case):
    carry, view, nominal = jax.tree.map(np.copy, case)
    view = to_bool(view)
    view.own.vel_m_s[0] = 0
    view.heard.pos_m[1, 0] = view.own.pos_m[1]  # two robots in one place
    view.heard.mask[2] = False
    view.heard.pos_m[3, 0], nominal[4] = np.nan, np.inf
    carry, view, nominal = single((carry, view, nominal))

    def loss(nominal, pos, vel):
        own = view.own._replace(pos_m=pos, vel_m_s=vel)
        after, result = JAX_FILTER(carry, view._replace(own=own), nominal)
        return (result.command**2).sum() + result.slack.sum() + (after.plan.stop_m**2).sum()

    value, gradients = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))(nominal, view.own.pos_m, view.own.vel_m_s)
    assert np.isfinite(value)
    assert all(np.isfinite(g).all() for g in gradients)
    assert any((np.asarray(g) != 0).any() for g in gradients)


def test_the_gradient_of_a_projection_is_that_of_finite_differences(random: np.random.Generator):
    """Where nothing holds, and one, two and three rows; along random ways of point, normals and bounds together."""
    count, step = 400, 1e-5
    arrows, bounds = random.normal(size=(8, 3, count)), random.uniform(0.1, 1, (8, 1, count))
    given = arrows, bounds, 1.5 * random.normal(size=(3, count))
    way = tuple(random.normal(size=x.shape) for x in given)

    def solve(arrows, bounds, points):
        normals = arrows / jnp.sqrt((arrows**2).sum(1, keepdims=True))
        rows = jnp.concatenate([normals, bounds], 1)
        found = project(rows, points, projection.TOLERANCE)
        return found.u, found.solved, (over(rows, found.u) > -projection.TOLERANCE).sum(0)

    with jax.enable_x64(True):
        (_, solved, holding), (moved, *_) = jax.jvp(jax.jit(solve), given, way)
        ahead, behind = (solve(*(x + k * step * w for x, w in zip(given, way, strict=True)))[0] for k in (1, -1))
    assert {0, 1, 2, 3} <= set(np.asarray(holding)[solved].tolist())
    expected = np.asarray(ahead - behind)[:, solved] / (2 * step)
    error = np.linalg.norm(np.asarray(moved)[:, solved] - expected, axis=0)
    assert np.quantile(error / (1 + np.linalg.norm(expected, axis=0)), 0.98) < 0.03  # the others change their rows


def test_projections_in_single_precision(random: np.random.Generator):
    """Where the problem is well posed, to 1e-4; never solved when it is not."""
    rows = random.normal(size=(4000, 10, 3))
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    bounds, points = random.uniform(-0.2, 1.5, (4000, 10)), 2 * random.normal(size=(4000, 3))
    exact = projection.project_batch(rows, bounds, points)
    packed = jnp.asarray(np.moveaxis(np.concatenate([rows, bounds[..., None]], -1), 0, -1), jnp.float32)
    found = jax.jit(project)(packed, jnp.asarray(points.T, jnp.float32))
    both = np.asarray(found.solved) & exact.solved
    assert (np.asarray(found.solved) == exact.solved).mean() > 0.998
    assert not (np.asarray(found.solved) & exact.infeasible & (exact.residual > 1e-3)).any()
    np.testing.assert_allclose(np.asarray(found.u).T[both], exact.u[both], atol=1e-4, rtol=1e-4)


def test_rounds_are_those_of_numpy(random: np.random.Generator):
    """Number for number as `project_rows` has them: the same points, and the same are not solved."""
    rows, bounds = random.normal(size=(4000, 9, 3)), random.uniform(-0.5, 1.5, (4000, 9))
    rows[:, :3] = rows[:, 3:6] + 1e-4 * rows[:, :3]  # almost parallel ones are where it is hard
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    packed = np.moveaxis(np.concatenate([rows, bounds[..., None]], -1), 0, -1)
    points = 2 * random.normal(size=(3, 4000))
    expected = projection.project_rows(packed, points)
    with jax.enable_x64(True):
        found = jax.jit(project, static_argnums=2)(packed, points, projection.TOLERANCE)
    np.testing.assert_array_equal(found.solved, expected.solved)
    np.testing.assert_array_equal(found.infeasible, expected.infeasible)
    np.testing.assert_allclose(found.u[:, expected.solved], expected.u[:, expected.solved], atol=1e-8)
    assert 0.02 < expected.solved.mean() < 0.98


def test_rows_of_what_never_moves_are_a_loop_however_many_there_are(random: np.random.Generator):
    """Written out, those of four obstacles took XLA minutes: each step was worked out anew for each use of it."""
    rows = random.normal(size=(8, 4, NUM))
    rows[:, :3] /= np.linalg.norm(rows[:, :3], axis=1, keepdims=True)
    u, box = 3 * random.normal(size=(3, NUM)), (np.full((3, NUM), -2.0), np.full((3, NUM), 2.0))

    def kept(rows: jax.Array) -> jax.Array:
        step = partial(least.within, box=tuple(map(single, box)), xp=jnp)
        return each_row(step, single(u), rows)

    expected = reduce(lambda u, row: least.within(u, row, box, np), rows, u)
    np.testing.assert_allclose(kept(single(rows)), expected, atol=1e-5)
    assert (over(rows[-1:], expected)[0] <= 1e-9).mean() > 0.5, "most end within the last"
    two, eight = (len(jax.make_jaxpr(kept)(single(rows[:m])).eqns) for m in (2, 8))
    assert two == eight


def test_in_the_plane_the_vertical_axis_is_by_itself(random: np.random.Generator):
    """What the projection in space finds, upwards at odds with downwards included."""
    normals, bounds = random.normal(size=(7, 3, 4000)), random.uniform(-0.3, 1.5, (7, 1, 4000))
    normals[:, 2] = 0.0
    normals /= np.sqrt((normals**2).sum(1, keepdims=True))
    zero, up = np.zeros((1, 1, 4000)), random.uniform(-0.2, 1, (2, 1, 1, 4000))
    lids = np.concatenate([zero, zero, zero + 1], 1), np.concatenate([zero, zero, zero - 1], 1)
    faces = [np.concatenate(pair, 1) for pair in zip(lids, up, strict=True)]
    rows = np.concatenate([np.concatenate([normals, bounds], 1), *faces])
    points = random.normal(size=(3, 4000))
    expected = projection.project_rows(rows, points)
    with jax.enable_x64(True):
        found = jax.jit(project, static_argnums=(2, 3))(rows, points, projection.TOLERANCE, True)
    np.testing.assert_array_equal(found.solved, expected.solved)
    np.testing.assert_array_equal(found.infeasible, expected.infeasible)
    np.testing.assert_allclose(found.u[:, expected.solved], expected.u[:, expected.solved], atol=1e-8)
    assert 0.1 < expected.solved.mean() < 0.9
