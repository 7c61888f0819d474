"""An operator who dies while he tells the robots to stay, one by one: the next look brings all to one bundle."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.fleet import flash, look, requests
from robomarl.fleet.checks.verdict import Verdict
from robomarl.fleet.evidence.journal import LEFT
from robomarl.fleet.health import judge
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import InstalledBundles, Store
from tests.fleet.crashes import hash_check

OPERATOR = """
import os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from robomarl.fleet import change, flash
from robomarl.fleet.robot import Robot
from robomarl.core.bundle.bundle import load_bundle
from tests.fleet.conftest import folder_robots
from tests.fleet.crashes import check_hashes_only
check_hashes_only()
left, honest = [int(sys.argv[3])], Robot.confirm
def confirm(self):
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    honest(self)
Robot.confirm = confirm
change.ThreadPoolExecutor = lambda workers: ThreadPoolExecutor(1)
robots = folder_robots(Path(sys.argv[1]))
flash.rollback(robots) if sys.argv[2] == "rollback" else flash.flash(load_bundle(sys.argv[2]), robots)
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "check", hash_check)
    monkeypatch.setattr(requests, "prepare_verify", lambda: None)
    monkeypatch.setattr(judge, "start_bundle", lambda folder: Verdict(folder.name, True, ()))


def die_after(told: int, folder: Path, root: Path, what: str) -> None:
    """Flash, or roll back, in a process that is killed when it has told so many of three robots to stay."""
    words = [sys.executable, "-c", OPERATOR, str(folder), what, str(told)]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize("told", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_team_has_one_bundle_after_the_next_look(bundles, robots, stores, root: Path, tmp_path: Path, told: int):
    first, second = bundles
    assert all(r.ok for r in flash.flash(first, robots))
    die_after(told, tmp_path, root, str(second.folder))
    reports = look.status(robots)
    expected = InstalledBundles(second.id, first.id) if told else InstalledBundles(first.id)
    assert all(r.ok for r in reports) and {r.current for r in reports} == {expected.current}
    assert {store.state() for store in stores.values()} == {expected}
    ended = [r.name for r in reports if "switched now" in r.reason]
    assert ended == (["robot_1", "robot_2"][told - 1 :] if told else [])
    actions = [e.action for e in stores["robot_2"].journal.read() if e.result.startswith("ok")]
    assert actions == (["flash", "flash", "undo", "finish"] if told else ["flash", "flash", "undo"])
    assert not any(r.reason for r in look.status(robots)), "once is enough"
    assert all(r.ok for r in flash.rollback(robots)) == bool(told)


def test_a_rollback_is_brought_to_its_end_as_well(bundles, robots, stores, root: Path, tmp_path: Path):
    first, second = bundles
    for bundle in bundles:
        assert all(r.ok for r in flash.flash(bundle, robots))
    die_after(1, tmp_path, root, "rollback")
    assert all(r.ok for r in look.status(robots))
    assert {store.state() for store in stores.values()} == {InstalledBundles(first.id, second.id)}


def test_who_can_not_follow_stays_and_says_why(bundles, robots, stores, root: Path, tmp_path: Path):
    first, second = bundles
    flash.flash(first, robots)
    die_after(1, tmp_path, root, str(second.folder))
    weights = stores["robot_2"].folder(second.id) / "policy.onnx"
    weights.chmod(0o644)
    weights.write_bytes(b"damaged")
    reports = look.status(robots)
    assert [r.current for r in reports] == [second.id, first.id, first.id], "both that are behind follow, or none"
    assert all(f"is to have {second.id[:12]} like the others" in r.reason for r in reports[1:])
    assert "policy.onnx" in reports[2].reason
    assert all(r.ok for r in flash.flash(second, robots))


def test_who_went_back_because_another_one_failed_stays_back(bundles, robots, stores, monkeypatch: pytest.MonkeyPatch):
    first, second = bundles
    flash.flash(first, robots)
    honest = Robot.switch

    def switch(self: Robot, action: str, state: InstalledBundles) -> None:
        if self.name == "robot_1":
            raise UserError("robot_1: no.")
        honest(self, action, state)

    monkeypatch.setattr(Robot, "switch", switch)
    assert not any(r.ok for r in flash.flash(second, robots))
    monkeypatch.undo()
    one = {"robot_1": robots["robot_1"]}
    assert all(r.ok for r in flash.flash(second, one)), "somebody flashes one robot alone"
    assert [r.current for r in look.status(robots)] == [first.id, second.id, first.id]


def test_nobody_says_that_a_bundle_was_checked_but_the_robot(bundles, robots, stores):
    """Neither who sets it up, nor who writes into its journal."""
    flash.flash(bundles[0], robots)
    robot, store = robots["robot_0"], stores["robot_0"]
    before = robot.call("state")["verified"]
    robot.lock()
    robot.call("profile", name="robot_0")
    with pytest.raises(UserError, match="is not ok because an operator says so"):
        robot.note("verify", bundles[0].id, "ok")
    with pytest.raises(UserError, match="is not ok because an operator says so"):
        robot.note("flash", bundles[0].id, "ok")
    robot.note("x" * 10**6, bundles[0].id, "y" * 10**6)
    assert robot.call("state")["verified"] == before != ""
    assert len(json.dumps(robot.call("log", count=1))) < 2000
    robot.close()
    assert look.verify(robots)[0].ok
    assert robot.call("state")["verified"] > before
    robot.close()
    assert LEFT not in "".join(e.result for e in store.journal.read())
