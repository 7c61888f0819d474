"""Twelve robots over a real sshd: side by side, all or none; what is told of one that dies or freezes in any step."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet import change, flash, look, robot
from robomarl.fleet.robot import connect_all
from robomarl.fleet.store import InstalledBundles, Store
from tests.fleet.sshd import Server, fleet_text, interpreter, serve
from tests.fleet.test_kills import HASTE, onboard_processes

ROBOTS, BAD = 12, "robot_7"
ENDING = """
import os, signal, robomarl.fleet.requests as requests
handle = requests.OperatorSession.handle
def ended(self, op, args, payload=b""):
    if op == "{op}" and os.path.exists("{mark}"):
        os.unlink("{mark}")
        os.kill(os.getpid(), signal.{signal})
    return handle(self, op, args, payload)
requests.OperatorSession.handle = ended
"""
"""A robot whose process gets a signal as it begins a request, once. Its import makes Python warn, as real ones did."""


@pytest.fixture(autouse=True)
def any_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve robots share two cores here."""
    monkeypatch.setattr(change, "SLOWEST_SHARE", 100.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("sshd")) as running:
        yield running


class Team:
    """Robots of one sshd, of which one may be ended in a request."""

    def __init__(self, server: Server, folder: Path, root: Path, count: int) -> None:
        self.server, self.folder, self.root, self.count = server, folder, root, count
        self.names = [f"robot_{i}" for i in range(count)]
        self.python = interpreter(folder / "python", root, HASTE)
        self.stores = {name: Store(folder / name) for name in self.names}

    def robots(self, bad: str = "", op: str = "", how: str = "SIGKILL") -> dict:
        words = [self.python] * self.count
        if bad:
            mark = self.folder / "to end"
            mark.touch()
            ending = HASTE + ENDING.format(op=op, mark=mark, signal=how)
            words[self.names.index(bad)] = interpreter(self.folder / "ending", self.root, ending)
        file = self.folder / "team.yaml"
        file.write_text(fleet_text(self.server, self.folder, words))
        return connect_all(load_fleet(str(file)), self.folder)

    def has(self) -> set[InstalledBundles]:
        return {store.state() for store in self.stores.values()}


def test_twelve_robots_of_which_one_dies_in_the_switch_stay_as_they_were(
    server: Server, bundles, root: Path, tmp_path: Path
):
    team, seen = Team(server, tmp_path, root, ROBOTS), {}
    watch = lambda name, step: seen.setdefault(name, []).append(step)  # noqa: E731
    reports = {r.name: r for r in flash.flash(bundles[0], team.robots(BAD, "switch"), watch)}
    assert "connection lost during switch" in reports[BAD].reason and "Warning" not in reports[BAD].reason
    assert {r.reason for name, r in reports.items() if name != BAD} == {f"not switched, because {BAD} failed."}
    assert team.has() == {InstalledBundles()} and all(not s.holder() for s in team.stores.values())
    until_switch = list(flash.STEPS[: flash.STEPS.index("switch") + 1])
    assert seen.pop(BAD)[:-1] == [*until_switch, "failed"], "it could not go back either"
    assert seen == dict.fromkeys(set(team.names) - {BAD}, until_switch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "step"),
    [
        *(("ping", "connect"), ("hello", "connect"), ("admits", "preflight"), ("lock", "preflight")),
        *(("add", "stage"), ("check", "verify"), ("switch", "switch"), ("health", "health")),
    ],
)
def test_twelve_robots_of_which_one_dies_in_any_step_before_the_end_stay_as_they_were(
    server: Server, bundles, root: Path, tmp_path: Path, op: str, step: str
):
    team = Team(server, tmp_path, root, ROBOTS)
    assert all(r.ok for r in flash.flash(bundles[0], team.robots()))
    reports = {r.name: r for r in flash.flash(bundles[1], team.robots(BAD, op))}
    assert f"connection lost during {step}" in reports[BAD].reason and "Warning" not in reports[BAD].reason
    assert not any(r.ok for r in reports.values())
    assert team.has() == {InstalledBundles(bundles[0].id)} and all(not s.holder() for s in team.stores.values())
    assert all(r.ok for r in flash.flash(bundles[1], team.robots())), "the next flash works"


@pytest.mark.slow
@pytest.mark.parametrize("op", ["confirm", "state"])
def test_twelve_robots_of_which_one_dies_as_it_is_confirmed_all_switch(
    server: Server, bundles, root: Path, tmp_path: Path, op: str
):
    team = Team(server, tmp_path, root, ROBOTS)
    assert all(r.ok for r in flash.flash(bundles[0], team.robots()))
    robots = team.robots(BAD, op)
    reports = {r.name: r for r in flash.flash(bundles[1], robots)}
    if op == "confirm":
        assert "switched at the second try" in reports[BAD].reason
        assert "connection lost during confirm" in reports[BAD].reason
    assert len({(s.current, s.pending) for s in team.has()}) == 1
    assert all(r.ok for r in reports.values()) is (team.has() == {InstalledBundles(bundles[1].id, bundles[0].id)})


def test_a_robot_that_freezes_as_it_is_confirmed_is_told_as_that(
    server: Server, bundles, root: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(robot, "CONFIRM_S", 2.0)
    monkeypatch.setattr(change, "SETTLE_S", 1.0)
    team = Team(server, tmp_path, root, 2)
    reports = flash.flash(bundles[0], team.robots("robot_1", "confirm", "SIGSTOP"))
    assert "no answer to confirm within 2 s" in reports[1].reason and not reports[1].ok
    assert reports[0].ok and reports[0].current == bundles[0].id
    for process in onboard_processes(tmp_path):
        os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while team.stores["robot_1"].holder() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(r.ok for r in look.status(team.robots()))
