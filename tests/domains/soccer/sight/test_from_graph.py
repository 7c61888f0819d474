"""A perception network that goes on from its ONNX file says what the file says, and learns as one that was trained."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from robomarl.core.bundle.bundle import PERCEPTION_FILE, load_bundle
from robomarl.core.camera.strip import GroundStrip
from robomarl.core.config import UserError
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.lab.sight.from_graph import read_graph
from robomarl.domains.soccer.lab.sight.network import SightGraph, SightNetwork

FINE = GroundStrip(columns=192)


def _strips(num: int) -> torch.Tensor:
    random = np.random.default_rng(0)
    coarse = random.integers(20, 230, (num, 8, 24, 3), np.uint8)
    return torch.from_numpy(coarse.repeat(4, 1).repeat(8, 2))


def test_it_says_what_its_file_says_and_its_norms_know_their_inputs(tmp_path: Path):
    content, strips = load_bundle("soccer_2v2_eyes").files[PERCEPTION_FILE], _strips(64)
    (tmp_path / "perception.onnx").write_bytes(content)
    network = SightNetwork(FINE)
    read_graph(tmp_path / "perception.onnx", network, strips)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    graph = SightGraph(network, FINE, SightLayout()).eval()
    for k in range(3):
        wanted = np.asarray(session.run(None, {"strip": strips[k : k + 1].numpy()})[0])
        np.testing.assert_allclose(graph(strips[k : k + 1]).detach().numpy(), wanted, atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        alone = network.eval()(strips)[0]
        together = network.train()(strips)[0]  # by the pictures' own spread, as in training
    assert float((alone - together).abs().median()) < 0.05 * float(alone.abs().median())


def test_another_file_is_refused_by_its_name(tmp_path: Path):
    for content in (load_bundle("soccer_2v2").files["policy.onnx"], b"no graph at all"):
        (tmp_path / "x.onnx").write_bytes(content)
        with pytest.raises(UserError, match=r"x\.onnx"):
            read_graph(tmp_path / "x.onnx", SightNetwork(FINE), _strips(2))
