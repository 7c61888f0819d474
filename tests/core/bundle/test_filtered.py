"""The graph with policy and safety filter: it does what both do, and it never says `ok` where it should not."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from robomarl.core.bundle.bundle import FILTERED_FILE, load_bundle
from robomarl.core.bundle.filtered import FilteredPolicy, check_filtered, leaves
from robomarl.core.bundle.runtime import read_golden
from robomarl.core.config import UserError
from robomarl.core.filter.filter import Reason, SafetyFilter
from robomarl.fleet.checks.isolated_check import verify_bundle
from robomarl.lab.export.filtered import Shapes, filtered_function
from robomarl.lab.export.graph import to_onnx
from tests.core.bundle.sealing import copy, reseal
from tests.core.filter.views import PARAMS, random_carry, random_views, replace_leaf

MATES, CASES = 3, 2000
COMMAND_TOLERANCE = 1e-4


def test_the_bundle_has_it_and_stays_small(sealed: Path):
    bundle = load_bundle(sealed)
    assert sum(map(len, bundle.files.values())) < 2_000_000
    assert all(deviation.ok for deviation in check_filtered(bundle, read_golden(bundle)))


def test_older_bundles_without_it_are_valid(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    (folder / FILTERED_FILE).unlink()
    reseal_without(folder)
    assert verify_bundle(folder, timed=False).ok
    with pytest.raises(UserError, match="export the run anew"):
        FilteredPolicy(load_bundle(folder))


def reseal_without(folder: Path) -> None:
    data = json.loads((folder / "bundle.json").read_text())
    data["files"].pop(FILTERED_FILE)
    (folder / "bundle.json").write_text(json.dumps(data))
    reseal(folder)


def test_verify_finds_a_graph_that_filters_differently(sealed: Path, tmp_path: Path):
    """The separation is one constant of the graph; nothing but this check would notice."""
    folder = copy(sealed, tmp_path)
    model = onnx.load_from_string((folder / FILTERED_FILE).read_bytes())
    separation = load_bundle(sealed).contract.safety.safety.separation_m
    changed = 0
    for tensor in model.graph.initializer:
        value = onnx.numpy_helper.to_array(tensor)
        if value.dtype == float and value.size == 1 and value.flat[0] == separation:
            tensor.CopyFrom(onnx.numpy_helper.from_array(value * 4, tensor.name))
            changed += 1
    assert changed
    (folder / FILTERED_FILE).write_bytes(model.SerializeToString())
    reseal(folder)
    verdict = verify_bundle(folder, timed=False)
    assert not verdict.ok
    assert "filtered command" in verdict.problems[0]


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def filter_alone() -> onnxruntime.InferenceSession:
    """The graph of a policy that does what the observation says."""
    graph = to_onnx(*filtered_function(lambda carry, obs: (carry, obs), Shapes(4, MATES), PARAMS))
    return onnxruntime.InferenceSession(graph)


def run(session: onnxruntime.InferenceSession, carry, view, nominal) -> dict[str, np.ndarray]:
    known = {"obs": nominal} | dict(leaves(view, "")) | dict(leaves(carry, "safety"))
    kinds = {"tensor(float)": np.float32, "tensor(bool)": bool, "tensor(int32)": np.int32}
    feed = {node.name: np.asarray(known[node.name], kinds[node.type]) for node in session.get_inputs()}
    found = [np.asarray(array) for array in session.run(None, feed)]
    return dict(zip([node.name for node in session.get_outputs()], found, strict=True))


def rounded(tree):
    """The numbers that single precision can hold, in double: both sides are to see the same problem."""
    if isinstance(tree, tuple):
        return type(tree)(*map(rounded, tree))
    return tree.astype(np.float32).astype(float) if tree.dtype == float else tree


def test_it_does_what_the_filter_does(filter_alone: onnxruntime.InferenceSession, random: np.random.Generator):
    view, carry = rounded(random_views(random, CASES, MATES)), rounded(random_carry(PARAMS, random, CASES))
    nominal = (random.normal(size=(CASES, 4)) * 3).astype(np.float32).astype(float)
    _, expected = SafetyFilter(PARAMS)(carry, view, nominal)
    found = run(filter_alone, carry, view, nominal)
    same = found["reason"] == expected.reason
    assert same.mean() > 0.995, "where rows are within rounding of each other, single precision gives up"
    assert not (found["ok"] & ~expected.solved & (expected.reason != Reason.INFEASIBLE)).any()
    both = found["ok"] & expected.solved
    assert (np.abs(found["command"] - expected.command)[both].max(-1) < COMMAND_TOLERANCE).mean() > 0.999
    assert {Reason.OK, Reason.INFEASIBLE} <= set(expected.reason)


@pytest.mark.parametrize(
    "name", ["obs", "own.pos_m", "own.age_s", "heard.mask", "heard.plan.stop_m", "safety.commands"]
)
def test_wrong_shapes_and_short_memories_are_refused(name: str):
    """The runtime stretches what is of one robot to all, and blank mates are filled in: nothing else is."""
    graph = FilteredPolicy(load_bundle("swap_4"))
    view, state = random_views(np.random.default_rng(1), 5, MATES), graph.init((5,))
    obs = np.zeros((5, graph.contract.observation.spec.size), np.float32)
    graph(state, obs, view)
    value = {"obs": obs, **state, **dict(leaves(view, ""))}[name]
    short = [value[:, :-1]] if name == "safety.commands" else []
    fewer = [value[..., :-1]] if name != "heard.mask" else []  # of mates there may be fewer
    for bad in (value[:1], value[..., None], *fewer, *short):
        where = replace_leaf(view, name, bad) if name.startswith(("own.", "heard.")) else view
        with pytest.raises(ValueError, match="has the shape"):
            graph(state | ({name: bad} if name in state else {}), bad if name == "obs" else obs, where)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
@pytest.mark.parametrize("leaf", ["own.pos_m", "own.vel_m_s", "own.age_s", "heard.pos_m", "heard.vel_m_s", "obs"])
def test_bad_input_is_never_ok(
    leaf: str, bad: float, filter_alone: onnxruntime.InferenceSession, random: np.random.Generator
):
    view, carry = random_views(random, 20, MATES, mask_share=1.0), random_carry(PARAMS, random, 20)
    nominal = random.normal(size=(20, 4))
    if leaf == "obs":
        nominal[:, 1] = bad
    else:
        value = dict(leaves(view, ""))[leaf].copy()
        value.reshape(20, -1)[:, 0] = bad
        view = replace_leaf(view, leaf, value)
    found = run(filter_alone, carry, view, nominal)
    assert not found["ok"].any()
    assert (found["reason"] == Reason.NON_FINITE).all()
    assert np.isfinite(found["command"]).all()
    low, high = np.array((PARAMS.limits.accel_min_m_s2, PARAMS.limits.accel_max_m_s2), np.float32)
    assert ((found["command"][:, :3] >= low) & (found["command"][:, :3] <= high)).all()
