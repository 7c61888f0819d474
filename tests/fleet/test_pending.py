"""All or none, always: a switch that nobody confirmed is undone by whoever looks next."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.fleet import flash, look
from robomarl.fleet.disk import sync_folder
from robomarl.fleet.pipe import BrokenLinkError
from robomarl.fleet.pointer import Pointer
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.ros.io.robot_folder import RobotFolder
from robomarl.ros.robot.startup import flashed_bundle
from tests.fleet.conftest import folder_robots

A, B, C = "a" * 64, "b" * 64, "c" * 64
DIE = """
import os, signal, sys
from pathlib import Path
from robomarl.fleet.store import InstalledBundles, Store
store = Store(Path(sys.argv[1]))
with store.lock("operator"):
    store.begin(InstalledBundles(sys.argv[2], store.state().current))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def die_after_switch(store: Store, bundle_id: str) -> None:
    """A power cut between a robot's rename and its answer: a process of its own is killed there."""
    done = subprocess.run([sys.executable, "-c", DIE, str(store.root), bundle_id])
    assert done.returncode == -signal.SIGKILL
    assert store.state().current == bundle_id and store.state().pending is not None


@pytest.mark.parametrize("contact", ["status", "rollback", "flash", "node"])
@pytest.mark.parametrize("flown", [True, False])
def test_a_power_cut_after_the_switch_is_undone_at_the_next_contact(bundles, robots, stores, contact: str, flown: bool):
    first, second = bundles
    if flown:
        flash.flash(first, robots)
    store = stores["robot_1"]
    with store.lock():
        store.add(second.id, second.files)
    before = store.state()
    die_after_switch(store, second.id)
    if contact == "status":
        assert {r.current for r in look.status(robots)} == {before.current}
    elif contact == "rollback":
        flash.rollback(robots)
    elif contact == "flash":
        assert all(r.ok for r in flash.flash(second, robots))
        assert {r.state() for r in robots.values()} == {InstalledBundles(second.id, before.current)}
        return
    elif flown:
        assert flashed_bundle(store.root).id == first.id
    else:
        with pytest.raises(UserError, match="no bundle is flashed"):
            flashed_bundle(store.root)
    assert store.state() == before
    last = store.journal.read()[-1]
    assert (last.action, last.before, last.after) == ("undo", second.id, before.current)


def test_a_node_does_not_fly_what_is_not_confirmed(bundles, robots, stores):
    first, second = bundles
    flash.flash(first, robots)
    store, folder = stores["robot_0"], RobotFolder(str(stores["robot_0"].root), first.id, True)
    assert folder.problem() == ""
    with store.lock("operator"):
        store.add(second.id, second.files)
        store.begin(InstalledBundles(second.id, first.id))
        with pytest.raises(UserError, match="is being flashed now"):
            flashed_bundle(store.root)
        late = RobotFolder(str(store.root), second.id, True)
        assert "has not ended" in late.problem() and "has not ended" in folder.problem()
        store.pointer.confirm()
    assert flashed_bundle(store.root).id == second.id and late.problem() == ""


class Full:
    """A disk without room: from now on no file takes a byte."""

    def __init__(self, folder: Path) -> None:
        self.filler = folder / "filler"
        with self.filler.open("wb", buffering=0) as stream:  # a buffer would be written once more, at its close
            try:
                while True:
                    stream.write(bytes(2**16))
            except OSError:
                pass
        with pytest.raises(OSError):
            (folder / "more").write_bytes(bytes(2**16))


