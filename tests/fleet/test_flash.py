"""A bundle reaches all robots or none, and what is current is always whole."""

import json
import shutil
from pathlib import Path

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.fleet import flash, look, store
from robomarl.fleet.evidence.journal import LEFT
from robomarl.fleet.robot import Robot, operator
from robomarl.fleet.store import InstalledBundles, Store
from tests.core.bundle.sealing import copy, reseal


def states(robots) -> set[InstalledBundles]:
    return {robot.state() for robot in robots.values()}


def spoil(store: Store, bundle_id: str, name: str = "policy.onnx") -> None:
    file = store.folder(bundle_id) / name
    file.chmod(0o644)
    file.write_bytes(b"x" + file.read_bytes()[1:])


def fail(*_, **__):
    raise UserError("the robot is away.")


def test_flash_rollback_and_back_again(bundles, robots, stores):
    first, second = bundles
    assert all(r.ok and r.current == first.id and r.previous is None for r in flash.flash(first, robots))
    reports = flash.flash(second, robots)
    assert all(r.ok and (r.current, r.previous) == (second.id, first.id) for r in reports)
    assert all(r.current == first.id for r in flash.rollback(robots))
    assert all((r.ok, r.current, r.previous) == (True, second.id, first.id) for r in flash.rollback(robots))
    assert stores["robot_0"].current().contract.name == "other"


def test_flashing_what_is_current_keeps_the_way_back(bundles, robots):
    first, second = bundles
    flash.flash(first, robots)
    flash.flash(second, robots)
    reports = flash.flash(second, robots)
    assert states(robots) == {InstalledBundles(second.id, first.id)}
    assert {r.reason for r in reports} == {"was current already."}


@pytest.mark.parametrize("step", ["hello", "lock", "add", "check", "state"])
def test_one_robot_that_fails_before_the_switch_stops_all(bundles, robots, monkeypatch, step: str):
    first, second = bundles
    flash.flash(first, robots)
    monkeypatch.setattr(robots["robot_1"], step, fail)
    reports = {r.name: r for r in flash.flash(second, robots)}
    monkeypatch.undo()
    assert states(robots) == {InstalledBundles(first.id)}
    assert reports["robot_1"].reason == "the robot is away."
    assert reports["robot_2"].reason == "not switched, because robot_1 failed."
    assert not any(r.ok for r in reports.values())
    assert all(r.ok for r in flash.flash(second, robots)), "no lock is left behind"


@pytest.mark.parametrize("flown", [True, False])
def test_one_robot_that_fails_to_switch_takes_the_others_back(bundles, robots, stores, monkeypatch, flown: bool):
    first, second = bundles
    if flown:
        flash.flash(first, robots)
    before = InstalledBundles(first.id if flown else None)
    monkeypatch.setattr(robots["robot_2"], "switch", fail)
    reports = flash.flash(second, robots)
    assert states(robots) == {before}
    assert [r.ok for r in reports] == [False] * 3 and all(r.current == before.current for r in reports)
    told = [(e.action, e.before, e.after, e.result) for e in stores["robot_0"].journal.read()[-4:]]
    assert told[:2] == [("flash", before.current, second.id, "begun"), ("flash", before.current, second.id, "ok")]
    assert told[2] == ("undo", second.id, before.current, "ok: robot_2 could not switch")
    assert told[3][-1] == "not switched, because robot_2 failed."


@pytest.mark.parametrize("error", [UserError("the answer is lost"), SystemError("a fault of our own")])
def test_a_robot_that_switched_but_could_not_say_so_goes_back_too(bundles, robots, monkeypatch, error):
    """The answer is lost, not the switch: going back must not depend on the answer."""
    honest = Robot.switch

    def mute(self, *args):
        honest(self, *args)
        if self.name == "robot_1":
            raise error

    flash.flash(bundles[0], robots)
    monkeypatch.setattr(Robot, "switch", mute)
    reports = flash.flash(bundles[1], robots)
    assert not any(r.ok for r in reports)
    assert str(error) in reports[1].reason
    assert states(robots) == {InstalledBundles(bundles[0].id)}


