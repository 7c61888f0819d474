"""One set of vectors for all backends: projections worked out by hand, and decisions of the Python filter."""

import json

import jax
import numpy as np
import onnxruntime
import pytest

from benchmarks.filter import daqp_projection
from robomarl.core.filter import kernel
from robomarl.core.filter.filter import Reason, SafetyFilter
from robomarl.core.filter.qp import projection
from robomarl.lab.export.filtered import Shapes, filtered_function
from robomarl.lab.export.graph import to_onnx
from robomarl.lab.jax_filter import filter as jax_filter
from robomarl.lab.jax_filter import static as jax_static
from robomarl.lab.jax_filter.filter import make_jax_filter
from tests.core.bundle.test_filtered import run
from tests.core.filter.make_vectors import FILE, MATES, NUM, inputs
from tests.core.filter.views import PARAMS, leaves, pick

HAND = json.loads((FILE.parent / "projections.json").read_text())["cases"]
KNOWN = np.load(FILE)


def columns(case: dict, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    return np.array(case["rows"], dtype)[..., None], np.array(case["point"], dtype)[:, None]


def solve(backend: str, case: dict) -> projection.Projection:
    rows, point = np.array(case["rows"], float), np.array(case["point"], float)
    if backend == "daqp":
        return daqp_projection.project(rows[:, :3], rows[:, 3], point)
    if backend == "numpy":
        return pick(projection.project_batch(rows[None, :, :3], rows[None, :, 3], point[None]), 0)
    if backend == "c":
        from robomarl.core.filter.kernel.projection import project_batch

        return pick(project_batch(rows[None, :, :3], rows[None, :, 3], point[None]), 0)
    with jax.enable_x64(backend != "jax f32"):
        dtype = np.float32 if backend == "jax f32" else np.float64
        project = jax_static.project_static if backend == "graph" else jax_filter.project
        tolerance = jax_filter.TOLERANCE if dtype == np.float32 else 1e-10
        table, at = columns(case, dtype)
        found = jax.tree.map(np.asarray, project(jax.numpy.asarray(table), jax.numpy.asarray(at), tolerance))
    return projection.Projection(*(part[..., 0] for part in found))


@pytest.mark.parametrize("backend", ["daqp", "numpy", "c", "jax f64", "jax f32", "graph"])
@pytest.mark.parametrize("case", HAND, ids=[case["why"] for case in HAND])
def test_projections_that_a_person_can_check(case: dict, backend: str):
    if backend == "c" and not kernel.usable():
        pytest.skip("the C kernel is not built here")
    found = solve(backend, case)
    assert bool(found.solved) == (case["status"] == 0)
    assert bool(found.infeasible) == (case["status"] == 1)
    if found.solved:
        close = 1e-4 if backend == "jax f32" else 1e-9
        np.testing.assert_allclose(found.u, case["u"], atol=close)


def test_the_file_holds_what_the_generator_draws():
    carry, views, nominal = inputs()
    for name, leaf in [*leaves(views, "view"), *leaves(carry, "carry"), ("nominal", nominal)]:
        np.testing.assert_array_equal(KNOWN[name], leaf)
    assert {Reason.OK, Reason.STALE, Reason.NON_FINITE} <= set(KNOWN["reason"].tolist())


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("how", ["one", "batch"])
def test_double_precision_decides_as_the_file_says(how: str, backend: str):
    if backend == "c" and not kernel.usable():
        pytest.skip("the C kernel is not built here")
    carry, views, nominal = inputs()
    safety = SafetyFilter(PARAMS, backend=backend)  # type: ignore[arg-type]
    if how == "batch":
        result = safety(carry, views, nominal)[1]
    else:
        done = [safety(pick(carry, i), pick(views, i), nominal[i])[1] for i in range(NUM)]
        result = type(done[0])(*(np.array(part) for part in zip(*done, strict=True)))
    np.testing.assert_array_equal(result.reason, KNOWN["reason"])
    for name, value in (("command", result.command), ("slack", result.slack), ("gap_m", result.margin_m)):
        np.testing.assert_allclose(value, KNOWN[name], atol=1e-9, rtol=0)


@pytest.mark.parametrize("backend", ["jax", "onnx"])
def test_single_precision_decides_as_the_file_says(backend: str):
    carry, views, nominal = inputs()
    if backend == "onnx":
        graph = to_onnx(*filtered_function(lambda c, obs: (c, obs), Shapes(4, MATES), PARAMS))
        session = onnxruntime.InferenceSession(graph)
        found = run(session, carry, views, nominal)
        command, reason = found["command"], found["reason"]
    else:
        single = jax.tree.map(lambda x: x.astype(np.float32) if x.dtype == float else x, (carry, views, nominal))
        result = jax.jit(make_jax_filter(PARAMS))(*single)[1]
        command, reason = np.asarray(result.command), np.asarray(result.reason)
    np.testing.assert_array_equal(reason, KNOWN["reason"])
    # The last robot has no estimate: there, `SafetyFilter` alone flies blind.
    np.testing.assert_allclose(command[:-1], KNOWN["command"][:-1], atol=1e-4)
    assert np.isfinite(command).all()
