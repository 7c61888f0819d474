"""Short versions of `robomarl bench filter`: exactness with a planted wrong row, faults on every backend."""

from functools import partial

import jax
import numpy as np
import pytest

from benchmarks.filter import daqp_projection, exactness, fault_backends, faults, finite
from benchmarks.filter.problems import KINDS, draw
from robomarl.core.filter import kernel
from robomarl.core.filter.model.motion import Vec3
from robomarl.core.filter.qp import projection
from robomarl.lab.jax_filter import filter as jax_filter
from robomarl.lab.jax_filter.static import project_static

BACKENDS = ["numpy", "c"] if kernel.usable() else ["numpy"]


def double_backends() -> list[exactness.Backend]:
    found = [exactness.Backend("numpy", projection.project_batch, "double")]
    if kernel.usable():
        from robomarl.core.filter.kernel.projection import project_batch

        found.append(exactness.Backend("C", project_batch, "double"))
    return found


def test_all_agree_with_daqp_on_every_family():
    for tally in exactness.campaign(6400, double_backends()):
        assert tally.problems >= 6400
        assert (tally.other_status, tally.off) == (0, 0), tally.backend.name
        assert tally.furthest <= 1e-9
        assert tally.undecided < tally.problems * 1e-3


@pytest.mark.slow
def test_jax_agrees_as_well():
    """In single precision a few degenerate problems have another status: `docs/log/benchmarks_history.md`."""
    loop, static, graph = exactness._jax_backends()
    backends = [
        exactness.Backend("f64", partial(loop, dtype=np.float64), "double"),
        exactness.Backend("graph's", partial(static, dtype=np.float64), "double"),
        exactness.Backend("ONNX", graph, "double"),
        exactness.Backend("f32", partial(loop, dtype=np.float32), "single"),
    ]
    double, in_jax, in_onnx, single = exactness.campaign(6400, backends)
    assert double.other_status + double.off <= 1
    assert (in_jax.other_status, in_jax.off, in_onnx.other_status, in_onnx.off) == (0, 0, 0, 0)
    assert single.other_status + single.off <= single.problems * 1e-3


def test_a_point_far_away_is_in_no_rounding(random: np.random.Generator):
    """A policy may ask for 1e5 m/s^2; what is near is found to 1e-9 all the same, by graphs too."""
    problems = draw("random", random, 500, 8)
    box, sides = np.concatenate([np.eye(3), -np.eye(3)]), np.full(6, 3.0)
    rows = np.concatenate([problems.rows, np.broadcast_to(box, (500, 6, 3))], 1)
    bounds, points = np.concatenate([problems.bounds, np.broadcast_to(sides, (500, 6))], 1), problems.points * 1e5
    right = projection.project_batch(rows, bounds, points)
    with jax.enable_x64(True):
        table = np.moveaxis(np.concatenate([rows, bounds[..., None]], -1), 0, -1)
        found = project_static(jax.numpy.asarray(table), jax.numpy.asarray(points.T))
    assert np.asarray(found.solved)[right.solved].all()
    np.testing.assert_allclose(np.asarray(found.u).T[right.solved], right.u[right.solved], atol=1e-9, rtol=0)
    assert 100 < right.solved.sum() < 500


@pytest.mark.parametrize("spoilt", [False, True])
def test_results_and_gradients_in_single_precision_are_numbers(spoilt: bool, monkeypatch: pytest.MonkeyPatch):
    """A root at 0 in the projection, whose gradient is none, is found."""
    whole = jax_filter.project
    if spoilt:
        monkeypatch.setattr(
            jax_filter, "project", lambda *given: (f := whole(*given))._replace(u=f.u + jax.numpy.sqrt(f.u * 0.0))
        )
    monkeypatch.setattr(finite, "CHUNK", 300)
    monkeypatch.setattr(finite, "ROWS", (5,))
    done, solved, *bad = finite.campaign(1)
    assert done.value == 300 * len(KINDS) * len(finite.ROWS)
    assert solved.value > 0.8
    assert (sum(row.value for row in bad) > 0) == spoilt


def test_a_planted_wrong_row_is_found():
    """One row of one problem in a chunk is turned around."""

    def planted(rows: np.ndarray, bounds: np.ndarray, points: np.ndarray) -> projection.Projection:
        rows = rows.copy()
        rows[0, 0] = -rows[0, 0]
        return projection.project_batch(rows, bounds, points)

    (tally,) = exactness.campaign(6400, [exactness.Backend("planted", planted, "double")])
    assert tally.other_status + tally.off > 10


def test_a_wrong_bound_of_a_billionth_is_not_hidden():
    def loose(rows: np.ndarray, bounds: np.ndarray, points: np.ndarray) -> projection.Projection:
        return projection.project_batch(rows, bounds + 3e-9, points)

    (tally,) = exactness.campaign(3200, [exactness.Backend("loose", loose, "double")])
    assert tally.off > 100


@pytest.mark.parametrize("kind", KINDS)
def test_families_are_what_they_say(kind: str, random: np.random.Generator):
    problems = draw(kind, random, 200, 10)
    np.testing.assert_allclose(np.linalg.norm(problems.rows, axis=-1), 1.0)
    found = projection.project_batch(*problems)
    if kind == "coplanar":
        assert not problems.rows[..., 2].any()
    if kind in ("random", "crowd", "axes", "touching"):
        assert found.infeasible.any()
    assert found.solved.any()


@pytest.mark.parametrize("names", [("numpy", "C"), pytest.param(("JAX", "ONNX"), marks=pytest.mark.slow)])
def test_every_fault_has_its_named_fallback_on_every_backend(names: tuple[str, ...]):
    """Those of the solver included: data without a solution, and solvers that stop after their first row."""
    names = tuple(name for name in names if name in fault_backends.names())
    found = faults.campaign(300 * len(faults.FAULTS), list(names))
    limited = sum(name in faults.LIMITED for name in names)
    assert len(found) == (len(faults.FAULTS) - 1) * len(names) + limited
    assert not [row for row in found if row.value or row.metric != "not answered, of 300"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_without_a_fault_the_campaign_would_fail(backend: str, random: np.random.Generator):
    """The same robots, whole: none of them falls back to STALE, so the campaign sees the fault and not the robot."""
    case = faults.draw("stale", random, 500)
    case.arrays["age"][:], case.arrays["mate_age"][:] = 0.0, 0.02
    safety = faults.make_filter(backend)
    assert not faults.answered(safety, case).any()


@pytest.mark.parametrize("answer", ["unsolved", "wrong"])
def test_the_reference_does_not_trust_its_solver(
    answer: str, monkeypatch: pytest.MonkeyPatch, random: np.random.Generator
):
    """daqp gives up, or says a point that breaks a row: both are found by the check of its result."""

    def broken(*args, **kwargs):
        return np.array([9.0, 9.0, 9.0]), 0.0, 1 if answer == "wrong" else -4, {}

    monkeypatch.setattr(daqp_projection.daqp, "solve", broken)
    normals: list[Vec3] = [(1.0, 0.0, 0.0), (0.8, 0.6, 0.0)]
    bounds = [-1.0, -1.0]
    found = daqp_projection.project_one(normals, bounds, [0.0, 0.0, 0.0], ((-5.0,) * 3, (5.0,) * 3))
    assert not found.solved
    assert not found.infeasible
