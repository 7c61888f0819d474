"""A security file that is not whole, as it was written and its owner's alone is refused, and never read as open."""

import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from robomarl.core.bundle.bundle import load_bundle
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet, load_fleet
from robomarl.fleet import flash, look
from robomarl.fleet.evidence.record import FleetRecord
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.fleet.transport import check_settings
from robomarl.fleet.trust import counter, keys, statement
from robomarl.fleet.trust.policy import TRUST_FILE, offer_of, read_trust, write_trust
from robomarl.fleet.trust.profile import RobotProfile, read_profile, write_profile
from robomarl.fleet.trust.strict_file import read_own
from tests.fleet.signing import reasons, signed, trusting

pytestmark = pytest.mark.usefixtures("own_keys")
VALUES = (None, True, 7, -1, 1.5, "x", [], ["x"], {}, {"x": 1})


def mutants(content: bytes) -> Iterator[bytes]:
    """Every change of one key of a table, at any depth, to what is none or of another type; and files cut off."""
    data = json.loads(content)
    for path in paths(data):
        for change in (removed, doubled, renamed, *[retyped(value) for value in VALUES]):
            if (text := change(json.loads(content), path)) is not None:
                yield text.encode()
    yield from (content[:size] for size in range(len(content.rstrip())))
    yield from (b"[]", b"null", b"{}", b"0", content.replace(b": ", b": NaN, ", 1), content + b"{}", b"\xff" + content)


def paths(data: Any, above: tuple = ()) -> Iterator[tuple]:
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield (*above, key)
        yield from paths(data[key], (*above, key))


def table_at(data: Any, path: tuple) -> Any:
    for key in path[:-1]:
        data = data[key]
    return data


def removed(data: Any, path: tuple) -> str | None:
    del table_at(data, path)[path[-1]]
    return json.dumps(data)


def doubled(data: Any, path: tuple) -> str | None:
    """The key once more, its second value the first one's."""
    table = table_at(data, path)
    if not isinstance(table, dict):
        return None
    table["its double"] = table[path[-1]]
    return json.dumps(data).replace('"its double"', json.dumps(path[-1]))


def renamed(data: Any, path: tuple) -> str | None:
    table = table_at(data, path)
    if not isinstance(table, dict):
        return None
    table[f"{path[-1]} "] = table.pop(path[-1])
    return json.dumps(data)


def retyped(value: Any) -> Callable[[Any, tuple], str | None]:
    def change(data: Any, path: tuple) -> str | None:
        table = table_at(data, path)
        if type(table[path[-1]]) is type(value) or (type(value) in (str, int) and table[path[-1]] is None):
            return None
        table[path[-1]] = value
        return json.dumps(data)

    return change


def sentence(error: pytest.ExceptionInfo) -> str:
    text = str(error.value)
    assert text.endswith(".") and "\n" not in text and len(text) < 600
    return text


def test_no_trust_of_which_a_part_is_missing_or_wrong_takes_an_unsigned_bundle(bundles, tmp_path: Path):
    robot, offer = tmp_path / "robot", offer_of(bundles[0])
    robot.mkdir()
    write_trust(robot, trusting("alice", "bob", threshold=2, fleet="team", counter=5))
    file = robot / TRUST_FILE
    content = file.read_bytes()
    file.chmod(0o644)
    count = 0
    for mutant in mutants(content):
        file.write_bytes(mutant)
        with pytest.raises(UserError) as refused:
            Store(robot).admit(offer)
        assert sentence(refused), mutant
        count += 1
    assert count > 200
    for said in ({}, {"keys": {}}, {"threshold": 1}, {"signed": False}):
        file.write_text(json.dumps(said))
        with pytest.raises(UserError, match="is missing"):
            read_trust(robot)


@pytest.mark.parametrize("change", [{"threshold": 0}, {"signed": False}, {"counter": -1}, {"keys": {"../a": "A" * 44}}])
def test_a_trust_that_contradicts_itself_is_refused(change: dict, tmp_path: Path):
    write_trust(tmp_path, trusting("alice"))
    data = json.loads((tmp_path / TRUST_FILE).read_text()) | change
    (tmp_path / TRUST_FILE).unlink()
    (tmp_path / TRUST_FILE).write_text(json.dumps(data))
    with pytest.raises(UserError, match=TRUST_FILE) as refused:
        read_trust(tmp_path)
    sentence(refused)


