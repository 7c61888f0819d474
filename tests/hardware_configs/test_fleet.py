"""A fleet file that is wrong is refused by one sentence that says what to mend."""

from pathlib import Path

import pytest

from robomarl.config import UserError
from robomarl.hardware_configs.fleet import load_fleet
from robomarl.paths import fleets_dir
from robomarl.tables import read_yaml

GOOD = """
version: 1
name: pair
vehicle: crazyflie_21
scenario: goto_2
robots:
  - {name: left, index: 1, folder: robots/left}
  - {name: right, index: 0, folder: robots/right}
"""


def load(folder: Path, text: str):
    file = folder / "pair.yaml"
    file.write_text(text)
    return load_fleet(str(file))


def test_a_fleet_is_read(tmp_path: Path):
    fleet = load(tmp_path, GOOD)
    assert [(r.name, r.index) for r in fleet.robots] == [("left", 1), ("right", 0)]
    assert fleet.vehicle_config.name == "crazyflie_21" and fleet.radio.rate_hz == 50


@pytest.mark.parametrize("file", sorted(fleets_dir().glob("*.yaml")), ids=lambda p: p.stem)
def test_what_ships_is_sound(file: Path):
    assert load_fleet(file.stem).name == file.stem


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("vehicle:", "vehicel:", "unknown key 'vehicel'; did you mean 'vehicle'"),
        ("scenario: goto_2", "", "key 'scenario' is missing"),
        ("name: right", "name: left", "2 robots have name = 'left'; give each its own"),
        ("robots/right", "robots/left", "2 robots have folder = 'robots/left'"),
        ("index: 0", "index: 1", "left and right have index = 1"),
        ("index: 0", "index: 2", "no robot has index = 0; 2 robots count from 0 on"),
        ("index: 0, ", "", r"key 'robots\[1\].index' is missing"),
        ("index: 0", "index: -1", r"robots\[1\].index = -1 is out of range"),
        ("name: right", "name: Right Wing", r"robots\[1\]: name = 'Right Wing' must be lower-case"),
        ("folder: robots/right", "folder: ''", r"robots\[1\]: folder must not be empty"),
        ("folder: robots/right", "ssh: pi@right", r"unknown key 'robots\[1\].ssh'"),
        ("crazyflie_21", "zeppelin", "Unknown vehicle 'zeppelin'"),
        ("version: 1", "version: 2", "version must be one of 1"),
        ("name: pair", "name: [", "pair.yaml: not valid YAML"),
        ("name: pair", "name: pair\nname: other", "line 4, key 'name' is there twice"),
        ("index: 0", "index: 0, host: a, host: b", "key 'host' is there twice"),
        ("index: 0", f"index: {'9' * 5000}", r"not valid YAML \(ValueError\)"),
        ("name: pair", f"name: {'[' * 1500}", r"not valid YAML \(RecursionError\)"),
        ("name: pair", "name: !!timestamp pair", r"not valid YAML \(AttributeError\)"),
        ("name: pair", "name: !!bool pair", r"not valid YAML \(KeyError\)"),
        (GOOD[GOOD.index("robots:") :], "robots: []", "at least one robot"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, named: str):
    assert old in GOOD
    with pytest.raises(UserError, match=named) as error:
        load(tmp_path, GOOD.replace(old, new))
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path):
    (tmp_path / "pair.yaml").write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(UserError, match=r"pair.yaml: byte 0 is no text \(UTF-8\)"):
        load_fleet(str(tmp_path / "pair.yaml"))


def test_what_robots_share_may_be_written_once(tmp_path: Path):
    """Anchors and merged keys stay; of a key that is merged and written, what is written counts."""
    text = GOOD.replace("index: 0", "<<: *both, index: 0").replace("name: pair", "name: pair", 1)
    text = text.replace("index: 1", "<<: &both {python: /opt/py, index: 7}, index: 1", 1)
    fleet = load(tmp_path, text)
    assert {(r.index, r.python) for r in fleet.robots} == {(0, "/opt/py"), (1, "/opt/py")}


def test_what_is_merged_may_have_merged_something_itself(tmp_path: Path):
    text = "robots: {one: &one {host: a}, two: &two {<<: *one, host: b}}\nlast: {<<: *two}\n"
    (tmp_path / "x.yaml").write_text(text)
    content, _ = read_yaml(str(tmp_path / "x.yaml"), "fleet", tmp_path)
    assert content == {"robots": {"one": {"host": "a"}, "two": {"host": "b"}}, "last": {"host": "b"}}


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(UserError, match="Unknown fleet 'nobody'.*local_4"):
        load_fleet("nobody")
