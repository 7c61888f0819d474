"""The C kernel: whether it is the right one, and its projection against daqp, numpy and brute force."""

import shutil

import numpy as np
import pytest

from benchmarks.filter.daqp_projection import project
from benchmarks.filter.problems import KINDS, draw
from robomarl.config import UserError
from robomarl.safety import kernel
from robomarl.safety.kernel.projection import project_batch
from robomarl.safety.qp import projection
from tests.safety.qp.test_projection import brute_force

needs_kernel = pytest.mark.skipif(not kernel.usable(), reason="the C kernel is not built here")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_the_kernel_is_there_where_a_compiler_is():
    kernel.load()


@pytest.fixture
def fresh_search():
    kernel._find.cache_clear()
    yield
    kernel._find.cache_clear()


@needs_kernel
def test_a_kernel_from_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch, fresh_search: None):
    monkeypatch.setattr(kernel, "source_hash", lambda folder: "of other sources")
    assert not kernel.usable()
    with pytest.raises(UserError, match="built from other sources"):
        kernel.load()


def test_without_a_kernel_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, fresh_search: None):
    monkeypatch.setattr(kernel, "MODULE", "robomarl.safety.kernel._nothing")
    with pytest.raises(UserError, match="install robomarl anew where a compiler is"):
        kernel.load()


@needs_kernel
@pytest.mark.parametrize("kind", KINDS)
def test_it_finds_what_brute_force_finds(kind: str, random: np.random.Generator):
    rows, bounds, points = draw(kind, random, 50, 7)
    found = project_batch(rows, bounds, points)
    for i in range(len(rows)):
        true = brute_force(rows[i], bounds[i], points[i])
        assert bool(found.solved[i]) == (true is not None) != bool(found.infeasible[i])
        np.testing.assert_allclose(found.u[i], points[i] if true is None else true, atol=1e-8)


@needs_kernel
@pytest.mark.parametrize("m", [1, 4, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_it_agrees_with_daqp_to_1e_9(kind: str, m: int, random: np.random.Generator):
    rows, bounds, points = draw(kind, random, 400, m)
    found = project_batch(rows, bounds, points)
    alone = [project(a, b, u) for a, b, u in zip(rows, bounds, points, strict=True)]
    np.testing.assert_array_equal(found.solved, [one.solved for one in alone])
    np.testing.assert_array_equal(found.infeasible, [one.infeasible for one in alone])
    np.testing.assert_allclose(found.u, [one.u for one in alone], atol=1e-9, rtol=0)
    assert (found.residual[found.solved] <= projection.TOLERANCE).all()


@needs_kernel
def test_a_vehicle_in_the_plane_is_a_problem_with_two_more_rows(random: np.random.Generator):
    """z is held by 0 <= z <= 0; the rest is a projection in the plane."""
    rows, bounds, points = draw("coplanar", random, 200, 6)
    flat = np.broadcast_to([[0.0, 0, 1], [0, 0, -1]], (200, 2, 3))
    held = project_batch(np.concatenate([rows, flat], 1), np.concatenate([bounds, np.zeros((200, 2))], 1), points)
    plane = project_batch(rows, bounds, points * [1, 1, 0])
    np.testing.assert_array_equal(held.solved, plane.solved)
    np.testing.assert_allclose(held.u[held.solved], plane.u[held.solved], atol=1e-9)


@needs_kernel
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(3))
def test_what_is_not_finite_is_not_solved(bad: float, place: int, random: np.random.Generator):
    given = draw("random", random, 3, 6)
    given[place][1].flat[0] = bad
    found = project_batch(*given)
    assert found.solved.tolist() == [True, False, True]
    assert not found.infeasible.any()


@needs_kernel
def test_no_rows_is_solved():
    found = project_batch(np.zeros((0, 3)), np.zeros(0), np.array([1.0, 2.0, 3.0]))
    assert found.solved
    assert found.u.tolist() == [1, 2, 3]
