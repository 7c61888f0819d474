"""A disk that is full, and robots in network namespaces of their own that go away in the middle of a transfer."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet import flash, pipe, preflight
from robomarl.fleet.robot import Robot, connect_all
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.fleet.transport import FolderTransport
from tests.core.bundle.sealing import copy, reseal
from tests.fleet.sshd import Server, fleet_text, interpreter, serve
from tests.fleet.test_ssh import QUICK

NETNS = f"robomarl{os.getpid()}"
HERE, THERE = "10.213.77.1", "10.213.77.2"


def sh(*words: str) -> bool:
    return subprocess.run(words, capture_output=True).returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or not sh("mount", "-t", "tmpfs", "-o", "size=900k", "tmpfs", str(folder)):
        pytest.skip("mounting a small tmpfs is not permitted here")
    yield folder
    sh("umount", "-l", str(folder))


def test_a_full_disk_is_found_before_anything_is_sent(bundles, small_disk: Path, tmp_path: Path):
    places = {"robot_0": tmp_path / "robot_0", "robot_1": small_disk / "robot_1"}
    robots = {name: Robot(name, FolderTransport(place), "crazyflie_21") for name, place in places.items()}
    reports = flash.flash(bundles[0], robots)
    assert "disk: 0.9 MiB free" in reports[1].reason and "fleet prune" in reports[1].reason
    assert not (small_disk / "robot_1").exists() and robots["robot_0"].state() == InstalledBundles()


def test_a_disk_that_fills_up_on_the_way_leaves_all_as_they_were(bundles, small_disk: Path, monkeypatch):
    """Preflight is told that there is room; then there is none, at every size of what is left."""
    monkeypatch.setattr(preflight, "SPARE_BYTES", -(2**30))
    monkeypatch.setattr(preflight, "COPIES", 0)
    robots = {"robot_0": Robot("robot_0", FolderTransport(small_disk / "robot_0"), "crazyflie_21")}
    store = Store(small_disk / "robot_0")
    assert all(r.ok for r in flash.flash(bundles[0], robots))
    failed = 0
    for left in range(0, 300, 20):
        filler = small_disk / "filler"
        room = shutil.disk_usage(small_disk).free - left * 1024
        filler.write_bytes(b"x" * max(0, room))
        reports = flash.flash(bundles[1], robots)
        filler.unlink()
        if not reports[0].ok:
            failed += 1
            assert "No space left on device" in reports[0].reason
            assert store.current().id == bundles[0].id and not (store.root / "staging").exists()
        else:
            assert all(r.ok for r in flash.rollback(robots))
            with store.lock():
                store.switch(InstalledBundles(bundles[0].id))
                store.prune()
    assert failed >= 5
    assert all(r.ok for r in flash.flash(bundles[1], robots)) and store.current().id == bundles[1].id


@pytest.fixture
def far_server(tmp_path: Path) -> Iterator[Server]:
    """An sshd in a network namespace, at the other end of a pair of interfaces."""
    if os.geteuid() != 0 or not sh("ip", "netns", "add", NETNS):
        pytest.skip("network namespaces are not permitted here")
    try:
        made = (
            sh("ip", "link", "add", "rm0", "type", "veth", "peer", "name", "rm1", "netns", NETNS)
            and sh("ip", "addr", "add", f"{HERE}/30", "dev", "rm0")
            and sh("ip", "link", "set", "rm0", "up")
            and sh("ip", "-n", NETNS, "addr", "add", f"{THERE}/30", "dev", "rm1")
            and sh("ip", "-n", NETNS, "link", "set", "rm1", "up")
        )
        if not made:
            pytest.skip("pairs of network interfaces are not permitted here")
        with serve(tmp_path / "far_sshd", THERE, NETNS) as running:
            yield running
    finally:
        sh("ip", "link", "del", "rm0")
        sh("ip", "netns", "del", NETNS)


@pytest.fixture
def large(bundles, tmp_path: Path) -> Bundle:
    """A bundle that takes a while to send over a slow link."""
    folder = copy(bundles[1].folder, tmp_path / "large")
    (folder / "weights.npz").write_bytes(os.urandom(8 * 2**20))
    reseal(folder)
    return load_bundle(folder)


def test_a_robot_that_goes_away_in_the_middle_of_a_transfer(
    far_server: Server, bundles, large: Bundle, root: Path, tmp_path: Path, monkeypatch
):
    """Its link goes down while megabytes are on their way; the near robot does not switch, the far one is whole."""
    monkeypatch.setattr(pipe, "STALL_S", 4.0)
    python = interpreter(tmp_path / "python", root, QUICK)
    file = tmp_path / "team.yaml"
    near = f"  - {{name: near, index: 1, folder: {tmp_path}/near}}\n"
    file.write_text(fleet_text(far_server, tmp_path, [python]) + near)
    fleet = load_fleet(str(file))
    assert all(r.ok for r in flash.flash(bundles[0], connect_all(fleet, tmp_path)))
    sh("tc", "qdisc", "add", "dev", "rm0", "root", "tbf", "rate", "8mbit", "burst", "32k", "latency", "400ms")
    far, begun = Store(tmp_path / "robot_0"), threading.Event()

    def cut() -> None:
        begun.wait(60)
        time.sleep(1.0)
        sh("ip", "link", "set", "rm0", "down")

    cutter = threading.Thread(target=cut)
    cutter.start()
    watch = lambda name, step: begun.set() if (name, step) == ("robot_0", "stage") else None  # noqa: E731
    reports = {r.name: r for r in flash.flash(large, connect_all(fleet, tmp_path), watch)}
    cutter.join()
    if reports["robot_0"].ok:
        pytest.skip("the transfer was over before the link went down: no tc here to slow it")
    assert not reports["near"].ok and reports["near"].current == bundles[0].id
    assert far.current().id == bundles[0].id
    sh("tc", "qdisc", "del", "dev", "rm0", "root")
    sh("ip", "link", "set", "rm0", "up")
    deadline = time.monotonic() + 40
    while far.holder() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert far.holder() == "", "the robot noticed that the operator is gone"
    assert all(r.ok for r in flash.flash(large, connect_all(fleet, tmp_path))), "the next flash works"
