"""The C kernel: whether it is the right one, and its projection against daqp, numpy and brute force."""

import shutil
import sys
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.filter import uglies
from benchmarks.filter.daqp_projection import project
from benchmarks.filter.problems import KINDS, draw
from robomarl.core.config import UserError
from robomarl.core.filter import kernel
from robomarl.core.filter.filter import SafetyFilter
from robomarl.core.filter.kernel.projection import project_batch
from robomarl.core.filter.qp import projection
from robomarl.core.tree import each
from tests.core.filter.qp.test_projection import brute_force
from tests.core.filter.views import PARAMS, leaves, pick, random_views, replace_leaf

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
    monkeypatch.setattr(kernel, "MODULE", "robomarl.core.filter.kernel._nothing")
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


@needs_kernel
def test_what_one_robot_reads_may_be_of_any_type_and_lie_anywhere(random: np.random.Generator):
    """C takes doubles one behind the other; numbers of Python, single precision, lists and gaps are brought there."""
    view, nominal = pick(random_views(random, 1), 0), np.round(random.normal(size=4) * 3)
    for name, leaf in leaves(view):
        if leaf.dtype == float:
            view = replace_leaf(view, name, leaf.astype(np.float32).astype(float))
    safety = SafetyFilter(PARAMS, backend="c")
    carry = safety.init()
    right = safety(carry, view, nominal)
    changes = {
        "single": lambda leaf: leaf.astype(np.float32) if leaf.dtype == float else leaf,
        "list": lambda leaf: leaf.tolist(),
        "gaps": lambda leaf: np.repeat(leaf, 2, -1)[..., ::2] if leaf.ndim else leaf,
        "columns first": lambda leaf: np.asfortranarray(leaf) if leaf.ndim > 1 else leaf,
        "other end first": lambda leaf: leaf.astype(">f8") if leaf.dtype == float else leaf,
    }
    for change in changes.values():
        other = view
        for name, leaf in leaves(view):
            if name.startswith(("own", "heard")):
                other = replace_leaf(other, name, change(leaf))
        for wanted in (nominal, nominal.astype(np.float32), nominal.astype(int)):
            found = safety(carry, other, wanted)
            for (name, a), (_, b) in zip(leaves(found[0]), leaves(right[0]), strict=True):
                np.testing.assert_array_equal(a, b, name)
            np.testing.assert_array_equal(found[1].command, right[1].command)


@needs_kernel
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", uglies.vehicles())
def test_arrays_as_they_lie_in_flight_take_one_call_of_c(name: str, random: np.random.Generator):
    """With the same result in every bit as copying them first, whatever is in them; in single precision too."""
    params = uglies.vehicles()[name]
    safety = SafetyFilter(params, backend="c")
    case = uglies.draw(params, random, 60)
    for i in range(60):
        one = uglies.one_of(case, i)
        for wanted in (one.nominal, one.nominal.astype(np.float32)):
            given = one._replace(nominal=wanted)
            quick, slow = safety._kernel.plain(*given), safety._kernel.one(*given)  # type: ignore[union-attr]
            assert quick is not None
            for (leaf, a), (_, b) in zip(leaves(quick), leaves(slow), strict=True):
                np.testing.assert_array_equal(a, b, leaf)


@needs_kernel
def test_what_lies_otherwise_is_left_alone_and_nothing_is_held(random: np.random.Generator):
    """C reads named tuples by their places and arrays by their memory: of whatever is not as it must be, nothing."""
    view, nominal = pick(random_views(random, 1), 0), random.normal(size=4)
    safety = SafetyFilter(PARAMS, backend="c")
    carry, plain = safety.init(), safety._kernel.plain  # type: ignore[union-attr]
    turned = NamedTuple("Own", [(name, np.ndarray) for name in reversed(view.own._fields)])(*reversed(view.own))  # type: ignore[misc]
    wrong = [
        (carry, view._replace(own=turned), nominal),
        (tuple(carry), view, nominal),
        (carry, tuple.__new__(type(view), (view.own,)), nominal),
        (carry._replace(ok=np.zeros(2, int)), view, nominal),
        (carry._replace(commands=carry.commands[1:]), view, nominal),
        (carry, view._replace(heard=view.heard._replace(mask=view.heard.mask.astype(float))), nominal),
        (carry, view._replace(heard=view.heard._replace(mask=view.heard.mask[:-1])), nominal),
        (carry, view._replace(sensed=case_of_strangers(random)), nominal),
        (carry, view, nominal.astype(int)),
        (carry, view, np.repeat(nominal, 2)[::2]),
        (carry, view, nominal[:3]),
        (carry, view, nominal, "1"),
        (carry, view, nominal, np.zeros(1)),
        (None, None, None),
    ]
    watched = [*(leaf for _, leaf in leaves(view)), nominal, type(view), type(view.own), None]
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(100):
        assert plain(carry, view, nominal) is not None
        assert [plain(*given) for given in wrong] == [None] * len(wrong)
    held = [sys.getrefcount(thing) - count for thing, count in zip(watched, before, strict=True)]
    assert max(held) < 20 and min(held) > -20, held


def case_of_strangers(random: np.random.Generator) -> uglies.Seen:
    """What a player senses."""
    params = uglies.vehicles()["quadrotor that evades"]
    return uglies.one_of(uglies.draw(params, random, 1).view.sensed, 0)


@needs_kernel
def test_a_memory_in_one_piece_is_the_memory(random: np.random.Generator):
    """It comes back as views of one array; a copy of it, and a batch, decide the same in every bit."""
    safety, views = SafetyFilter(PARAMS, backend="c"), random_views(random, 20)
    carry = safety.init()
    for i in range(20):
        view, nominal = pick(views, i), random.normal(size=4) * 3
        copied = each(carry, np.array)
        after, result = safety(carry, view, nominal)
        other, _ = safety(copied, view, nominal)
        alone = each(copied, lambda leaf: leaf[None]), each(view, lambda leaf: np.asarray(leaf)[None])
        many, _ = safety(*alone, nominal[None])
        for (name, a), (_, b), (_, c) in zip(leaves(after), leaves(other), leaves(many), strict=True):
            np.testing.assert_array_equal(a, b, name)
            np.testing.assert_array_equal(a, c[0], name)
        carry, _ = safety(carry, view, nominal)
        np.testing.assert_array_equal(result.command, carry.commands[-1])


@needs_kernel
@pytest.mark.parametrize("far", [1e3, 1e5, 999_000.0])
def test_a_point_far_away_is_projected_onto_one_plane_to_the_last_digit(far: float):
    """What rounding leaves of one step is more than a row may be broken by, and was taken for no answer at all."""
    rows, points = np.array([[[0.6, 0.0, 0.8], [0.0, 0.0, -1.0]]]), far * np.array([[0.6, 0.0, 0.8]])
    found = project_batch(rows, np.array([[2.9, 5.0]]), points)
    assert found.solved.all()
    assert found.residual[0] < 1e-14
    np.testing.assert_allclose(found.u, [[0.6 * 2.9, 0.0, 0.8 * 2.9]], atol=1e-9)