@pytest.fixture
def small_disk(tmp_path: Path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a small tmpfs is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.mark.parametrize("end", ["undo", "close", "confirm", "next contact"])
def test_a_disk_that_is_full_after_the_switch_keeps_nobody_from_its_end(bundles, small_disk: Path, end: str):
    first, second = bundles
    robots = folder_robots(small_disk, 1)
    robot, store = robots["robot_0"], Store(small_disk / "robot_0")
    with store.lock():
        for bundle in bundles:
            store.add(bundle.id, bundle.files)
        store.switch(InstalledBundles(first.id))
    if end == "next contact":
        die_after_switch(store, second.id)
        Full(small_disk)
        assert look.status(robots)[0].current == first.id
    else:
        robot.hello()
        robot.lock()
        assert robot.check(second.id)["ok"]
        robot.switch("flash", InstalledBundles(second.id, first.id))
        Full(small_disk)
        {"undo": lambda: robot.undo("another failed"), "close": robot.close, "confirm": robot.confirm}[end]()
        robot.close()
    after = InstalledBundles(second.id, first.id) if end == "confirm" else InstalledBundles(first.id)
    assert store.state() == after


def test_a_robot_that_lost_its_confirmation_follows(bundles, robots, monkeypatch: pytest.MonkeyPatch):
    """Its link froze exactly then: it goes back by itself, the others stay; the report says what is true afterwards."""
    flash.flash(bundles[0], robots)
    honest, lost = Robot.confirm, []

    def confirm(self: Robot) -> None:
        if self.name == "robot_1" and not lost:
            lost.append(self.name)
            raise BrokenLinkError("robot_1: does not answer in time.")
        honest(self)

    monkeypatch.setattr(Robot, "confirm", confirm)
    reports = flash.flash(bundles[1], robots)
    assert {r.current for r in reports} == {bundles[1].id} and all(r.ok for r in reports)
    assert "switched at the second try: robot_1: does not answer" in reports[1].reason
    assert {r.state() for r in robots.values()} == {InstalledBundles(bundles[1].id, bundles[0].id)}


def test_the_report_waits_until_a_robot_has_gone_back(bundles, robots, stores, monkeypatch: pytest.MonkeyPatch):
    """Who served the old connection still has the lock, and goes back a little later."""
    flash.flash(bundles[0], robots)
    store = stores["robot_1"]
    ready = store.root / "held"
    code = DIE.replace("os.kill(os.getpid(), signal.SIGKILL)", "Path(sys.argv[3]).touch(); import time; time.sleep(3)")

    def switch(self: Robot, action: str, state: InstalledBundles) -> None:
        if self.name != "robot_1":
            return honest(self, action, state)
        self.close()
        words = [sys.executable, "-c", code, str(store.root), bundles[1].id, str(ready)]
        held.append(subprocess.Popen(words))
        while not ready.exists():
            time.sleep(0.02)
        raise BrokenLinkError("robot_1: does not answer in time.")

    honest, held = Robot.switch, []
    monkeypatch.setattr(Robot, "switch", switch)
    reports = flash.flash(bundles[1], robots)
    held[0].wait()
    assert {r.current for r in reports} == {bundles[0].id} and not any(r.ok for r in reports)
    assert {s.state().current for s in stores.values()} == {bundles[0].id}


@pytest.mark.parametrize("content", ["", "[]", '{"id": "../../etc", "previous": null}', "{"])
def test_a_damaged_pointer_is_set_aside_by_the_next_flash(bundles, robots, stores, content: str):
    store = stores["robot_2"]
    store.root.mkdir()
    (store.root / "current").write_text(content)
    assert not look.status(robots)[2].ok
    assert all(r.ok for r in flash.flash(bundles[0], robots))
    assert (store.root / "current.damaged").read_text() == content


def test_what_is_no_id_never_becomes_current(bundles, robots):
    robot = robots["robot_0"]
    robot.lock()
    robot.add(bundles[0])
    assert robot.check(bundles[0].id)["ok"]
    with pytest.raises(UserError, match="is no bundle id"):
        robot.switch("flash", InstalledBundles(bundles[0].id, "../../etc"))
    robot.close()
    assert robot.state() == InstalledBundles()


CUT = """
import os, signal, sys
from pathlib import Path
from robomarl.fleet import disk, pointer
left = [int(sys.argv[2])]
def dying(call):
    def run(*args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return run
for owner, names in ((os, ("fsync",)), (Path, ("rename", "unlink", "chmod", "open"))):
    for name in names:
        setattr(owner, name, dying(getattr(owner, name)))
here = pointer.Pointer(Path(sys.argv[1]))
here.begin(pointer.InstalledBundles("b" * 64, "a" * 64))
if sys.argv[3] != "begin":
    getattr(here, sys.argv[3])()
"""


@pytest.mark.parametrize("end", ["confirm", "undo"])
def test_a_kill_between_any_two_steps_leaves_the_old_or_the_new(end: str, tmp_path: Path):
    old, new = InstalledBundles(A, C), InstalledBundles(B, A)
    seen = set()
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        here = Pointer(folder)
        here.switch(old)
        done = subprocess.run([sys.executable, "-c", CUT, str(folder), str(step), end])
        found = here.read()
        assert found in (old, new, InstalledBundles(B, A, pending=old)), f"step {step}"
        seen.add(found)
        if found.pending is not None:
            here.undo()
            assert here.read() == old
        here.begin(InstalledBundles(C, found.current))
        here.confirm()
        assert here.read() == InstalledBundles(C, found.current), "the next switch works"
        sync_folder(folder)
        if done.returncode == 0:
            break
    assert done.returncode == 0 and step > 10
    assert seen == (
        {old, new, InstalledBundles(B, A, pending=old)}
        if end == "confirm"
        else {old, InstalledBundles(B, A, pending=old)}
    )
