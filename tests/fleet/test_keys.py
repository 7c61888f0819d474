"""Whose bundles a robot takes: everybody's until it trusts a key; then only what enough of its keys signed."""

import json
import stat
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.fleet import flash
from robomarl.fleet.store import InstalledBundles
from robomarl.fleet.trust.policy import offer_of
from robomarl.front.cli import main
from tests.core.bundle.sealing import copy
from tests.fleet.signing import reasons, signed, trusting

pytestmark = pytest.mark.usefixtures("own_keys")


def test_a_robot_that_trusts_somebody_takes_nothing_from_anybody_else(
    bundles, robots, stores, tmp_path: Path, fleet_file: str
):
    first, second = bundles
    for name in ("alice", "mallory"):
        assert main(["key", "new", name]) == 0
    assert all(r.ok for r in flash.flash(first, robots)), "unsigned, while nobody is trusted"
    assert main(["key", "trust", "alice", fleet_file, "--root", str(tmp_path)]) == 0
    assert "is not signed" in reasons(flash.flash(second, robots))
    assert "0 of the keys that this robot trusts" in reasons(flash.flash(signed(second, tmp_path, "mallory"), robots))
    assert {r.state() for r in robots.values()} == {InstalledBundles(first.id)}
    assert all(r.ok for r in flash.flash(signed(second, tmp_path, "alice"), robots))
    assert stores["robot_0"].current().id == second.id
    assert not any(r.ok for r in flash.rollback(robots)), "the one before was never signed"
    with pytest.raises(UserError, match="is not signed"):
        stores["robot_0"].load(first.id)


def test_a_bundle_that_is_there_unsigned_is_taken_once_it_is_signed(
    bundles, robots, tmp_path: Path, fleet_file: str, capsys
):
    first, _ = bundles
    flash.flash(first, robots)
    main(["key", "new", "alice"])
    assert main(["key", "trust", "alice", fleet_file, "--root", str(tmp_path)]) == 0
    assert "refuses what it has now" in capsys.readouterr().out
    assert all(r.ok for r in flash.flash(signed(first, tmp_path, "alice"), robots))
    bad = signed(first, tmp_path / "bad", "alice")
    bad.sidecars["signature.json"] = b"{}"
    assert "is no signature" in reasons(flash.flash(bad, robots))
    assert all(r.ok for r in flash.flash(signed(first, tmp_path / "again", "alice"), robots))


def change(folder: Path, part: str, **values: str) -> None:
    file = folder / "signature.json"
    data = json.loads(file.read_text())
    {"id": data, "statement": data["statement"], "signature": data["signatures"][0]}[part].update(values)
    file.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("part", "values", "named"),
    [
        ("signature", {"signature": "A" * 86 + "=="}, "has a wrong signature"),
        ("signature", {"signature": "no base64!"}, "is no signature"),
        ("signature", {"key": "A" * 43 + "="}, "0 of the keys that this robot trusts"),
        ("id", {"id": "0" * 64}, "is no signature"),
        ("statement", {"id": "0" * 64}, "is no signature"),
        ("statement", {"name": "swap_5"}, "names bundle 'swap_5', not 'swap_4'"),
        ("statement", {"counter": 2**40}, "has a wrong signature"),
        ("statement", {"counter": "many"}, "is no signature"),
        ("statement", {"expires": "2999-01-01"}, "has a wrong signature"),
        ("statement", {"expires": "tomorrow"}, "is no signature"),
        ("statement", {"more": "1"}, "is no signature"),
    ],
)
def test_a_forged_signature_is_refused(bundles, tmp_path: Path, part: str, values: dict, named: str):
    trust = trusting("alice")
    bundle = signed(bundles[0], tmp_path, "alice")
    assert trust.check(offer_of(bundle))
    change(bundle.folder, part, **values)
    with pytest.raises(UserError, match=named):
        trust.check(offer_of(load_bundle(bundle.folder)))


def test_the_signature_of_one_bundle_does_not_fit_another(bundles, tmp_path: Path):
    """Also where its id is written over: the id itself is what was signed."""
    trust = trusting("alice")
    first = signed(bundles[0], tmp_path, "alice")
    other = copy(bundles[1].folder, tmp_path / "other")
    (other / "signature.json").write_bytes(first.sidecars["signature.json"])
    with pytest.raises(UserError, match="is for bundle"):
        trust.check(offer_of(load_bundle(other)))
    change(other, "statement", id=bundles[1].id, name="other")
    change(other, "id", id=bundles[1].id)
    with pytest.raises(UserError, match="has a wrong signature"):
        trust.check(offer_of(load_bundle(other)))


def test_a_signature_of_before_statements_is_none(bundles, tmp_path: Path):
    trust = trusting("alice")
    old = copy(bundles[0].folder, tmp_path)
    text = {"id": bundles[0].id, "key": "A" * 43 + "=", "name": "alice", "signature": "A" * 86 + "=="}
    (old / "signature.json").write_text(json.dumps(text))
    with pytest.raises(UserError, match="is no signature; sign the bundle again"):
        trust.check(offer_of(load_bundle(old)))


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
    assert main(["key", "sign", "alice", str(folder), "--expires", "soon"]) == 1
    assert "must be a day" in capsys.readouterr().err
    for words, status in (
        (["sign", "nobody", str(folder)], 1),
        (["trust", "nobody", fleet_file], 1),
        (["new", "../x"], 1),
        (["sign", "alice"], 2),
    ):
        assert main(["key", *words]) == status
        assert capsys.readouterr().err.count("\n") == 1
