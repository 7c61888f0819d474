"""What a run goes on from is in its folder, and from there in the bundle."""

import dataclasses
import json
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import check_schema, load_bundle
from robomarl.core.bundle.provenance import Ancestor, Training, UsedResidual
from robomarl.core.config import build, to_dict
from robomarl.lab.export import export_bundle
from robomarl.lab.export.model_card import facts
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.ancestry import ancestors_of, read_ancestry
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.run_folder import create_run

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


def test_a_residual_is_told_with_its_held_out_figures(tmp_path: Path):
    """In the run folder, in the contract and on the card; without one these are as they were."""
    used = UsedResidual("cd" * 32, 0.0236, 0.0188, 120)
    (found,) = ancestors_of(("swap_4",), (BAG,), used)
    assert found.residual == used
    create_run(tmp_path / "adapted", TrainConfig(), load_scenario("swap_4"), 0, (found,))
    assert read_ancestry(tmp_path / "adapted") == (found,)
    assert "residual" not in to_dict(ancestors_of(("swap_4",), (BAG,))[0])
    contract = load_bundle("swap_4").contract
    training = dataclasses.replace(contract.training, ancestry=(found,))
    bundle = json.loads(load_bundle("swap_4").files["bundle.json"])
    bundle["training"]["ancestry"] = [to_dict(found)]
    check_schema(bundle, "bundle.json")
    told = dict(facts(dataclasses.replace(contract, training=training)))["goes on from"]
    assert told.endswith("trained with a residual (held-out positions are off by 18.8 mm instead of 23.6 mm)")


@pytest.mark.slow
def test_the_bundle_has_it_sealed(tmp_path: Path):
    run = dataclasses.replace(run_of("swap_4"), ancestry=ancestors_of(("swap_4",), (BAG,)))
    made = export_bundle(run, tmp_path / "made", "made")
    assert [one.recordings for one in made.contract.training.ancestry] == [(BAG,)]
    assert [one.name for one in ancestors_of((str(tmp_path / "made"),))] == ["swap_4", "made"]
