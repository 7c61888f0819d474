"""Robots over a real sshd: the same promises as with folders, and what only a link can do wrong."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet import flash, look
from robomarl.fleet.robot import connect_all
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.front.cli import main
from tests.fleet.sshd import Server, fleet_text, interpreter, serve

QUICK = """
import robomarl.core.bundle.golden as g, robomarl.fleet.checks.verify as v
v.SECONDS = 0.01
g.check_filter = lambda contract, sequences, steps=None: g.Deviation("command", "none", 0.0, 0.0, "nowhere")
"""
"""Leaves out the slowest check on the robot; `test_the_whole_job` keeps it."""
CLOCK = "import time as t; now = t.time; t.time = lambda: now() + 3600.0"
SLOW = (
    QUICK
    + "\nimport time, robomarl.fleet.store as s; check = s.Store.check\n"
    + ("def late(self, *a, **k):\n    time.sleep(60)\n    return check(self, *a, **k)\ns.Store.check = late\n")
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def python(tmp_path: Path, root: Path) -> str:
    return interpreter(tmp_path / "python", root, QUICK)


def team(server: Server, tmp_path: Path, python: list[str], hosts: list[str] | None = None) -> Path:
    file = tmp_path / "team.yaml"
    file.write_text(fleet_text(server, tmp_path, python, hosts))
    return file


def stores(tmp_path: Path, count: int) -> list[Store]:
    return [Store(tmp_path / f"robot_{i}") for i in range(count)]


def test_the_whole_job(server: Server, bundles, python: str, root: Path, tmp_path: Path):
    """From the command line: flash, look, flash another, go back. One robot makes every check."""
    first, second = bundles
    file = team(server, tmp_path, [interpreter(tmp_path / "whole", root), *[python] * 3])
    figures = tmp_path / "figures.json"
    for bundle in (first, second):
        assert main(["flash", str(bundle.folder), str(file), "--json", str(figures)]) == 0
        said = json.loads(figures.read_text())
        assert all(r["ok"] and r["current"] == bundle.id for r in said["robots"])
        assert all(0 < r["latency_p50_us"] < 10_000 for r in said["robots"])
    assert {s.state() for s in stores(tmp_path, 4)} == {InstalledBundles(second.id, first.id)}
    for action in ("status", "verify", "rollback", "log"):
        assert main(["fleet", action, str(file), "--json", str(figures)]) == 0
    assert {s.state() for s in stores(tmp_path, 4)} == {InstalledBundles(first.id, second.id)}
    assert all(s.current().id == first.id for s in stores(tmp_path, 4))


def test_an_unreachable_robot_of_six_stops_all(server: Server, bundles, python: str, tmp_path: Path):
    hosts = [f"robot_{i}" for i in range(5)] + ["away"]
    robots = connect_all(load_fleet(str(team(server, tmp_path, [python] * 6, hosts))), tmp_path)
    # A bundle for four: `flash` itself does not count robots, the command does.
    reports = {r.name: r for r in flash.flash(bundles[0], robots)}
    assert "Connection refused" in reports["robot_5"].reason and "robot_5 (away)" in reports["robot_5"].reason
    assert reports["robot_0"].reason == "not switched, because robot_5 failed."
    assert all(s.state() == InstalledBundles() for s in stores(tmp_path, 5))
    found = {r.name: r for r in look.status(robots)}
    assert not found["robot_5"].ok and all(found[f"robot_{i}"].ok for i in range(5))
    assert all(s.holder() == "" for s in stores(tmp_path, 5)), "no robot stays locked"


def test_a_wrong_clock_stops_all(server: Server, bundles, python: str, root: Path, tmp_path: Path):
    wrong = interpreter(tmp_path / "late", root, QUICK + CLOCK)
    robots = connect_all(load_fleet(str(team(server, tmp_path, [python, wrong]))), tmp_path)
    reports = flash.flash(bundles[0], robots)
    assert "its clock is off by 3600" in reports[1].reason and not any(r.ok for r in reports)
    assert all(s.state() == InstalledBundles() for s in stores(tmp_path, 2))


def test_a_slow_robot_stops_all_and_keeps_nobody_waiting(
    server: Server, bundles, python: str, root: Path, tmp_path: Path, monkeypatch
):
    from robomarl.fleet import robot

    monkeypatch.setattr(robot, "CHECK_S", 5.0)
    slow = interpreter(tmp_path / "slow", root, SLOW)
    robots = connect_all(load_fleet(str(team(server, tmp_path, [python, slow]))), tmp_path)
    reports = flash.flash(bundles[0], robots)
    assert "does not answer in time" in reports[1].reason and not any(r.ok for r in reports)
    assert all(s.state() == InstalledBundles() for s in stores(tmp_path, 2))


def test_a_robot_without_robomarl_says_how_to_get_it(server: Server, bundles, tmp_path: Path):
    robots = connect_all(load_fleet(str(team(server, tmp_path, ["/nowhere/python"]))), tmp_path)
    assert "run `robomarl fleet setup`" in flash.flash(bundles[0], robots)[0].reason


def test_two_operators_at_once(server: Server, bundles, python: str, tmp_path: Path):
    """Each robot has one bundle in the end, the same; an operator who comes second is told who was first."""
    fleet = load_fleet(str(team(server, tmp_path, [python] * 3)))
    results: dict[int, list] = {}

    def operate(i: int) -> None:
        results[i] = flash.flash(bundles[i], connect_all(fleet, tmp_path))

    threads = [threading.Thread(target=operate, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    states = {s.state().current for s in stores(tmp_path, 3)}
    winners = [i for i in results if all(r.ok for r in results[i])]
    losers = [r.reason for i in results for r in results[i] if i not in winners]
    assert len(states) == 1
    assert states == ({bundles[winners[-1]].id} if len(winners) == 1 else states)
    assert len(winners) == 2 or any("has it now" in reason for reason in losers)


def test_a_dead_link_lets_go_of_the_robot(server: Server, bundles, python: str, tmp_path: Path):
    """The operator's ssh is killed between the switch and its confirmation: the robot goes back and is free."""
    robot = connect_all(load_fleet(str(team(server, tmp_path, [python]))), tmp_path)["robot_0"]
    store = stores(tmp_path, 1)[0]
    assert all(r.ok for r in flash.flash(bundles[0], {"robot_0": robot}))
    robot.hello()
    robot.lock()
    robot.add(bundles[1])
    assert robot.check(bundles[1].id)["ok"]
    robot.switch("flash", InstalledBundles(bundles[1].id, bundles[0].id))
    assert store.state().current == bundles[1].id and store.holder()
    os.kill(robot._transport._link._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    deadline = time.monotonic() + 30
    while store.holder() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert store.state() == InstalledBundles(bundles[0].id) and store.holder() == ""
    robot.close()


def test_ssh_itself_gets_no_way_to_ask(server: Server, python: str, tmp_path: Path):
    """A host key that has changed is refused, not asked about."""
    file = team(server, tmp_path, [python])
    other = tmp_path / "ssh_config"
    empty = tmp_path / "known_hosts"
    empty.write_text("")
    other.write_text(server.config.read_text().replace(f"{server.folder}/known_hosts", str(empty)))
    file.write_text(file.read_text().replace(str(server.config), str(other)))
    found = look.status(connect_all(load_fleet(str(file)), tmp_path))[0]
    assert not found.ok and "Host key verification failed" in found.reason
