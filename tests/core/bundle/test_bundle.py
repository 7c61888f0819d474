"""A bundle is whole, or it is refused by a sentence that names what is wrong."""

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robomarl.core.bundle import bundle as bundles
from robomarl.core.bundle import contract as contracts
from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.config import UserError, to_dict
from robomarl.core.paths import bundles_dir
from robomarl.lab.export.model_card import model_card
from tests.core.bundle.sealing import copy, reseal


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def edit(folder: Path) -> None:
    file = folder / "bundle.json"
    file.write_text(file.read_text().replace('"rate_hz": 50.0', '"rate_hz": 25.0'))


def link(folder: Path) -> None:
    (folder / "policy.onnx").rename(folder.parent / "elsewhere.onnx")
    (folder / "policy.onnx").symlink_to(folder.parent / "elsewhere.onnx")


def test_a_sealed_bundle_says_everything(sealed: Path):
    bundle = load_bundle(sealed)
    said = bundle.contract
    assert len(bundle.id) == 64
    assert (said.name, said.scenario.name, said.vehicle.name) == ("tiny", "swap_4", "crazyflie_21")
    assert said.rate_hz == 50 and said.team_size == (4, 4)
    assert said.training.recipe["learning_rate"] == 1 / 3, "floats are at full precision"
    by_name = {e.name: e for e in said.observation.elements}
    assert (by_name["neighbours[1].vx"].unit, by_name["neighbours[1].age"].unit) == ("m/s", "s")
    assert by_name["neighbours[0].dx"].max_age_s == 0.5
    assert by_name["goal_error.x"].unit == "m"
    resets = ("activate", "hold", "gap")
    assert [(c.owner, c.reset_on) for c in said.carries] == [("observation", resets), ("safety", resets)]
    assert said.sim_hz == 250 and said.roles == ()
    assert (said.radio.rate_hz, said.radio.latency_s, said.radio.loss) == (50.0, 0.02, (0.0, 0.3))
    assert said.randomization["mass_scale"] == [0.95, 1.05]
    assert [-3.0 <= s.low <= s.mean <= s.high <= 3.0 and s.std > 0 for s in said.actions_seen] == [True] * 4
    assert "goal.pos_m" in said.observation.reads and "heard.plan.stop_m" not in said.observation.reads


def test_the_id_covers_every_file_and_no_sidecar(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    before = load_bundle(folder).id
    (folder / "eval.json").write_text("{}")
    assert load_bundle(folder).id == before
    (folder / "README.md").write_text("other")
    reseal(folder)
    assert load_bundle(folder).id != before


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda f: flip(f / "policy.onnx"), "policy.onnx is not the file"),
        (lambda f: flip(f / "golden.npz"), "golden.npz is not the file"),
        (lambda f: flip(f / "README.md"), "README.md is not the file"),
        (lambda f: os.truncate(f / "policy.onnx", 100), r"policy.onnx .*\(100 bytes"),
        (edit, "bundle.json: was changed"),
        (lambda f: (f / "bundle.json").write_text("{"), "bundle.json: is not valid JSON"),
        (lambda f: (f / "bundle.json").write_text("[]"), "bundle.json: seal is missing"),
        (lambda f: (f / "bundle.json").write_text('{"rate_hz": NaN}'), "bundle.json: is not valid JSON"),
        (lambda f: (f / "golden.npz").unlink(), "golden.npz is missing"),
        (lambda f: (f / "bundle.json").unlink(), "bundle.json is missing"),
        (lambda f: (f / "weights.bin").write_text(""), "weights.bin does not belong"),
        (link, "policy.onnx is a link"),
        (lambda f: (f / "extra").symlink_to("/"), "extra is a link"),
    ],
)
def test_a_changed_folder_is_refused(sealed: Path, tmp_path: Path, spoil: Callable[[Path], Any], named: str):
    folder = copy(sealed, tmp_path)
    spoil(folder)
    with pytest.raises(UserError, match=named):
        load_bundle(folder)


