"""A switch is confirmed only when every robot is well on the new bundle; else the whole team goes back."""

import socket
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.fleet import flash, look
from robomarl.fleet.health.follow import LOOK_S, Follower, Turn
from robomarl.fleet.health.node_status import NodeStatus, StatusServer, read_status
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import InstalledBundles, Store
from tests.fleet.test_flash import spoil

A, B = "a" * 64, "b" * 64


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch, stores) -> list[str]:
    """Robots of these names lose a byte of their bundle just after the switch."""
    honest, names = Robot.switch, []

    def switch(self: Robot, action: str, state: InstalledBundles) -> None:
        honest(self, action, state)
        if self.name in names:
            spoil(stores[self.name], state.current or "")

    monkeypatch.setattr(Robot, "switch", switch)
    return names


def test_healthy_robots_are_confirmed_and_say_so(bundles, robots):
    assert all(r.ok and r.healthy for r in flash.flash(bundles[0], robots))
    again = flash.flash(bundles[0], robots)
    assert all(r.ok and r.healthy and r.reason == "was current already." for r in again)
    flash.flash(bundles[1], robots)
    assert all(r.ok and r.healthy for r in flash.rollback(robots))


@pytest.mark.parametrize("flown", [True, False])
def test_one_robot_that_is_not_well_takes_the_team_back(bundles, robots, stores, damaged: list[str], flown: bool):
    if flown:
        flash.flash(bundles[0], robots)
    before = InstalledBundles(bundles[0].id if flown else None)
    damaged.append("robot_1")
    reports = flash.flash(bundles[1], robots)
    assert [(r.ok, r.healthy) for r in reports] == [(False, None), (False, False), (False, None)]
    assert "robot_1: is not healthy: " in reports[1].reason and "policy.onnx" in reports[1].reason
    assert {store.state() for store in stores.values()} == {before}
    assert stores["robot_0"].journal.read()[-2].result == "ok: robot_1 is not healthy"
    damaged.clear()
    assert all(r.ok for r in flash.flash(bundles[1], robots)), "nothing is left in the way"


def test_the_canary_goes_first_the_whole_way(bundles, robots):
    seen: list[tuple[str, str]] = []
    options = flash.FlashOptions(canary="robot_2")
    assert all(r.ok for r in flash.flash(bundles[0], robots, lambda *step: seen.append(step), options))
    first_other = next(i for i, (name, _) in enumerate(seen) if name != "robot_2")
    assert seen[:first_other] == [("robot_2", step) for step in flash.STEPS[:-1]]


def test_nothing_gets_to_the_others_if_the_canary_is_not_well(bundles, robots, stores, damaged: list[str]):
    damaged.append("robot_2")
    reports = flash.flash(bundles[0], robots, options=flash.FlashOptions(canary="robot_2"))
    assert not any(r.ok for r in reports) and reports[2].healthy is False
    assert not stores["robot_0"].ids() and not stores["robot_1"].ids()
    assert stores["robot_2"].state() == InstalledBundles()


def test_a_canary_that_is_well_goes_back_with_the_others(bundles, robots, stores, damaged: list[str]):
    flash.flash(bundles[0], robots)
    damaged.append("robot_0")
    assert not any(r.ok for r in flash.flash(bundles[1], robots, options=flash.FlashOptions(canary="robot_2")))
    assert {store.state() for store in stores.values()} == {InstalledBundles(bundles[0].id)}


def test_a_canary_that_is_none_is_named(bundles, robots):
    with pytest.raises(UserError, match="--canary robot_9: the fleet has no such robot; it has robot_0, "):
        flash.flash(bundles[0], robots, options=flash.FlashOptions(canary="robot_9"))


def deep(tmp_path: Path) -> Path:
    """A folder whose name is longer than the address of a socket may be."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    return folder


def test_a_node_answers_in_its_folder_and_nobody_where_none_runs(tmp_path: Path):
    root = deep(tmp_path)
    assert read_status(root) is None
    server = StatusServer(root)
    with pytest.raises(UserError, match="another policy node has this folder"):
        StatusServer(root)
    server.close()
    (root / "node.sock").write_bytes(b"")
    assert read_status(root) is None, "a file that nobody listens behind"
    StatusServer(root).close()


def test_what_a_stranger_answers_is_no_status(tmp_path: Path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(tmp_path / "node.sock"))
        listening.listen()
        listening.settimeout(5)
        import threading

        def answer() -> None:
            link, _ = listening.accept()
            with link:
                link.send(b"[[[")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(UserError, match="is no policy node"):
            read_status(tmp_path)
        thread.join()


def turn(follower: Follower, loaded: str) -> Turn | None:
    follower._looked_s -= LOOK_S
    return follower.turn(loaded)


def test_a_node_goes_along_with_a_switch_and_back(tmp_path: Path):
    store, follower = Store(tmp_path), Follower(tmp_path)
    with store.lock("operator"):
        store.switch(InstalledBundles(A))
        assert turn(follower, A) is None and turn(follower, "") is None
        store.begin(InstalledBundles(B, A))
        assert turn(follower, A) == Turn(B, on_trial=True)
        assert turn(follower, "") is None, "what failed is not tried again"
        store.pointer.undo()
        assert turn(follower, "") == Turn(A, on_trial=False)
        assert turn(follower, A) is None
        store.switch(InstalledBundles(B, A))
        assert turn(follower, A) is None, "what nobody tries is for whoever configures the node"
        store.begin(InstalledBundles(A, B))
        assert turn(follower, B) == Turn(A, on_trial=True)
        store.pointer.confirm()
        assert turn(follower, A) is None and turn(follower, "") is None


def test_a_node_ends_a_switch_whose_operator_is_gone(tmp_path: Path):
    store, follower = Store(tmp_path), Follower(tmp_path)
    with store.lock("operator"):
        store.switch(InstalledBundles(A))
        store.begin(InstalledBundles(B, A))
        assert turn(follower, A) == Turn(B, on_trial=True)
    assert turn(follower, B) == Turn(A, on_trial=False) and store.state() == InstalledBundles(A)


def test_status_says_what_is_not_confirmed_and_what_is_true_afterwards(bundles, robots, stores):
    flash.flash(bundles[0], robots)
    store = stores["robot_0"]
    with store.lock("operator"):
        store.add(bundles[1].id, bundles[1].files)
        store.begin(InstalledBundles(bundles[1].id, bundles[0].id))
        seen = look.status(robots)[0]
        assert seen.facts["pending"] and "operator" in seen.facts["holder"]
    seen = look.status(robots)[0]
    assert (seen.current, seen.facts["pending"], seen.facts["holder"]) == (bundles[0].id, False, "")


def test_a_node_that_has_another_bundle_is_not_well(bundles, robots, stores, monkeypatch: pytest.MonkeyPatch):
    """Nothing is switched, so it does not go along: it was not configured since."""
    flash.flash(bundles[0], robots)
    from robomarl.fleet.health import judge

    monkeypatch.setattr(judge, "read_status", lambda root: NodeStatus(B, state="STANDBY", ticks=99))
    reports = flash.flash(bundles[0], robots)
    assert not any(r.ok for r in reports) and "its policy node has bundle bbbbbbbbbbbb" in reports[0].reason