def test_more_signatures_than_keys_is_no_bundle_at_all(bundles, tmp_path: Path):
    by_alice = signed(bundles[0], tmp_path, "alice") if keys.new_key("alice", keys.keys_dir()) else None
    assert by_alice
    text = (keys.keys_dir() / "alice.pub").read_text()
    write_trust(tmp_path, read_trust(tmp_path).with_key("alice", text))
    assert read_trust(tmp_path).check(offer_of(by_alice))
    data = json.loads((tmp_path / TRUST_FILE).read_text()) | {"threshold": 2}
    (tmp_path / TRUST_FILE).unlink()
    (tmp_path / TRUST_FILE).write_text(json.dumps(data))
    with pytest.raises(UserError, match="takes nothing until it trusts as many keys"):
        read_trust(tmp_path).check(offer_of(by_alice))
    with pytest.raises(UserError, match="one key counts once"):
        read_trust(tmp_path).with_key("alice_again", text)


def test_a_signature_of_which_a_part_is_missing_or_wrong_is_none(bundles, tmp_path: Path):
    trust = trusting("alice")
    bundle = signed(bundles[0], tmp_path, "alice")
    good = bundle.sidecars["signature.json"]
    assert trust.check(offer_of(bundle))
    for mutant in mutants(good):
        bundle.sidecars["signature.json"] = mutant
        with pytest.raises(UserError) as refused:
            trust.check(offer_of(bundle))
        assert sentence(refused), mutant
    data = json.loads(good)
    data["signatures"] *= 2
    bundle.sidecars["signature.json"] = json.dumps(data).encode()
    with pytest.raises(UserError, match="is no signature"):
        trust.check(offer_of(bundle))


def write_current(root: Path) -> None:
    Store(root).pointer.switch(InstalledBundles("c" * 64, "d" * 64))
    Store(root).pointer.begin(InstalledBundles("a" * 64, "b" * 64))


def write_deployed(root: Path) -> None:
    file = deployed_file(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"id": "a" * 64, "previous": "b" * 64}))


@cache
def fleet() -> Fleet:
    return load_fleet("local_4")


def record(root: Path) -> FleetRecord:
    return FleetRecord(fleet(), root)


def deployed_file(root: Path) -> Path:
    return record(root).folder / "deployed.json"


def says_less(data: dict) -> list[dict]:
    """What is right, though it says less than the data: no switch is open, there was no bundle before, no index."""
    if "index" in data:
        return [{**data, "index": None}]
    if "pending" in data:
        before = {"id": data["pending"]["id"], "previous": None}
        first = {"id": None, "previous": None}
        confirmed = {key: data[key] for key in ("id", "previous")}
        return [confirmed, {**data, "previous": None}, {**data, "pending": before}, {**data, "pending": first}]
    return []


@pytest.mark.parametrize(
    ("write", "file", "read"),
    [
        (write_current, lambda root: root / "current", lambda root: Store(root).state()),
        (
            lambda root: write_profile(root, RobotProfile("robot_0", 0, "team", "crazyflie_21")),
            lambda root: root / "robot.json",
            read_profile,
        ),
        (write_deployed, deployed_file, lambda root: record(root).deployed()),
        (lambda root: counter.next_counter(root), lambda root: root / counter.LAST_FILE, counter.next_counter),
    ],
    ids=["current", "robot.json", "deployed.json", "last_counter"],
)
def test_other_files_that_decide_fail_closed(write, file, read, tmp_path: Path):
    write(tmp_path)
    assert read(tmp_path)
    place = file(tmp_path)
    content = place.read_bytes()
    right = {json.dumps(data).encode() for data in says_less(json.loads(content))}
    for mutant in mutants(content):
        if mutant in right:
            continue
        place.unlink()
        place.write_bytes(mutant)
        with pytest.raises(UserError) as refused:
            read(tmp_path)
        assert sentence(refused), mutant


def make_link(file: Path) -> None:
    (file.parent / "elsewhere").write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(file.parent / "elsewhere")


def make_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def make_huge(file: Path) -> None:
    file.chmod(0o644)
    file.write_bytes(file.read_bytes() + b" " * 2**20)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (make_link, "is a link"),
        (make_fifo, "is no plain file"),
        (make_huge, "is over 1024 KiB"),
        (lambda file: file.chmod(0o664), r"other users can write it \(mode 664\); run chmod 644"),
        (lambda file: file.chmod(0o646), "other users can write it"),
        pytest.param(
            lambda file: os.chown(file, 65534, 0),
            "belongs to user id 65534",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away"),
        ),
    ],
    ids=["link", "fifo", "huge", "group writes", "others write", "another user's"],
)
def test_a_file_that_is_not_its_owners_alone_is_refused(damage, says: str, bundles, tmp_path: Path):
    write_trust(tmp_path, trusting("alice"))
    damage(tmp_path / TRUST_FILE)
    with pytest.raises(UserError, match=says) as refused:
        Store(tmp_path).admit(offer_of(bundles[0]))
    sentence(refused)


