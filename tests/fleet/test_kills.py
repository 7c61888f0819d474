"""kill -9 of the operator's and of the robots' processes at random, over a real sshd: no robot is ever left broken."""

import fcntl
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet import flash, look
from robomarl.fleet.robot import connect_all
from robomarl.fleet.store import Store
from tests.fleet.sshd import Server, fleet_text, interpreter, serve
from tests.fleet.test_ssh import QUICK

HASTE = QUICK + "\nimport robomarl.core.bundle.bundle as b\nb.check_schema = lambda data, where: None\n"
ROBOTS = 3


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def fleet_file(server: Server, root: Path, tmp_path: Path) -> Path:
    file = tmp_path / "team.yaml"
    file.write_text(fleet_text(server, tmp_path, [interpreter(tmp_path / "python", root, HASTE)] * ROBOTS))
    return file


def onboard_processes(tmp_path: Path) -> list[int]:
    """Processes on the robots' side that serve an operator now."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"robomarl.fleet.requests" in words and any(str(tmp_path).encode() in word for word in words):
            found.append(int(folder.name))
    return found


def wait_until_free(tmp_path: Path, stores: list[Store]) -> None:
    deadline = time.monotonic() + 60
    while (onboard_processes(tmp_path) or any(s.holder() for s in stores)) and time.monotonic() < deadline:
        time.sleep(0.02)


def checked(root: Path, allowed: set[str]) -> str:
    """Id of what a robot has, by a checker of its own, which uses nothing of robomarl's."""
    said = json.loads((root / "current").read_text())
    folder = root / "bundles" / said["id"]
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    sizes = {name: {"sha256": hashlib.sha256(c).hexdigest(), "size": len(c)} for name, c in sorted(files.items())}
    whole = json.dumps(sizes, sort_keys=True, separators=(",", ":")).encode()
    assert hashlib.sha256(whole).hexdigest() == said["id"] and said["id"] in allowed
    with (root / "lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for line in (root / "journal.jsonl").read_bytes().splitlines()[-50:]:
        json.loads(line)
    return said["id"]


def kill_again_and_again(count: int, fleet_file: Path, bundles, tmp_path: Path) -> None:
    """Odd: the operator is killed; even: one of the robots' processes."""
    rng, allowed = random.Random(count), {b.id for b in bundles}
    stores = [Store(tmp_path / f"robot_{i}") for i in range(ROBOTS)]
    fleet = load_fleet(str(fleet_file))
    begin_s = time.monotonic()
    assert all(r.ok for r in flash.flash(bundles[0], connect_all(fleet, tmp_path)))
    took_s = time.monotonic() - begin_s  # on a slow machine the last steps are late: kills must come as late
    words = [str(fleet_file), *(str(b.folder) for b in bundles), "forever"]
    command = [sys.executable, "-m", "tests.fleet.operator", *words]
    mixed = 0
    for i in range(count):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdout
        if i % 4 == 0:
            process.stdout.readline()  # one whole flash; then anywhere within the next
        time.sleep(rng.uniform(0.0, 1.2 * took_s))
        if i % 2 == 0 and (there := onboard_processes(tmp_path)):
            try:
                os.kill(rng.choice(there), signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.stdout.readline()  # the operator hears of it
        process.kill()
        process.stdout.close()
        process.wait()
        wait_until_free(tmp_path, stores)
        assert all(r.ok for r in look.status(connect_all(fleet, tmp_path))), f"kill {i}"
        mixed += len({checked(store.root, allowed) for store in stores}) > 1
    print(f"{count} kills: {mixed} times the robots had different bundles after the next contact")
    assert mixed == 0
    reports = flash.flash(bundles[1], connect_all(fleet, tmp_path))
    assert all(r.ok for r in reports), reports


@pytest.mark.slow
def test_kills_at_random_points(fleet_file: Path, bundles, tmp_path: Path):
    kill_again_and_again(2, fleet_file, bundles, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 500])
def test_hundreds_of_kills(count: int, fleet_file: Path, bundles, tmp_path: Path):
    kill_again_and_again(count, fleet_file, bundles, tmp_path)


def test_power_cut_between_stage_and_switch(fleet_file: Path, bundles, tmp_path: Path):
    """Everything is staged and checked, then all processes of both sides are gone at once."""
    fleet = load_fleet(str(fleet_file))
    robots = connect_all(fleet, tmp_path)
    assert all(r.ok for r in flash.flash(bundles[0], robots))
    for robot in robots.values():
        robot.hello()
        robot.lock()
        robot.add(bundles[1])
        assert robot.check(bundles[1].id)["ok"]
    for process in onboard_processes(tmp_path):
        os.kill(process, signal.SIGKILL)
    for robot in robots.values():
        robot.close()
    stores = [Store(tmp_path / f"robot_{i}") for i in range(ROBOTS)]
    wait_until_free(tmp_path, stores)
    assert all(s.current().id == bundles[0].id for s in stores)
    assert all(r.ok for r in flash.flash(bundles[1], robots)), "the next flash works"
