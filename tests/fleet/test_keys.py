"""Whose bundles a robot takes: nobody's name, everybody's; one name, only that one's."""

import json
import stat
from pathlib import Path

import pytest

from robomarl.cli import main
from robomarl.config import UserError
from robomarl.fleet import flash, keys
from robomarl.fleet.store import State
from robomarl.policies import golden, verify
from robomarl.policies.bundle import Bundle, load_bundle
from tests.policies.sealing import copy


@pytest.fixture(autouse=True)
def own_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keys of these tests only; and no look at the slow golden commands."""
    monkeypatch.setenv("ROBOMARL_KEYS", str(tmp_path / "keys"))
    monkeypatch.setattr(verify, "SECONDS", 0.01)
    same = golden.Deviation("command", "none", 0.0, 0.0, "nowhere")
    monkeypatch.setattr(golden, "check_filter", lambda contract, sequences: same)
    return tmp_path / "keys"


@pytest.fixture
def fleet_file(tmp_path: Path) -> str:
    file = tmp_path / "team.yaml"
    rows = "".join(f"  - {{name: robot_{i}, index: {i}, folder: robot_{i}}}\n" for i in range(3))
    file.write_text(f"version: 1\nname: team\nvehicle: crazyflie_21\nscenario: swap_4\nrobots:\n{rows}")
    return str(file)


def signed(bundle: Bundle, folder: Path, name: str, own_keys: Path) -> Bundle:
    there = copy(bundle.folder, folder / name)
    (there / "signature.json").write_bytes(keys.sign(bundle.id, name, own_keys))
    return load_bundle(there)


def reasons(reports) -> str:
    return " ".join(r.reason for r in reports)


def test_a_robot_that_trusts_somebody_takes_nothing_from_anybody_else(
    bundles, robots, stores, tmp_path: Path, own_keys: Path, fleet_file: str
):
    first, second = bundles
    for name in ("alice", "mallory"):
        assert main(["key", "new", name]) == 0
    assert all(r.ok for r in flash.flash(first, robots)), "unsigned, while nobody is trusted"
    assert main(["key", "trust", "alice", fleet_file, "--root", str(tmp_path)]) == 0
    assert "is not signed" in reasons(flash.flash(second, robots))
    assert "which this robot does not trust" in reasons(
        flash.flash(signed(second, tmp_path, "mallory", own_keys), robots)
    )
    assert {r.state() for r in robots.values()} == {State(first.id)}
    assert all(r.ok for r in flash.flash(signed(second, tmp_path, "alice", own_keys), robots))
    assert stores["robot_0"].current().id == second.id
    assert not any(r.ok for r in flash.rollback(robots)), "the one before was never signed"
    with pytest.raises(UserError, match="is not signed"):
        stores["robot_0"].load(first.id)


def test_a_bundle_that_is_there_unsigned_is_taken_once_it_is_signed(
    bundles, robots, tmp_path: Path, own_keys: Path, fleet_file: str, capsys
):
    first, _ = bundles
    flash.flash(first, robots)
    main(["key", "new", "alice"])
    assert main(["key", "trust", "alice", fleet_file, "--root", str(tmp_path)]) == 0
    assert "refuses what it has now" in capsys.readouterr().out
    assert all(r.ok for r in flash.flash(signed(first, tmp_path, "alice", own_keys), robots))
    bad = signed(first, tmp_path / "bad", "alice", own_keys)
    bad.sidecars["signature.json"] = b"{}"
    assert "is no signature" in reasons(flash.flash(bad, robots))
    assert all(r.ok for r in flash.flash(signed(first, tmp_path / "again", "alice", own_keys), robots))


def change(folder: Path, **values: str) -> None:
    file = folder / "signature.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"signature": "A" * 86 + "=="}, "has a wrong signature"),
        ({"signature": "no base64!"}, "has a wrong signature"),
        ({"id": "0" * 64}, "is for bundle 000000000000, not"),
        ({"key": "A" * 43 + "="}, "which this robot does not trust"),
    ],
)
def test_a_forged_signature_is_refused(bundles, tmp_path: Path, own_keys: Path, values: dict, named: str):
    keys.new_key("alice", own_keys)
    bundle = signed(bundles[0], tmp_path, "alice", own_keys)
    trusted = keys.read_keys(own_keys)
    assert keys.check_signature(bundle, trusted) == "alice"
    change(bundle.folder, **values)
    with pytest.raises(UserError, match=named):
        keys.check_signature(load_bundle(bundle.folder), trusted)


def test_the_signature_of_one_bundle_does_not_fit_another(bundles, tmp_path: Path, own_keys: Path):
    """Also where its id is written over: the id itself is what was signed."""
    keys.new_key("alice", own_keys)
    first = signed(bundles[0], tmp_path, "alice", own_keys)
    other = copy(bundles[1].folder, tmp_path / "other")
    (other / "signature.json").write_bytes(first.sidecars["signature.json"])
    with pytest.raises(UserError, match="is for bundle"):
        keys.check_signature(load_bundle(other), keys.read_keys(own_keys))
    change(other, id=bundles[1].id)
    with pytest.raises(UserError, match="has a wrong signature"):
        keys.check_signature(load_bundle(other), keys.read_keys(own_keys))


def test_a_damaged_set_of_keys_does_not_count_as_an_empty_one(bundles, robots, stores):
    folder = stores["robot_1"].root / "trusted"
    folder.mkdir(parents=True)
    (folder / "alice.pub").write_text("")
    assert "is no public key" in reasons(flash.flash(bundles[0], robots))


def test_revoking_the_last_key_takes_unsigned_bundles_again(bundles, robots, tmp_path: Path, fleet_file: str):
    main(["key", "new", "alice"])
    root = ["--root", str(tmp_path)]
    assert main(["key", "trust", "alice", fleet_file, *root]) == 0
    assert not any(r.ok for r in flash.flash(bundles[0], robots))
    assert main(["key", "revoke", "alice", fleet_file, *root]) == 0
    assert all(r.ok for r in flash.flash(bundles[0], robots))
    assert main(["key", "revoke", "alice", fleet_file, *root]) == 1


def test_the_command_line(bundles, tmp_path: Path, own_keys: Path, fleet_file: str, capsys):
    figures = tmp_path / "figures.json"
    assert main(["key", "new", "alice"]) == 0
    assert stat.S_IMODE((own_keys / "alice.pem").stat().st_mode) == 0o600
    assert main(["key", "new", "alice"]) == 1 and "is there already" in capsys.readouterr().err
    folder = copy(bundles[0].folder, tmp_path / "mine")
    assert main(["key", "sign", "alice", str(folder)]) == 0
    assert main(["verify", str(folder)]) == 0
    assert main(["key", "list", fleet_file, "--root", str(tmp_path), "--json", str(figures)]) == 0
    said = json.loads(figures.read_text())
    assert list(said["keys"]) == ["alice"] and [r["names"] for r in said["robots"]] == [[]] * 3
    for words in (["sign", "nobody", str(folder)], ["trust", "nobody", fleet_file], ["new", "../x"], ["sign", "alice"]):
        assert main(["key", *words]) == 1
        assert capsys.readouterr().err.count("\n") == 1
