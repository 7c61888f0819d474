"""Training of the perception network: mirrored pictures, strips of twice the columns, one short run."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from robomarl.core.camera.strip import GroundStrip
from robomarl.core.config import UserError
from robomarl.domains.soccer.core.sight.layout import SightLayout
from robomarl.domains.soccer.lab.scenario import SoccerScenario
from robomarl.domains.soccer.lab.sight.fit import Batch, FitConfig, batches, export, fit, mirrored
from robomarl.domains.soccer.lab.sight.network import ACROSS, SightGraph, SightNetwork
from robomarl.lab.camera.network_strip import strip_of
from robomarl.lab.sim.scenario import load_scenario

FINE = GroundStrip(columns=192)


@pytest.fixture(scope="module")
def pair() -> tuple[Batch, Batch]:
    """The first two batches of a training."""
    source = batches(load_scenario("soccer_2v2", SoccerScenario), 64, 0, FINE)
    return next(source), next(source)


def test_each_picture_comes_as_drawn_and_mirrored(pair: tuple[Batch, Batch]):
    first, second = pair
    assert torch.equal(first[0].flip(2), second[0])
    for ours, theirs in zip(mirrored(first)[1].values(), second[1].values(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)
    assert torch.allclose(first[1]["pose"][:, 1], -second[1]["pose"][:, 1])


def test_the_ball_of_a_mirrored_picture_is_where_its_label_says(pair: tuple[Batch, Batch]):
    strips, truth = pair[1]
    row, column = 4 * truth["row"][:, 0], truth["column"][:, 0] * FINE.columns / ACROSS
    near = (truth["seen"][:, 0] == 1) & (row > 18) & (row < 30)  # within half a metre, and not cut off by the edge
    assert near.sum() >= 8
    orange = strips[..., 0].float() - strips[..., 2].float()
    for k in np.flatnonzero(near):
        beside = orange[k, int(row[k]) - 4 : int(row[k]) + 1, max(int(column[k]) - 4, 0) : int(column[k]) + 5]
        assert beside.max() > orange[k].median() + 10


def test_a_network_of_twice_the_columns_can_say_what_the_usual_one_says(tmp_path: Path):
    usual, fine = (SightNetwork(GroundStrip(columns=columns)).eval() for columns in (96, 192))
    state = {**usual.state_dict()}
    state["first.0.weight"] = state["first.0.weight"].repeat_interleave(2, 3) / 2
    fine.load_state_dict(state)
    strip = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (1, 32, 96, 3), np.uint8))
    twice = strip.repeat_interleave(2, 2)
    graphs = SightGraph(usual, GroundStrip(), SightLayout()), SightGraph(fine, FINE, SightLayout())
    torch.testing.assert_close(graphs[0](strip), graphs[1](twice), atol=1e-3, rtol=1e-3)
    file = export(fine, FINE, tmp_path / "perception.onnx")
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    said = np.asarray(session.run(None, {"strip": twice.numpy()})[0])
    assert said.shape == (1, SightLayout().size)
    assert strip_of(file.read_bytes()) == FINE


@pytest.mark.slow
def test_a_short_run_learns_and_goes_on(tmp_path: Path):
    call = [sys.executable, "-m", "robomarl.domains.soccer.lab.sight.fit", str(tmp_path), "--seconds", "120"]
    losses = []
    for _ in range(2):
        subprocess.run([*call, "--batch", "64"], check=True, capture_output=True, timeout=550)
        losses.append(float((tmp_path / "fit.csv").read_text().splitlines()[-1].split(",")[2]))
    assert losses[1] < losses[0]
    assert (tmp_path / "perception.onnx").stat().st_size < 400_000


@pytest.mark.parametrize("columns", [0, -96, 100])
def test_columns_that_no_network_can_have_are_refused(tmp_path: Path, columns: int):
    with pytest.raises(UserError, match=f"--columns = {columns} is no positive multiple of 96"):
        fit(FitConfig(tmp_path / "out", columns=columns))


def test_weights_of_other_layers_are_refused(tmp_path: Path):
    torch.save({"first.weight": torch.zeros(1)}, tmp_path / "network.pt")
    with pytest.raises(UserError, match=r"network\.pt: these weights .* name another OUT"):
        fit(FitConfig(tmp_path))
