"""A robot that takes signed bundles only fails closed: what it can't know, it does not take for leave."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.fleet import flash
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.fleet.transport import FolderTransport
from robomarl.fleet.trust import keys, policy, statement
from robomarl.fleet.trust.policy import TRUST_FILE, Trust, offer_of, read_trust, write_trust
from robomarl.front.cli import main
from robomarl.ros.robot.startup import load_pilot
from robomarl.ros.settings import PolicySettings
from tests.core.bundle.sealing import copy
from tests.fleet.signing import reasons, signed, trusting

NOBODY = 65534
pytestmark = pytest.mark.usefixtures("own_keys")


@pytest.fixture
def command(fleet_file: str, tmp_path: Path):
    """`robomarl key ACTION NAME FLEET`, on folders of this test; its exit status."""

    def run(*words: str) -> int:
        return main(["key", words[0], *words[1:2], fleet_file, *words[2:], "--root", str(tmp_path)])

    return run


def test_revoking_the_only_key_takes_nothing(bundles, robots, stores, command, tmp_path: Path, capsys):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0 and command("revoke", "alice") == 0
    assert "takes NOTHING: trusts nobody" in capsys.readouterr().out
    assert "is not signed" in reasons(flash.flash(bundles[0], robots))
    by_alice = signed(bundles[0], tmp_path, "alice")
    assert "0 of the keys that this robot trusts (nobody)" in reasons(flash.flash(by_alice, robots))
    assert command("revoke", "alice") == 1
    assert {r.state() for r in robots.values()} == {InstalledBundles()}
    assert command("unsigned") == 0
    assert all(r.ok for r in flash.flash(bundles[0], robots)), "only where it was asked for"
    assert [e.action for e in stores["robot_0"].journal.read()][:3] == ["trust", "revoke", "unsigned"]


def test_a_key_is_replaced_in_one_step(bundles, robots, stores, command, tmp_path: Path, own_keys):
    main(["key", "new", "alice"])
    main(["key", "new", "bob"])
    assert command("trust", "alice") == 0
    assert command("trust", "bob", "--instead-of", "carol") == 1
    assert command("trust", "bob", "--instead-of", "alice") == 0
    seen = [e.result for e in stores["robot_0"].journal.read() if e.action == "trust"]
    prints = {n: keys.fingerprint(raw) for n, raw in keys.read_keys(own_keys).items()}
    assert seen == [f"ok: alice {prints['alice']}", f"ok: bob {prints['bob']}, instead of alice {prints['alice']}"]
    assert not any(r.ok for r in flash.flash(signed(bundles[0], tmp_path, "alice"), robots))
    assert all(r.ok for r in flash.flash(signed(bundles[0], tmp_path, "bob"), robots))


def test_a_key_is_not_replaced_by_another_one_of_its_name(robots, command, tmp_path: Path, capsys):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    keys.new_key("alice", tmp_path / "mallory")
    capsys.readouterr()
    assert command("trust", str(tmp_path / "mallory" / "alice.pub")) == 1
    assert "Another key is trusted as 'alice'" in capsys.readouterr().out
    assert command("trust", "alice") == 0, "the same one again changes nothing"


def as_nobody(folder: Path, root: Path) -> str:
    """What a process without any rights reads of a robot's trust."""
    code = (
        f"import os, sys; sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path\nfrom robomarl.core.config import UserError\n"
        "from robomarl.fleet.trust.policy import read_trust\n"
        f"os.setgid({NOBODY}); os.setuid({NOBODY})\n"
        f"try: print(read_trust(Path({str(folder)!r})).signed)\n"
        "except UserError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody without rights")
