"""Files of older versions: those in `old/` were taken from the history of this repository, as they were shipped."""

import re
from pathlib import Path

import pytest
import yaml

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.core.hardware.scenario_files import read_scenario, scenario_names
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.core.paths import fleets_dir, scenarios_dir, vehicles_dir
from robomarl.field.foreign_bags.layout import load_layout
from robomarl.lab.sim.scenario import load_scenario

OLD = Path(__file__).parent / "old"


@pytest.mark.parametrize("name", ["carrier_600", "crazyflie_21", "crazyflie_thrust", "ssl_omni"])
def test_a_vehicle_of_version_1_has_the_figures_that_it_had(name: str):
    said = yaml.safe_load((OLD / f"{name}.yaml").read_text())
    vehicle = load_any_vehicle(str(OLD / f"{name}.yaml"))
    assert (said["version"], vehicle.version) == (1, 2)
    for section in ("body", "limits", "safety"):
        there = {key: getattr(getattr(vehicle, section), key) for key in said[section]}
        assert there == {k: tuple(v) if isinstance(v, list) else v for k, v in said[section].items()}


def test_one_source_for_all_figures_is_each_figures_own_and_says_so():
    said = yaml.safe_load((OLD / "crazyflie_21.yaml").read_text())["sources"]
    sources = load_any_vehicle(str(OLD / "crazyflie_21.yaml")).sources
    assert "safety" in said and "safety" not in sources
    assert sources["safety.delay_s"] == f"{said['safety']} (said of all figures of safety at once, in version 1)"
    assert {key: sources[key] for key in said if key != "safety"} == {k: v for k, v in said.items() if k != "safety"}


def test_a_figure_that_is_newer_than_the_file_is_what_it_was(tmp_path: Path):
    said = yaml.safe_load((OLD / "crazyflie_21.yaml").read_text())
    del said["safety"]["accel_bias_m_s2"]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(said))
    vehicle = load_any_vehicle(str(tmp_path / "mine.yaml"))
    assert vehicle.safety.accel_bias_m_s2 == 0
    assert vehicle.sources["safety.accel_bias_m_s2"].startswith("a file of version 1 that does not say it")


def test_a_source_is_never_guessed(tmp_path: Path):
    said = yaml.safe_load((OLD / "crazyflie_21.yaml").read_text())
    del said["sources"]["safety"]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(said))
    with pytest.raises(UserError, match=r"safety.separation_m has no source; add sources: .* how it was measured"):
        load_any_vehicle(str(tmp_path / "mine.yaml"))
    said["version"], said["sources"]["safety"] = 2, "measured"
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(said))
    with pytest.raises(UserError, match="safety speaks for all figures at once"):
        load_any_vehicle(str(tmp_path / "mine.yaml"))


@pytest.mark.parametrize("name", ["lift_3", "soccer_2v2"])
def test_a_scenario_of_version_1_is_read(name: str):
    scenario, now = load_scenario(str(OLD / f"{name}.toml")), load_scenario(name)
    assert (scenario.version, scenario.name) == (2, name)
    assert (scenario.count, scenario.period_s, scenario.vehicle_config) == (now.count, now.period_s, now.vehicle_config)


def test_a_radio_that_is_too_short_is_refused_with_the_key_and_the_reason():
    with pytest.raises(UserError) as caught:
        load_scenario(str(OLD / "swap_4.toml"))
    said = str(caught.value)
    assert said.startswith("swap_4.toml: radio.range_m = 4 is too short") and "brake for good; make it at least" in said


def test_a_file_that_extends_a_newer_one_may_be_older_or_say_no_version(tmp_path: Path):
    for line in ("", "version = 1\n", "version = 2\n"):
        (tmp_path / "mine.toml").write_text(f'extends = "swap_4"\n{line}count = 3\n')
        assert load_scenario(str(tmp_path / "mine.toml")).version == 2
        assert read_scenario(str(tmp_path / "mine.toml"))[0]["version"] == 2


def test_a_fleet_of_version_1_is_of_the_newest_version():
    assert len(load_fleet(str(OLD / "swap_16.yaml")).robots) == 16


NEWER = {
    "vehicle": (vehicles_dir() / "crazyflie_21.yaml", load_any_vehicle),
    "scenario": (scenarios_dir() / "swap_4.toml", load_scenario),
    "fleet": (fleets_dir() / "local_4.yaml", load_fleet),
    "layout": (None, lambda name: load_layout(Path(name))),
}


@pytest.mark.parametrize("kind", NEWER)
@pytest.mark.parametrize("number", ["3", "99", "1" + "0" * 30])
def test_a_newer_version_asks_for_a_newer_robomarl(tmp_path: Path, kind: str, number: str):
    source, load = NEWER[kind]
    file = tmp_path / f"mine{source.suffix if source else '.toml'}"
    text = source.read_text() if source else "version = 1\n"
    file.write_text(re.sub(r"^(version\W+)\d+", rf"\g<1>{number}", text, flags=re.M))
    with pytest.raises(UserError, match=rf"mine\.\w+: version = {number} is newer than \d, .*; update robomarl\.$"):
        load(str(file))


@pytest.mark.parametrize("number", ["0", "-1", "true", "'2'", "2.5", "[]", "null", "{}"])
def test_what_is_no_version_is_refused_by_name(tmp_path: Path, number: str):
    text = (OLD / "crazyflie_21.yaml").read_text().replace("version: 1", f"version: {number}")
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(UserError, match=r"mine\.yaml: version must be one of 2, not"):
        load_any_vehicle(str(tmp_path / "mine.yaml"))


@pytest.mark.parametrize("key", ["safety", "sources"])
@pytest.mark.parametrize("value", [None, 3, [], "x", {"safety": 3}])
def test_a_damaged_file_of_version_1_is_one_sentence(tmp_path: Path, key: str, value: object):
    said = yaml.safe_load((OLD / "crazyflie_21.yaml").read_text()) | {key: value}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(said))
    with pytest.raises(UserError, match=r"mine\.yaml: "):
        load_any_vehicle(str(tmp_path / "mine.yaml"))


def test_what_ships_is_of_the_newest_version():
    for file in (*vehicles_dir().glob("*.yaml"), *scenarios_dir().glob("*.toml")):
        assert re.findall(r"^version\W+(\d+)", file.read_text(), re.M) in ([], ["2"]), file
    assert all(read_scenario(name)[0]["version"] == 2 for name in scenario_names())