def test_a_private_key_that_others_can_read_does_not_sign(own_keys: Path):
    keys.new_key("alice", own_keys)
    assert keys.private_key("alice", own_keys)
    (own_keys / "alice.pem").chmod(0o640)
    with pytest.raises(UserError, match=r"other users can read it \(mode 640\); run chmod 600"):
        keys.private_key("alice", own_keys)
    assert read_own(own_keys / "nothing") is None


def test_a_robot_whose_profile_is_damaged_is_not_flashed_and_says_so(bundles, robots, stores):
    robots = {name: robots[name] for name in ("robot_0", "robot_1")}
    flash.flash(bundles[0], robots)
    (stores["robot_1"].root / "robot.json").write_text('{"vehicle": "crazyflie_21"}')
    reports = {r.name: r for r in flash.flash(bundles[1], robots)}
    assert (
        "robot.json: is damaged (key 'name' is missing); run `robomarl fleet setup` again" in reports["robot_1"].reason
    )
    assert {r.current for r in look.status(robots)} == {bundles[0].id}


@pytest.mark.parametrize("value", ["no", '"no"', "off", "accept-new", ""])
def test_a_fleets_ssh_settings_do_not_take_any_machine_for_the_robot(value: str, tmp_path: Path):
    file = tmp_path / "ssh_config"
    file.write_text(f"Host *\n  StrictHostKeyChecking {value}\n")
    with pytest.raises(UserError, match="line 2.*would take any machine for the robot"):
        check_settings(file)
    file.write_text("Host *\n  StrictHostKeyChecking=yes\n")
    check_settings(file)


def test_two_bundles_of_one_second_are_not_each_newer_than_the_other(bundles, robots, tmp_path: Path, own_keys):
    keys.new_key("alice", own_keys)
    robots = {"robot_0": robots["robot_0"]}
    for robot in robots.values():
        robot.lock()
        robot.call("trust", name="alice", key=(own_keys / "alice.pub").read_text().split()[0])
        robot.close()
    first, second = (signed(bundle, tmp_path / bundle.id[:4], "alice") for bundle in bundles)
    said = [statement.parse(b.sidecars["signature.json"]).statement.counter for b in (first, second)]
    assert said[1] > said[0]
    assert all(r.ok for r in flash.flash(first, robots)) and all(r.ok for r in flash.flash(second, robots))
    assert "it is an older one; say --allow-rollback" in reasons(flash.flash(first, robots))
    tied = signed(load_bundle(first.folder), tmp_path / "tie", "alice", counter=said[1])
    assert "so has another one that this robot has had" in reasons(flash.flash(tied, robots))
    assert {r.state().current for r in robots.values()} == {second.id}
    assert all(r.ok for r in flash.flash(tied, robots, options=flash.FlashOptions(allow_rollback=True)))


def test_a_damaged_pointer_does_not_lower_the_bar(bundles, robots, stores, tmp_path: Path, own_keys):
    trust, robots, stores = trusting("alice"), *({"robot_0": one["robot_0"]} for one in (robots, stores))
    for store in stores.values():
        store.root.mkdir()
        write_trust(store.root, trust)
    older, newer = (signed(bundles[i], tmp_path / str(i), "alice", counter=10 + i) for i in range(2))
    assert all(r.ok for r in flash.flash(newer, robots))
    for store in stores.values():
        (store.root / "current").unlink()
        (store.root / "current").write_text("{")
    assert "has counter 10, this robot has had 11" in reasons(flash.flash(older, robots))


class Clock:
    """The clock of `counter`, at a second since 1970."""

    def __init__(self, second: int) -> None:
        self.second = second

    def now(self, zone: Any) -> "Clock":
        return self

    def timestamp(self) -> float:
        return self.second + 0.5


def test_counters_only_grow_whatever_the_clock_does(tmp_path: Path, monkeypatch):
    given = []
    for second in (10**9, 10**9, 10**9 + 1, 5, 10**9 + 2):
        monkeypatch.setattr(counter, "datetime", Clock(second))
        if second == 5:
            with pytest.raises(UserError, match="over a day ahead of this machine's clock"):
                counter.next_counter(tmp_path)
            continue
        given.append(counter.next_counter(tmp_path))
    assert given == sorted(set(given)) and len(given) == 4
    monkeypatch.setattr(counter, "datetime", Clock(10**9 - 3600))
    assert counter.next_counter(tmp_path) == given[-1] + 1, "an hour back goes on from the last"
    assert counter.next_counter(tmp_path, asked=7) == 7, "what is asked for is given"
    assert counter.next_counter(tmp_path) == given[-1] + 2