@pytest.mark.parametrize("what", ["file", "folder", "old keys"])
def test_what_cannot_be_read_does_not_count_as_nothing(what: str, tmp_path: Path, own_keys, root: Path):
    place = Path(f"/tmp/robomarl_trust_{os.getpid()}_{what[0]}")
    old = place / "trusted"
    old.mkdir(parents=True)
    try:
        if what == "old keys":
            keys.new_key("alice", own_keys)
            (old / "alice.pub").write_bytes((own_keys / "alice.pub").read_bytes())
            old.chmod(0o700)
        else:
            write_trust(place, trusting("alice"))
            (place / TRUST_FILE).chmod(0o600)
            place.chmod(0o700 if what == "folder" else 0o755)
        assert "can't be read" in as_nobody(place, root)
        assert read_trust(place).signed
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)


def damage(root: Path, kind: str, key: str) -> None:
    root.mkdir(parents=True, exist_ok=True)
    file, old = root / TRUST_FILE, root / "trusted"
    if kind == "link to nowhere":
        file.symlink_to(root / "unmounted" / TRUST_FILE)
    elif kind == "folder":
        file.mkdir()
    elif kind == "old link to nowhere":
        old.symlink_to(root / "unmounted")
    elif kind == "old is a file":
        old.write_text(key)
    elif kind.startswith("old"):
        old.mkdir()
        if kind != "old is empty":
            name, text = {"old capitals": ("alice.PUB", key), "old damaged": ("alice.pub", "")}[kind]
            (old / name).write_text(text)
    else:
        file.write_text(kind)


@pytest.mark.parametrize(
    "kind",
    [
        *("", "[]", "{", '{"signed": 1}', '{"signed": true, "keys": {"a": "A"}}', '{"signed": false, "kyes": {}}'),
        *('{"signed": true, "threshold": 0}', "[" * 5000, "link to nowhere", "folder"),
        *("old link to nowhere", "old is a file", "old is empty", "old capitals", "old damaged"),
    ],
)
def test_what_is_damaged_does_not_count_as_nothing(bundles, robots, stores, own_keys, kind: str):
    store = stores["robot_1"]
    damage(store.root, kind, keys.new_key("alice", own_keys))
    report = flash.flash(bundles[0], robots)[1]
    assert not report.ok and report.reason.count("\n") == 0
    with pytest.raises(UserError):
        store.admit(offer_of(bundles[0]))
    assert {r.state() for r in robots.values()} == {InstalledBundles()}


def test_keys_of_a_robot_from_before_still_count(bundles, robots, stores, command, tmp_path: Path, own_keys):
    text = keys.new_key("alice", own_keys)
    for store in stores.values():
        (store.root / "trusted").mkdir(parents=True)
        (store.root / "trusted" / "alice.pub").write_text(f"{text} alice\n")
    assert "is not signed" in reasons(flash.flash(bundles[0], robots))
    assert all(r.ok for r in flash.flash(signed(bundles[0], tmp_path, "alice"), robots))
    assert command("revoke", "alice") == 0
    assert replace(stores["robot_0"].trust(), counter=0) == Trust(signed=True, fleet="")


def test_so_many_keys_have_to_sign(bundles, robots, command, tmp_path: Path, capsys):
    for name in ("alice", "bob"):
        main(["key", "new", name])
        assert command("trust", name) == 0
    assert command("threshold", "3") == 1 and command("threshold", "2") == 0
    bundle = signed(bundles[0], tmp_path, "alice")
    assert "1 of the keys" in reasons(flash.flash(bundle, robots))
    assert main(["key", "sign", "alice", str(bundle.folder)]) == 0, "twice by one is once"
    assert "1 of the keys" in reasons(flash.flash(load_bundle(bundle.folder), robots))
    assert main(["key", "sign", "bob", str(bundle.folder)]) == 0
    assert all(r.ok for r in flash.flash(load_bundle(bundle.folder), robots))
    assert command("revoke", "bob") == 0
    assert "takes NOTHING" in capsys.readouterr().out