def swap_elements(data: dict[str, Any]) -> None:
    elements = data["observation"]["elements"]
    elements[0], elements[4] = elements[4], elements[0]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d.update(schema_version=3), "schema_version 3 is newer than 2"),
        (lambda d: d.update(schema_version=0), r"schema_version 0 is not known \(known: 1, 2\)"),
        (lambda d: d.update(schema_version="2"), "schema_version is missing or no number"),
        (lambda d: d.pop("schema_version"), "schema_version is missing or no number"),
        (lambda d: d.update(colour="red"), "colour"),
        (lambda d: d.update(name="\x1b[2Jrobot_1  ok"), "name must be one line"),
        (lambda d: d.update(name="swap\u202e4"), "name must be one line"),
        (lambda d: d.update(name="x" * 101), "name must be one line"),
        (lambda d: d.update(actions_seen=[]), "actions_seen is empty, which only schema_version 1"),
        (lambda d: d.pop("rate_hz"), "rate_hz"),
        (lambda d: d.update(rate_hz=25.0), "rate_hz = 25 does not fit"),
        (lambda d: d.update(team_size=[5, 4]), "team_size"),
        (lambda d: d["scenario"]["content"].update(count=5), "'swap_4' does not match its sha256"),
        (lambda d: d["vehicle"]["content"]["body"].update(mass_kg=1.0), "'crazyflie_21' does not match"),
        (lambda d: d["files"].pop("golden.npz"), "files"),
        (lambda d: d["files"].update({"../x": d["files"]["README.md"]}), "files"),
        (lambda d: d["files"].update({"c/policy.c": d["files"]["README.md"]}), "c/policy.c is missing"),
        (swap_elements, r"elements\[0\] is 'velocity.y m/s world' in the bundle and 'goal_error.x m world' here"),
        (lambda d: d["observation"]["elements"][0].update(unit="ft"), r"elements\[0\]"),
        (lambda d: d["observation"]["elements"].pop(), "elements"),
        (lambda d: d["observation"]["spec"]["fields"][0].update(name="smell"), "bundle.json: .*'smell' is not known"),
        (lambda d: d["observation"]["reads"].append("heard.plan.stop_m"), "reads"),
        (lambda d: d["safety"]["safety"].update(separation_m=-1), "separation_m"),
        (lambda d: d["action"]["fields"][1].update(name="acceleration.x"), "one name"),
        (lambda d: d["action"]["fields"][2].update(name="acceleration.z_"), "'acceleration.z_' is not known"),
        (lambda d: d["action"]["fields"][0].update(name="acceleration"), r"fields\[0\]: 'acceleration' is not known"),
        (lambda d: d["action"]["fields"][3].update(name="yaw_rate.x"), r"fields\[3\]: 'yaw_rate.x' is not known"),
        (lambda d: d["action"]["fields"].insert(0, d["action"]["fields"].pop(2)), "z must come behind acceleration.y"),
        (lambda d: d["action"]["fields"][0].update(unit="g"), r"acceleration.x must be in m/s\^2"),
        (lambda d: d["action"]["fields"][3].update(frame="ned"), "yaw_rate must be in rad/s, in the frame"),
        (lambda d: d["action"]["fields"][0].update(low=20.0), "acceleration.x goes from 20 to"),
        (lambda d: d["carries"][0].update(reset_on=["never"]), "reset_on"),
        (lambda d: d["conventions"].update(quaternion="xyzw"), "conventions.quaternion: 'wxyz' was expected"),
        (lambda d: d["conventions"].update(world="NED"), "conventions.world: 'ENU' was expected"),
        (lambda d: d["conventions"].pop("body"), "conventions: 'body' is a required"),
        (lambda d: d.update(neighbour_order="by_index"), "neighbour_order: 'nearest_first' was expected"),
        (lambda d: d["radio"].update(loss=[0.0, 1.5]), r"radio.loss\[1\]: 1.5 is greater"),
        (lambda d: d.pop("radio"), "'radio' is a required property"),
        (lambda d: d.pop("sim_hz"), "'sim_hz' is a required property"),
        (lambda d: d["randomization"].update(mass_scale=[0.1, 9.0]), "randomization is not that of the scenario"),
        (lambda d: d.update(rate_hz=100.0) or d["safety"].update(period_s=0.01), "rate_hz = 100 is not the scenario's"),
        (lambda d: d.update(roles=["goalie"]), "roles names 1 roles for teams of up to 4"),
        (lambda d: d["actions_seen"].pop(), "actions_seen has 3 entries for 4 actions"),
        (lambda d: d["actions_seen"][0].update(std=-1.0), r"actions_seen\[0\].std: -1.0 is less"),
        (lambda d: d["observation"]["elements"][0].pop("mean"), r"elements\[0\]: 'mean' is a required"),
        (lambda d: d["observation"]["elements"][0].update(max_age_s=-1.0), "max_age_s: -1.0 is less"),
        (lambda d: d["action"]["fields"][0].pop("unit"), "'unit' is a required"),
        (lambda d: d["training"].pop("commit"), "'commit' is a required"),
        (lambda d: d["inner_loop"].update(kind="magic"), "inner_loop.kind: 'magic' is not one of"),
        (lambda d: d["inner_loop"].update(lag_s=[0.03]), "inner_loop.lag_s: .* is too short"),
        (lambda d: d["training"].update(seed="7"), "training.seed: '7' is not of type"),
    ],
)
def test_a_wrong_contract_is_refused_by_key(sealed: Path, tmp_path: Path, change, named: str):
    folder = copy(sealed, tmp_path)
    reseal(folder, change)
    with pytest.raises(UserError, match=named):
        load_bundle(folder)


