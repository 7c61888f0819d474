"""What a run goes on from is in its folder, and from there in the bundle."""

import dataclasses
from pathlib import Path

import pytest

from robomarl.config import build, to_dict
from robomarl.policies.bundle import load_bundle
from robomarl.policies.export import export_bundle
from robomarl.policies.model_card import facts
from robomarl.policies.provenance import Ancestor, Training
from robomarl.sim.scenario import load_scenario
from robomarl.train.config import TrainConfig
from robomarl.train.run.ancestry import ancestors_of, read_ancestry
from robomarl.train.run.bundle_as_run import run_of
from robomarl.train.run.run_folder import create_run

BAG = "flight sha256 0123"


def test_a_run_folder_passes_on_where_it_comes_from(tmp_path: Path):
    shipped = load_bundle("swap_4")
    found = ancestors_of(("swap_4",), (BAG,))
    assert found == (Ancestor("swap_4", shipped.id, (BAG,)),)
    scenario = load_scenario("swap_4")
    create_run(tmp_path / "adapted", TrainConfig(), scenario, 0, found)
    assert read_ancestry(tmp_path / "adapted") == found
    assert ancestors_of((str(tmp_path / "adapted"),)) == found
    create_run(tmp_path / "new", TrainConfig(), scenario, 0)
    assert ancestors_of((str(tmp_path / "new"),), (BAG,)) == ()


def test_the_card_of_a_bundle_names_its_ancestors():
    contract = load_bundle("swap_4").contract
    training = dataclasses.replace(contract.training, ancestry=(Ancestor("swap_4", "ab" * 32, (BAG,)),))
    assert build(Training, to_dict(training), "bundle.json") == training
    rows = dict(facts(dataclasses.replace(contract, training=training)))
    assert rows["goes on from"] == f"swap_4 `abababababab`, adapted to {BAG}"
    assert "goes on from" not in dict(facts(contract))


@pytest.mark.slow
def test_the_bundle_has_it_sealed(tmp_path: Path):
    run = dataclasses.replace(run_of("swap_4"), ancestry=ancestors_of(("swap_4",), (BAG,)))
    made = export_bundle(run, tmp_path / "made", "made")
    assert [one.recordings for one in made.contract.training.ancestry] == [(BAG,)]
    assert [one.name for one in ancestors_of((str(tmp_path / "made"),))] == ["swap_4", "made"]