def test_figures_that_were_not_signed_are_refused(bundles, robots, tmp_path: Path, command):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    folder = copy(bundles[0].folder, tmp_path)
    (folder / "eval.json").write_text(json.dumps({"id": bundles[0].id, "collisions": 9}))
    bundle = signed(load_bundle(folder), tmp_path, "alice")
    assert all(r.ok for r in flash.flash(bundle, robots))
    (bundle.folder / "eval.json").write_text(json.dumps({"id": bundles[0].id, "collisions": 0}))
    assert "eval.json is not the one that was signed" in reasons(flash.flash(load_bundle(bundle.folder), robots))
    (bundle.folder / "eval.json").unlink()
    assert "eval.json is not the one that was signed" in reasons(flash.flash(load_bundle(bundle.folder), robots))


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"expires": "2020-01-01"}, "was to be taken until 2020-01-01"),
        ({"fleet": "other"}, "is for fleet 'other', this robot is of 'team'"),
        ({"expires": "2999-01-01", "fleet": "team"}, ""),
    ],
)
def test_what_signers_said_holds(bundles, robots, command, tmp_path: Path, about: dict, says: str):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    reports = flash.flash(signed(bundles[0], tmp_path, "alice", **about), robots)
    assert all(says in r.reason and r.ok is not bool(says) for r in reports)


def test_an_older_bundle_does_not_come_back_unasked(bundles, robots, stores, command, tmp_path: Path):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    old, new = (signed(bundles[i], tmp_path / str(i), "alice", counter=i + 5) for i in range(2))
    assert all(r.ok for r in flash.flash(old, robots)) and all(r.ok for r in flash.flash(new, robots))
    assert "has counter 5, this robot has had 6" in reasons(flash.flash(old, robots))
    assert "has counter 5, this robot has had 6" in reasons(
        flash.flash(old, robots, options=flash.FlashOptions(dry_run=True))
    )
    assert "has counter 5, this robot has had 6" in reasons(flash.rollback(robots))
    assert {r.state().current for r in robots.values()} == {new.id}
    assert all(r.ok for r in flash.rollback(robots, allow_rollback=True))
    assert stores["robot_0"].current().id == old.id, "the node loads it"
    assert all(r.ok for r in flash.flash(old, robots)), "what is current may stay"
    assert stores["robot_0"].trust().counter == 6, "once allowed is not for ever"
    assert all(r.ok for r in flash.flash(new, robots))


def test_a_dry_run_says_no_where_the_flash_would(bundles, robots, command):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    reports = flash.flash(bundles[0], robots, options=flash.FlashOptions(dry_run=True))
    assert not any(r.ok for r in reports) and "is not signed" in reports[0].reason


def test_the_nodes_bundle_parameter_is_no_way_around(bundles, tmp_path: Path):
    robot = tmp_path / "robot"
    robot.mkdir()
    named = PolicySettings(
        team=("a", "b", "c", "d"), index=0, bundle=str(bundles[0].folder), vehicle="crazyflie_21", robot_root=str(robot)
    )
    assert load_pilot(named).id == bundles[0].id
    write_trust(robot, trusting("alice"))
    with pytest.raises(UserError, match="is not signed, and this robot takes signed ones only"):
        load_pilot(named)
    by_alice = signed(bundles[0], tmp_path, "alice")
    assert load_pilot(replace(named, bundle=str(by_alice.folder))).id == bundles[0].id


def test_a_robot_that_knows_no_fleet_takes_no_bundle_for_one(bundles, tmp_path: Path):
    trust = trusting("alice")
    bundle = signed(bundles[0], tmp_path, "alice", fleet="lab")
    with pytest.raises(UserError, match="is for fleet 'lab', nobody told this robot its own"):
        trust.check(offer_of(bundle))
    robot = Robot("r", FolderTransport(tmp_path / "r"), "crazyflie_21")
    robot.hello()
    robot.lock()
    robot.call("trust", name="alice", key=trust.keys["alice"], fleet="lab")
    assert Store(tmp_path / "r").trust().check(offer_of(bundle))
    robot.close()