def test_a_robot_goes_back_by_itself_if_the_operator_goes_away_before_confirming(bundles, robots, stores):
    first, second = bundles
    flash.flash(first, robots)
    robot = robots["robot_0"]
    robot.lock()
    robot.add(second)
    assert robot.check(second.id)["ok"]
    robot.switch("flash", InstalledBundles(second.id, first.id))
    assert robot.state().current == second.id
    robot.close()
    assert robot.state() == InstalledBundles(first.id)
    assert stores["robot_0"].journal.read()[-1].result == f"ok: {LEFT}"


def test_a_robot_switches_to_nothing_that_it_did_not_check(bundles, robots, stores):
    stores["robot_0"].root.mkdir()
    with pytest.raises(UserError, match="not locked"):
        robots["robot_0"].add(bundles[0])
    robots["robot_0"].lock()
    robots["robot_0"].add(bundles[0])
    with pytest.raises(UserError, match="was not checked; nothing was switched"):
        robots["robot_0"].switch("flash", InstalledBundles(bundles[0].id))


def test_the_journal_says_who_when_from_to_and_how_it_ended(bundles, robots, stores):
    first, second = bundles
    flash.flash(first, robots)
    flash.flash(second, robots)
    flash.rollback(robots)
    entries = stores["robot_1"].journal.read()
    assert [(e.action, e.before, e.after, e.result) for e in entries if e.result == "ok"] == [
        ("flash", None, first.id, "ok"),
        ("flash", first.id, second.id, "ok"),
        ("rollback", second.id, first.id, "ok"),
    ]
    assert {e.who for e in entries} == {operator()}
    assert [e.time for e in entries] == sorted(e.time for e in entries)


def test_a_torn_line_of_the_journal_spoils_no_other(robots, stores):
    journal = stores["robot_0"].journal
    journal.write("me", "flash", (None, "a"), "ok")
    with journal.file.open("ab") as stream:
        stream.write(b'{"time": "20')
    journal.write("me", "flash", ("a", "b"), "ok")
    assert [e.after for e in journal.read()] == ["a", "b"]


def test_a_dry_run_changes_nothing(bundles, robots, stores):
    reports = flash.flash(bundles[0], robots, options=flash.FlashOptions(dry_run=True))
    assert all(r.ok for r in reports) and not stores["robot_0"].root.exists()
    flash.flash(bundles[0], robots)
    flash.flash(bundles[1], robots)
    assert all(r.ok for r in flash.rollback(robots, dry_run=True))
    assert states(robots) == {InstalledBundles(bundles[1].id, bundles[0].id)}


def test_every_robot_is_told_of_each_step(bundles, robots):
    seen = {name: [] for name in robots}
    flash.flash(bundles[0], robots, lambda name, step: seen[name].append(step))
    assert all(tuple(steps) == flash.STEPS for steps in seen.values())


def test_damage_on_the_way_is_found_on_arrival(bundles, robots, stores, monkeypatch):
    honest = store.write_durably

    def noisy(path: Path, content: bytes) -> None:
        honest(path, content[:-1] + b"?" if "robot_1" in str(path) and path.name == "golden.npz" else content)

    monkeypatch.setattr(store, "write_durably", noisy)
    reports = {r.name: r for r in flash.flash(bundles[0], robots)}
    assert "golden.npz is not the file that was sealed" in reports["robot_1"].reason
    assert states(robots) == {InstalledBundles()}
    assert stores["robot_1"].ids() == [], "what is not whole does not even arrive"


