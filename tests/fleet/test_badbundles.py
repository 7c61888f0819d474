"""No bad bundle gets anywhere: not past the operator's machine, not past the robot, never into the air."""

import itertools
import random
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.fleet import flash
from robomarl.fleet.requests import OperatorSession
from robomarl.fleet.store import InstalledBundles, Store
from tests.fleet.badbundles import BEHAVIOUR, KINDS, as_sent, make
from tests.fleet.conftest import folder_robots

REASONS = {
    "truncated": r"is not the file that was sealed|not valid JSON|seal is missing",
    "bit_flipped": r"is not the file that was sealed|not valid JSON|was changed after|seal is missing|newer",
    "renamed": r"is missing|must come behind|is not known|in the bundle and|does not belong|reads differs|not a bundle",
    "reordered": r"in the bundle and|must come behind|is off by|golden.npz|must be in",
    "oversized": r"over 64 MiB",
    "zip_slip": r"outside the bundle's folder",
    "symlinked": r"is a link",
    "newer_schema": r"is newer than 2, which this robomarl reads",
    "wrong_vehicle": r"is for .*(this robot is a|the robots)|is a crazyflie_21, the bundle is for",
    "wrong_rate": r"does not fit safety.period_s|is not the scenario's policy_hz|too large for a period",
    "nan_weights": r"has a weight that is (nan|inf|-inf)",
    "lost_scale": r"action .* is off by",
}


def refused_here(path: Path, robots) -> str:
    """What the operator is told; nothing may be switched."""
    try:
        reports = flash.flash(load_bundle(path), robots)
    except UserError as error:
        return str(error)
    assert not any(r.ok or r.current for r in reports), f"{path}: flashed"
    return reports[0].reason


def refused_there(path: Path, root: Path) -> bool:
    """Send a robot the files without looking; whether it refuses before it tries what the bundle does."""
    robot = OperatorSession(Store(root))
    robot.lock()
    robot.profile(name="robot_0", vehicle="crazyflie_21")
    files = as_sent(path)
    sizes = [[name, len(content)] for name, content in files.items()]
    guess = "0" * 64
    try:
        guess = load_bundle(path).id
    except UserError:
        pass
    try:
        robot.handle("add", {"id": guess, "files": sizes}, b"".join(files.values()))
        verdict = robot.handle("check", {"id": guess})
        assert not verdict["ok"]
        return False
    except UserError:
        return True
    finally:
        with pytest.raises(UserError, match="was not checked; nothing was switched"):
            robot.handle("switch", {"action": "flash", "current": guess, "previous": None})
        assert robot.store.state() == InstalledBundles()
        robot.close()


def campaign(count: int, sound: Path, tmp_path: Path) -> Counter:
    rng, seen = random.Random(count), Counter()
    for i, kind in zip(range(count), itertools.cycle(KINDS), strict=False):
        folder = tmp_path / "case" / f"{kind}_{i}"
        path = make(kind, sound, folder, rng)
        robots = folder_robots(tmp_path / "robots", 1)
        reason = refused_here(path, robots)
        assert re.search(REASONS[kind], reason), f"case {i}, {kind}: {reason}"
        assert reason.count("\n") == 0 and len(reason) < 600
        assert refused_there(path, tmp_path / "robot") or kind in BEHAVIOUR, f"case {i}, {kind}: a network was opened"
        shutil.rmtree(tmp_path / "case")
        assert set(p.name for p in tmp_path.iterdir()) <= {"robot", "robots"}, "something was written elsewhere"
        seen[kind] += 1
    return seen


def test_every_kind_of_bad_bundle_is_refused(bundles, tmp_path: Path):
    seen = campaign(2 * len(KINDS), bundles[0].folder, tmp_path)
    assert min(seen[kind] for kind in KINDS) == 2


@pytest.mark.slow
def test_ten_thousand_bad_bundles_are_refused(bundles, tmp_path: Path):
    campaign(10_000, bundles[0].folder, tmp_path)


def test_a_sound_bundle_passes_the_same_gate(bundles, tmp_path: Path):
    """Otherwise the campaign would prove nothing."""
    assert all(r.ok for r in flash.flash(bundles[0], folder_robots(tmp_path, 1)))
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", bundles[0].folder)
    assert load_bundle(packed).id == bundles[0].id


def test_names_that_leave_the_folder_are_refused_by_the_robot(bundles, tmp_path: Path):
    robot = OperatorSession(Store(tmp_path / "robot"))
    robot.lock()
    for name in ("../x", "/etc/x", "a/../../x", "", ".", "..", "a//b", "a\\b", "c:x", "x\0y", "-", "a/b/c/d/e", ".ssh"):
        if name == "-":
            continue
        with pytest.raises(UserError, match="can't be a file of a bundle"):
            robot.handle("add", {"id": bundles[0].id, "files": [[name, 1]]}, b"x")
    with pytest.raises(UserError, match="no bundle id"):
        robot.handle("add", {"id": "../x", "files": [["a", 1]]}, b"x")
    with pytest.raises(UserError, match="other sizes than announced"):
        robot.handle("add", {"id": bundles[0].id, "files": [["a", 5]]}, b"x")
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["lock", "robot"]
    robot.close()
