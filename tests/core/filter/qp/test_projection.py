"""The projections against brute force and against each other."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.filter.daqp_projection import project, project_one
from benchmarks.filter.exactness import backends
from benchmarks.filter.problems import KINDS, draw
from robomarl.core.filter.qp import projection


def brute_force(rows: np.ndarray, bounds: np.ndarray, u0: np.ndarray) -> np.ndarray | None:
    """The nearest feasible point among the projections onto all sets of up to three rows."""
    best = None
    for size in range(4):
        for active in itertools.combinations(range(len(bounds)), size):
            a, b = rows[list(active)], bounds[list(active)]
            u = u0 if not size else u0 - np.linalg.pinv(a) @ (a @ u0 - b)
            if (rows @ u <= bounds + 1e-9).all() and (best is None or np.sum((u - u0) ** 2) < np.sum((best - u0) ** 2)):
                best = u
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_both_find_what_brute_force_finds(kind: str, random: np.random.Generator):
    rows, bounds, points = draw(kind, random, 30, 7)
    together = projection.project_batch(rows, bounds, points)
    for i in range(len(rows)):
        true, one = brute_force(rows[i], bounds[i], points[i]), project(rows[i], bounds[i], points[i])
        assert bool(one.solved) == bool(together.solved[i]) == (true is not None)
        assert bool(one.infeasible) == bool(together.infeasible[i]) == (true is None)
        expected = points[i] if true is None else true
        np.testing.assert_allclose(one.u, expected, atol=1e-8)
        np.testing.assert_allclose(together.u[i], expected, atol=1e-8)


@pytest.mark.parametrize("m", [1, 4, 12, 24])
@pytest.mark.parametrize("kind", KINDS)
def test_both_agree_to_1e_9(kind: str, m: int, random: np.random.Generator):
    rows, bounds, points = draw(kind, random, 400, m)
    together = projection.project_batch(rows, bounds, points)
    alone = [project(a, b, u) for a, b, u in zip(rows, bounds, points, strict=True)]
    np.testing.assert_array_equal(together.solved, [one.solved for one in alone])
    np.testing.assert_array_equal(together.infeasible, [one.infeasible for one in alone])
    np.testing.assert_allclose(together.u, [one.u for one in alone], atol=1e-9, rtol=0)
    assert (together.residual[together.solved] <= projection.TOLERANCE).all()


@given(
    arrays(float, (6, 3), elements=st.integers(-3, 3)),
    arrays(float, 6, elements=st.integers(-4, 4)),
    arrays(float, 3, elements=st.integers(-5, 5)),
)
def test_integer_problems_with_all_their_ties(rows, bounds, point):
    size = np.linalg.norm(rows, axis=-1)
    rows, bounds = rows[size > 0] / size[size > 0, None], bounds[size > 0] / 2
    one, many = project(rows, bounds, point), projection.project_batch(rows[None], bounds[None], point[None])
    assert one.solved == many.solved[0]
    np.testing.assert_allclose(many.u[0], one.u, atol=1e-9)
    if one.solved:
        assert (rows @ one.u <= bounds + 1e-9).all()


def test_a_point_that_holds_all_rows_stays(random: np.random.Generator):
    rows, bounds, points = draw("random", random, 100, 8)
    bounds = np.abs(bounds) + (rows * points[:, None]).sum(-1)
    np.testing.assert_array_equal(projection.project_batch(rows, bounds, points).u, points)
    assert project(rows[0], bounds[0], points[0]).u.tolist() == points[0].tolist()


def test_no_rows_is_solved():
    found = project(np.zeros((0, 3)), np.zeros(0), np.array([1.0, 2.0, 3.0]))
    assert found.solved
    assert found.u.tolist() == [1, 2, 3]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(3))
def test_what_is_not_finite_is_not_solved(bad: float, place: int, random: np.random.Generator):
    given = draw("random", random, 3, 6)
    given[place][1].flat[0] = bad
    found = projection.project_batch(*given)
    assert not found.solved[1]
    assert found.solved[[0, 2]].all()
    one = project(*(part[1] for part in given))
    assert not one.solved
    assert not one.infeasible


def test_a_box_that_is_turned_inside_out_is_infeasible():
    found = project_one([], [], [0.0, 0.0, 0.0], ([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]))
    assert found.infeasible
    assert not found.solved


def nearly_parallel(random: np.random.Generator, num: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Problems with three rows down to 3e-10 rad apart, and a point that holds all."""
    rows = random.normal(size=(num, 6, 3))
    rows[:, 1:3] = rows[:, :1] + 10 ** random.uniform(-9.5, -3, (num, 1, 1)) * rows[:, 1:3]
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    inside = random.normal(size=(num, 3)) * 3
    bounds = (rows * inside[:, None]).sum(-1) + random.choice([0, 1e-10, 1e-3, 0.1, 1.0], (num, 6))
    return rows, bounds, inside + random.normal(size=(num, 3)) * random.choice([1, 10, 1e3], (num, 1))


@pytest.mark.parametrize("name", ["numpy", "C", "JAX, f64", "the graph's in JAX, f64", "ONNX, f64"])
def test_rows_that_are_nearly_parallel_are_held(name: str, random: np.random.Generator):
    """The cosine of rows 1e-8 rad apart is 1 to the last digit: a line made with it was on neither plane."""
    solve = {backend.name: backend.solve for backend in backends()}.get(name)
    if solve is None:
        pytest.skip("the C kernel is not built here")
    found = solve(*nearly_parallel(random, 5000))
    assert np.asarray(found.solved).all()
    assert not np.asarray(found.infeasible).any()
    assert np.asarray(found.residual).max() <= projection.TOLERANCE