def test_resealing_alone_changes_nothing(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    reseal(folder)
    assert load_bundle(folder).contract == load_bundle(sealed).contract


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(UserError, match="Unknown bundle 'nothing'"):
        load_bundle("nothing")


@pytest.mark.parametrize(
    ("cls", "path"),
    [
        ("Contract", "properties"),
        ("Observation", "properties/observation/properties"),
        ("Training", "$defs/training/properties"),
        ("Expert", "properties/experts/items/properties"),
        ("Element", "$defs/element/properties"),
        ("Carry", "$defs/carry/properties"),
        ("Source", "$defs/source/properties"),
        ("FileEntry", "$defs/file_entry/properties"),
        ("Seen", "$defs/seen/properties"),
        ("RadioContract", "properties/radio/properties"),
        ("Conventions", "properties/conventions/properties"),
    ],
)
def test_the_schema_and_the_code_name_the_same_keys(cls: str, path: str):
    node: Any = json.loads((bundles_dir() / "bundle.schema.json").read_text())
    for step in path.split("/"):
        node = node[step]
    assert set(node) - {"seal"} == {f.name for f in dataclasses.fields(getattr(contracts, cls))}


def test_what_is_written_is_what_is_read(sealed: Path):
    bundle: Bundle = load_bundle(sealed)
    assert {**to_dict(bundle.contract)} == {
        k: v for k, v in json.loads(bundle.files["bundle.json"]).items() if k != "seal"
    }


NEW_IN_2 = (
    *("sim_hz", "radio", "randomization", "roles", "neighbour_order", "conventions", "actions_seen", "experts"),
    *("decision_hz", "inner_loop"),
)


def as_version_1(data: dict[str, Any]) -> None:
    for key in NEW_IN_2:
        del data[key]
    data["schema_version"] = 1


def test_version_1_is_migrated_and_keeps_its_bytes(sealed: Path, tmp_path: Path):
    folder = copy(sealed, tmp_path)
    reseal(folder, as_version_1)
    old, new = load_bundle(folder), load_bundle(sealed)
    assert json.loads(old.files["bundle.json"])["schema_version"] == 1, "the sealed file is not touched"
    assert old.contract == dataclasses.replace(new.contract, actions_seen=(), decision_hz=None, inner_loop=None)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda d: d["scenario"]["content"].pop("radio"), r"is not of schema_version 1 as it says \('radio'\)"),
        (lambda d: d.pop("scenario"), r"is not of schema_version 1 as it says \('scenario'\)"),
        (lambda d: d.update(colour="red"), "colour"),
    ],
)
def test_what_only_says_that_it_is_version_1_is_refused(sealed: Path, tmp_path: Path, change, named: str):
    folder = copy(sealed, tmp_path)
    reseal(folder, lambda data: (as_version_1(data), change(data)))
    with pytest.raises(UserError, match=named):
        load_bundle(folder)