def test_a_robot_that_computes_otherwise_is_found_on_arrival(bundles, robots, tmp_path: Path):
    """The golden sequences are replayed on the robot: a bundle whose hashes fit may still act otherwise there."""
    import onnx

    folder = copy(bundles[0].folder, tmp_path)
    model = onnx.load(folder / "policy.onnx")
    next(n for n in model.graph.node if n.op_type == "Tanh").op_type = "Erf"
    onnx.save(model, folder / "policy.onnx")
    reseal(folder)
    reports = flash.flash(load_bundle(folder), robots)
    assert all("action acceleration" in r.reason and "is off by" in r.reason for r in reports)
    assert states(robots) == {InstalledBundles()}


def test_a_damaged_copy_is_replaced(bundles, robots, stores):
    flash.flash(bundles[0], robots)
    spoil(stores["robot_0"], bundles[0].id)
    assert not look.verify(robots)[0].ok
    assert all(r.ok for r in flash.flash(bundles[0], robots))
    assert all(r.ok for r in look.verify(robots))


def test_a_copy_under_another_id_is_refused(bundles, robots, stores):
    first, second = bundles
    here = stores["robot_0"]
    flash.flash(first, robots)
    shutil.rmtree(here.folder(first.id))
    shutil.copytree(second.folder, here.folder(first.id))
    with pytest.raises(UserError, match=f"holds bundle {second.id[:12]} instead"):
        here.current()


def test_rollback_goes_nowhere_without_a_sound_previous_bundle(bundles, robots, stores):
    first, second = bundles
    flash.flash(first, robots)
    assert all("no previous bundle" in r.reason for r in flash.rollback(robots))
    flash.flash(second, robots)
    spoil(stores["robot_1"], first.id)
    assert not any(r.ok for r in flash.rollback(robots))
    assert states(robots) == {InstalledBundles(second.id, first.id)}


def test_rollback_never_mixes(bundles, robots):
    flash.flash(bundles[0], robots)
    flash.flash(bundles[1], {"robot_0": robots["robot_0"]})
    with pytest.raises(UserError, match="would mix bundles"):
        flash.rollback(robots)


def test_a_robot_that_flies_is_not_flashed(bundles, robots, stores):
    """The policy node holds the lock while it is active."""
    with stores["robot_1"].lock("policy_node"):
        reports = flash.flash(bundles[0], robots)
        assert "policy_node" in look.status(robots)[1].facts["holder"]
        assert "policy_node (process" in look.prune(robots)[1].reason
    assert "policy_node (process" in reports[1].reason and "has it now" in reports[1].reason
    assert states(robots) == {InstalledBundles()}
    assert all(r.ok for r in flash.flash(bundles[0], robots)), "the lock is gone with its holder"


def test_prune_keeps_current_and_previous(bundles, robots, tmp_path: Path):
    first, second = bundles
    third = copy(first.folder, tmp_path)
    reseal(third, lambda data: data.update(name="third"))
    for bundle in (first, second, load_bundle(third)):
        flash.flash(bundle, robots)
    assert all(r.bundles == (first.id,) for r in look.prune(robots))
    assert all(r.bundles == tuple(sorted((second.id, load_bundle(third).id))) for r in look.status(robots))
    assert all(r.ok for r in look.verify(robots)) and all(r.ok for r in flash.rollback(robots))


@pytest.mark.parametrize(
    "content", ["", "{}", '{"id": "../../etc", "previous": null}', '{"id": 3, "previous": null}', "[]"]
)
def test_a_damaged_pointer_is_an_error_and_not_a_path(robots, stores, content: str):
    here = stores["robot_0"]
    here.root.mkdir()
    (here.root / "current").write_text(content)
    with pytest.raises(UserError, match="can't be read .*flash the robot again"):
        here.state()
    assert not look.status(robots)[0].ok


def test_sidecars_travel_along(bundles, robots, stores, tmp_path: Path):
    folder = copy(bundles[0].folder, tmp_path)
    (folder / "eval.json").write_text(json.dumps({"id": bundles[0].id}))
    flash.flash(load_bundle(folder), robots)
    assert (stores["robot_0"].folder(bundles[0].id) / "eval.json").is_file()
