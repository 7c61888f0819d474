"""A run folder that was moved and a bundle that was copied have the scenario that they were trained in, whole."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.config.parsed import table_in
from robomarl.core.paths import vehicles_dir
from robomarl.domains.flight.field.identify.learned import first_weights
from robomarl.domains.flight.lab.residual import load_residual, save_residual
from robomarl.domains.flight.lab.scenario import FlightScenario
from robomarl.lab.evaluate.resolve import own_scenario, resolve_policy
from robomarl.lab.evaluate.sealed_scenario import cached, opened_from_bundle, opened_from_folder, sealed
from robomarl.lab.export import export_bundle
from robomarl.lab.export.facts import source_of
from robomarl.lab.sim.scenario import load_scenario
from robomarl.lab.train.config import TrainConfig
from robomarl.lab.train.run.bundle_as_run import run_of
from robomarl.lab.train.run.run_folder import create_run, load_recipe_of


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def named(folder: Path) -> Any:
    """`swap_4` with a heavier vehicle of a file of its own, and a residual."""
    folder.mkdir()
    text, file = (vehicles_dir() / "crazyflie_21.yaml").read_text(), folder / "heavier.yaml"
    assert "mass_kg: 0.033" in text
    file.write_text(text.replace("mass_kg: 0.033", "mass_kg: 0.036"))
    residual = save_residual(first_weights(np.random.default_rng(0)), folder / "learned.npz")
    return dataclasses.replace(load_scenario("swap_4"), vehicle=str(file), residual=residual)


def same(found: Any, scenario: Any) -> bool:
    """Whether both are the same but for where their files are."""
    places = {"vehicle": scenario.vehicle, "residual": scenario.residual}
    return (
        dataclasses.replace(found, **places) == scenario
        and found.vehicle_config == scenario.vehicle_config
        and found.residual.sha256 == scenario.residual.sha256
    )


def test_a_scenario_of_what_ships_is_written_as_it_is():
    scenario = load_scenario("swap_4")
    found = sealed(scenario)
    assert found.files == {}
    assert source_of("swap_4", found.content) == load_bundle("swap_4").contract.scenario
    assert own_scenario(resolve_policy("swap_4")[0], "swap_4") == scenario


def test_a_run_folder_is_whole_wherever_it_is_moved(tmp_path: Path):
    scenario = named(tmp_path / "here")
    scenario.vehicle_config  # noqa: B018  # read before its file goes
    create_run(tmp_path / "run", TrainConfig(), scenario, 0)
    shutil.rmtree(tmp_path / "here")
    (tmp_path / "run").rename(tmp_path / "moved")
    found = load_recipe_of(tmp_path / "moved")[1]
    assert isinstance(found, FlightScenario) and found.residual is not None
    assert same(found, scenario)
    load_residual(found.residual)
    assert Path(found.vehicle).parent == Path(found.residual.file).parent == tmp_path / "moved"
    create_run(tmp_path / "again", TrainConfig(), found, 0)
    written = [(tmp_path / name / "scenario.json").read_text() for name in ("moved", "again")]
    assert written[0] == written[1]
    assert str(tmp_path) not in written[0]


def test_a_path_that_nobody_sealed_stays_as_it_is(tmp_path: Path):
    """Of run folders that were written before."""
    content = {**sealed(load_scenario("swap_4")).content, "vehicle": str(tmp_path / "old.yaml")}
    assert opened_from_folder(content, tmp_path / "scenario.json").vehicle == str(tmp_path / "old.yaml")


def test_a_file_that_is_gone_is_said_in_one_sentence(tmp_path: Path):
    scenario = dataclasses.replace(load_scenario("swap_4"), vehicle=str(tmp_path / "gone.yaml"))
    with pytest.raises(UserError, match=r"vehicle = .*gone.yaml' can't be read"):
        sealed(scenario)


def test_a_file_in_the_cache_that_was_changed_is_written_anew(tmp_path: Path):
    file = cached("vehicle.yaml", b"one")
    file.write_bytes(b"two")
    assert cached("vehicle.yaml", b"one").read_bytes() == b"one"
    assert cached("vehicle.yaml", b"two") != file


def test_a_bundle_names_its_vehicle_by_a_path_and_has_it_in_the_contract(tmp_path: Path):
    """Of a bundle from before its scenario was whole: what the contract says counts, not what lies at the path."""
    bundle = load_bundle("swap_4")
    content = bundle.contract.scenario.content | {"vehicle": str(tmp_path / "gone.yaml")}
    found = opened_from_bundle(bundle, content)
    ships = load_scenario("swap_4").vehicle_config
    sources = {key: text for key, text in ships.sources.items() if key != "inner_loop"}
    older = dataclasses.replace(ships, estimators=None, inner_loop=None, sources=sources)
    assert found.vehicle_config == older, "these keys of the file are younger"
    assert opened_from_bundle(bundle).vehicle == "crazyflie_21"


@pytest.mark.slow
def test_a_bundle_that_was_copied_alone_is_flown_in_its_own_scenario(tmp_path: Path):
    scenario = named(tmp_path / "here")
    run = dataclasses.replace(run_of("swap_4"), scenario=scenario)
    made = export_bundle(run, tmp_path / "bundle", "made")
    assert table_in(made.contract.vehicle.content, "body")["mass_kg"] == 0.036
    assert str(tmp_path) not in str(made.contract.scenario.content)
    assert sum(map(len, made.files.values())) < 2_000_000
    shutil.rmtree(tmp_path / "here")
    (tmp_path / "bundle").rename(tmp_path / "copied")
    found = resolve_policy(str(tmp_path / "copied"), kind=FlightScenario)[1]
    assert same(found, scenario)
    load_residual(found.residual)
    again = export_bundle(run_of(str(tmp_path / "copied")), tmp_path / "again", "made")
    assert again.contract.scenario == made.contract.scenario
    assert again.files["residual.npz"] == made.files["residual.npz"]
