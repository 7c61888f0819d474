"""`weights.npz` holds no array that the graph has, and reads as if it did."""

import io
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.paths import bundles_dir
from robomarl.lab.train.initial.weights_file import from_npz, to_npz, without_critics
from robomarl.lab.train.run.run_folder import sealed_weights
from tests.core.bundle.sealing import reseal

LARGE, SMALL = np.arange(2048, dtype=np.float32).reshape(64, 32), np.arange(9, dtype=np.float32)


def graph_of(**arrays: np.ndarray) -> bytes:
    """A graph that has these, and does nothing."""
    there = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    return helper.make_model(helper.make_graph([], "policy", [], [], there)).SerializeToString()


def test_an_array_of_the_graph_is_stored_once_and_read_bit_by_bit():
    graph = graph_of(kernel=LARGE, other=LARGE + 1, bias=SMALL)
    weights = {"a": LARGE, "b": LARGE.T, "c": LARGE.astype(np.float64), "d": SMALL, "e": LARGE + 2, "f": np.float32(3)}
    content = to_npz(weights, graph)
    with np.load(io.BytesIO(content), allow_pickle=False) as data:
        assert {name: str(data[name]) for name in data.files if data[name].dtype.kind == "U"} == {"a": "kernel"}
    found = from_npz(content, graph)
    assert found.keys() == weights.keys()
    for name, array in weights.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_files_of_before_read_as_they_did():
    """A file of before held every array itself, those of the graph too."""
    before, file = {"a": LARGE, "d": SMALL}, io.BytesIO()
    np.savez(file, **before)
    found = from_npz(file.getvalue(), graph_of(kernel=LARGE))
    assert found.keys() == before.keys() and all(np.array_equal(found[name], before[name]) for name in before)


def test_a_bundle_of_today_gives_every_array_of_its_network():
    bundle = load_bundle(bundles_dir() / "swap_4")
    with np.load(io.BytesIO(bundle.files["weights.npz"]), allow_pickle=False) as data:
        stored = {name: data[name] for name in data.files}
    names = {
        item.name: numpy_helper.to_array(item)
        for item in onnx.load_from_string(bundle.files["policy.onnx"]).graph.initializer
    }
    found = sealed_weights(bundle, "swap_4")
    assert found.keys() == stored.keys() and any(array.dtype.kind == "U" for array in stored.values())
    for name, array in stored.items():
        kept = names[str(array)] if array.dtype.kind == "U" else array
        assert sorted(found[name].ravel()) == sorted(kept.ravel()), name


def test_what_several_actors_are_is_no_critic():
    names = [
        "['params']['actor']['x']",
        "['params']['critic']['x']",
        "soccer_3v3/['params']['critic']['x']",
        "['critic_stats'].mean",
    ]
    assert list(without_critics(dict.fromkeys(names, SMALL))) == [names[0], names[3]]


def test_a_graph_without_the_array_is_a_sentence(tmp_path: Path):
    folder = tmp_path / "swap_4"
    shutil.copytree(bundles_dir() / "swap_4", folder)
    (folder / "eval.json").unlink(missing_ok=True)
    np.savez(folder / "weights.npz", x=np.asarray("nowhere"))
    reseal(folder)
    assert not any(item.name == "nowhere" for item in onnx.load(folder / "policy.onnx").graph.initializer)
    with pytest.raises(UserError, match=r"^--init it: weights.npz names 'nowhere', which policy.onnx does not have"):
        sealed_weights(load_bundle(folder), "it")