def test_the_bundle_that_ships_is_read():
    assert load_bundle("swap_4").contract.radio.rate_hz == 50


def test_the_card_says_what_it_does_where_and_what_it_is_not_for(sealed: Path):
    text = load_bundle(sealed).files["README.md"].decode()
    assert text == model_card(dataclasses.replace(load_bundle(sealed).contract, files={}))
    for words in ("task `swap`", "| `mass_scale` | 0.95 | 1.05 |", "without the safety filter", "all alike", "wxyz"):
        assert words in text
    assert "| `goal_error.x` | m | world |" in text and "| `acceleration.z` | m/s^2 | world | -2 | 2 |" in text


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "name",
    ["readme.md", "Policy.ONNX", "EVAL.json", "Bundle.json", "Signature.JSON", "Data/x and data/y"],
)
def test_two_names_that_some_disks_take_for_one_are_refused(tmp_path: Path, name: str, packed: bool):
    """On macOS, Windows and memory cards one file of the two would replace the other."""
    folder = copy(bundles_dir() / "swap_4", tmp_path)
    names = name.split(" and ")
    for one in names:
        (folder / one).parent.mkdir(exist_ok=True)
        (folder / one).write_text("another")
    entry = {"sha256": bundles.entry_of(b"another").sha256, "size": 7}
    reseal(folder, lambda data: data["files"].update(dict.fromkeys(names, entry)))
    given = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", folder)) if packed else folder
    with pytest.raises(UserError, match="are one file where upper and lower case are not told apart") as refused:
        load_bundle(given)
    assert names[-1].split("/")[0] in str(refused.value)


@pytest.mark.parametrize("name", ["eval.json", "signature.json"])
def test_a_sidecar_that_nobody_can_afford_is_refused_unread(sealed: Path, tmp_path: Path, name: str):
    """57 MiB of empty objects were 1.5 GiB of memory before anybody had looked at a signature."""
    folder = copy(sealed, tmp_path)
    (folder / name).write_bytes(b"[" + b"{}," * 2**19 + b"{}]")
    with pytest.raises(UserError, match=f"{name} is over 1 MiB"):
        load_bundle(folder)


def test_errors_of_a_contract_are_counted_before_they_are_many(sealed: Path, tmp_path: Path, monkeypatch):
    folder, taken = copy(sealed, tmp_path), []
    reseal(folder, lambda data: data["observation"]["spec"].update(fields=[{}] * 1000))
    found = bundles._validator()

    def counted(data: object):
        for error in found(data):
            taken.append(error)
            yield error

    monkeypatch.setattr(bundles, "_validator", lambda: counted)
    with pytest.raises(UserError, match=r"fields\[\d+\]: 'name' is a required property"):
        load_bundle(folder)
    assert len(taken) == bundles.MAX_ERRORS


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in bundles_dir().glob("*/bundle.json")), ids=lambda p: p.name
)
def test_a_bundle_that_ships_is_below_two_megabytes(folder: Path):
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
