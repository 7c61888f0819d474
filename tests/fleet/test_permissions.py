"""Nobody but its owner writes a robot's folder, holds its lock, or changes a bundle by another name of its file."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.fleet import flash, look
from robomarl.fleet.store import InstalledBundles
from tests.core.bundle.sealing import copy, reseal
from tests.fleet.signing import reasons, signed, trusting

FLASHED = """
import os, sys
from pathlib import Path
os.umask(0)
from robomarl.fleet import flash
from robomarl.core.bundle.bundle import load_bundle
from tests.fleet.conftest import folder_robots
robots = folder_robots(Path(sys.argv[1]) / "deep" / "er", 1)
assert all(r.ok for r in flash.flash(load_bundle(sys.argv[2]), robots))
robots["robot_0"].lock()
robots["robot_0"].call("trust", name="alice", key="A" * 43 + "=")
robots["robot_0"].close()
"""


def test_a_umask_of_nothing_opens_nothing(bundles, tmp_path: Path, root: Path):
    command = [sys.executable, "-c", FLASHED, str(tmp_path), str(bundles[0].folder)]
    subprocess.run(command, check=True, cwd=root)
    made = [tmp_path / "deep", *(tmp_path / "deep").rglob("*")]
    assert {p.name for p in made} >= {"er", "robot_0", "bundles", "policy.onnx", "journal.jsonl", "trust.json", "lock"}
    writable = [p for p in made if p.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)]
    assert not writable
    (lock,) = (p for p in made if p.name == "lock")
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_a_lock_that_others_could_read_is_closed(stores):
    store = stores["robot_0"]
    store.root.mkdir()
    (store.root / "lock").touch(0o644)
    with store.lock():
        assert stat.S_IMODE((store.root / "lock").stat().st_mode) == 0o600


def test_a_bundle_with_another_name_elsewhere_is_refused_and_mended(bundles, robots, stores, tmp_path: Path):
    flash.flash(bundles[0], robots)
    store = stores["robot_1"]
    os.link(store.folder(bundles[0].id) / "policy.onnx", tmp_path / "elsewhere")
    with pytest.raises(UserError, match="policy.onnx has another name elsewhere .*flash it again"):
        store.current()
    assert [r.ok for r in look.verify(robots)] == [True, False, True]
    assert all(r.ok for r in flash.flash(bundles[0], robots))
    assert store.current().id == bundles[0].id and (tmp_path / "elsewhere").stat().st_nlink == 1


def as_version_1(data: dict, keep: tuple[str, ...] = ()) -> None:
    new = ("sim_hz", "radio", "randomization", "roles", "neighbour_order", "conventions", "actions_seen", "experts")
    for key in {*new, "decision_hz", "inner_loop"} - set(keep):
        data.pop(key, None)
    data["schema_version"] = 1


def test_a_newer_bundle_is_no_version_1_because_it_says_so(bundles, tmp_path: Path):
    folder = copy(bundles[0].folder, tmp_path)
    reseal(folder, lambda data: as_version_1(data, keep=("radio",)))
    with pytest.raises(UserError, match=r"is not of schema_version 1 as it says \('radio' is of version 2\)"):
        load_bundle(folder)


def test_a_signed_robot_takes_nothing_in_which_things_are_left_unsaid(
    robots, stores, bundles, own_keys, tmp_path: Path
):
    """Conventions and what the actions were: who drops them has to say so by name, to a robot that takes anything."""
    from robomarl.fleet.trust.policy import write_trust

    folder = copy(bundles[0].folder, tmp_path)
    reseal(folder, as_version_1)
    assert all(r.ok for r in flash.flash(load_bundle(folder), robots))
    trust = trusting("alice")
    for store in stores.values():
        write_trust(store.root, trust)
    reports = flash.flash(signed(load_bundle(folder), tmp_path, "alice"), robots)
    assert not any(r.ok for r in reports) and "is of schema_version 1, which leaves to its reader" in reasons(reports)
    good = signed(bundles[0], tmp_path / "good", "alice")
    assert all(r.ok for r in flash.flash(good, robots))
    assert stores["robot_0"].state() == InstalledBundles(good.id, load_bundle(folder).id)