@pytest.mark.parametrize("expires", ["20260101", "2026-W01-1", "2026W011"])
def test_a_day_has_one_spelling(bundles, tmp_path: Path, expires: str):
    """Another one that ISO 8601 knows is a larger text than any later day of that year: it would never have passed."""
    with pytest.raises(UserError, match="YYYY-MM-DD"):
        statement.statement_of(bundles[0], expires=expires)
    with pytest.raises(UserError, match="is no signature"):
        statement.parse(json.dumps({"id": "a", "statement": {"id": "a", "name": "b", "counter": 1, "expires": expires},
                                    "signatures": []}).encode())  # fmt: skip


def test_a_counter_of_the_future_shuts_nobody_out(bundles, robots, tmp_path: Path, command):
    """Who had the key for a moment could have signed so that no later bundle of its owner is newer."""
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    for counter in (int(time.time()) + 10**6, 2**64, 10**4000):
        ahead = signed(bundles[0], tmp_path / str(counter % 997), "alice", counter=counter)
        assert "is yet to come" in reasons(flash.flash(ahead, robots))
    assert all(r.ok for r in flash.flash(signed(bundles[0], tmp_path, "alice"), robots))


def test_a_clock_that_begins_with_1970_takes_nothing_that_is_over_and_says_what_it_shows(monkeypatch):
    """Many small computers have no clock of their own; what they have had says how late it is at least."""

    class Begun(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.fromtimestamp(100, tz)

    monkeypatch.setattr(policy, "datetime", Begun)
    said = statement.Statement("a" * 64, "swap", 100, "", "2026-06-01", "")
    year_2026_07 = 1_782_900_000
    trust = Trust(signed=True)
    trust.check_arrival(said, 0)
    with pytest.raises(UserError, match="was to be taken until 2026-06-01"):
        trust.check_arrival(said, year_2026_07, allow_rollback=True)
    with pytest.raises(UserError, match="set the robot's clock, which says 1970-01-01"):
        trust.check_arrival(replace(said, counter=year_2026_07), 0)
    had = replace(said, expires="", counter=year_2026_07)
    trust.check_arrival(had, year_2026_07)
    trust.check_arrival(replace(had, counter=year_2026_07 - 9), year_2026_07, allow_rollback=True)
    trust.check_arrival(replace(said, expires="", counter=7), 10**20, allow_rollback=True)


@pytest.mark.parametrize("how", ["key replaced", "key revoked", "threshold", "unsigned and back"])
def test_what_a_robot_has_had_outlives_who_signed_it(bundles, robots, stores, command, tmp_path: Path, how: str):
    for name in ("alice", "bob", "carol"):
        main(["key", "new", name])
    assert command("trust", "alice") == 0
    assert all(r.ok for r in flash.flash(signed(bundles[0], tmp_path, "alice", counter=100), robots))
    steps = {
        "key replaced": [("trust", "bob", "--instead-of", "alice")],
        "key revoked": [("revoke", "alice"), ("trust", "bob")],
        "threshold": [("trust", "carol"), ("threshold", "2"), ("trust", "bob", "--instead-of", "alice"),
                      ("threshold", "1")],
        "unsigned and back": [("unsigned",), ("trust", "bob")],
    }  # fmt: skip
    for step in steps[how]:
        command(*step)
    assert {store.trust().counter for store in stores.values()} == {100}
    older = signed(bundles[1], tmp_path, "bob", counter=99)
    assert "this robot has had 100" in reasons(flash.flash(older, robots))


def test_an_older_word_on_what_is_current_does_not_lower_the_bar(bundles, robots, stores, command, tmp_path: Path):
    main(["key", "new", "alice"])
    assert command("trust", "alice") == 0
    assert all(r.ok for r in flash.flash(signed(bundles[0], tmp_path / "new", "alice", counter=100), robots))
    flash.flash(signed(bundles[0], tmp_path / "old", "alice", counter=50), robots)
    between = signed(bundles[1], tmp_path, "alice", counter=60)
    assert "this robot has had 100" in reasons(flash.flash(between, robots))
    assert {store.state().current for store in stores.values()} == {bundles[0].id}
