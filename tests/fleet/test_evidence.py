"""The journal is a chain, its operators are known by their keys, and the operator's copy only grows."""

import json
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.fleet import flash
from robomarl.fleet.disk import append_durably
from robomarl.fleet.evidence import chain
from robomarl.fleet.evidence.journal import Journal
from robomarl.fleet.evidence.operator_proof import SignedStatement, proof, proven_by
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import Store
from robomarl.fleet.transport import FolderTransport
from robomarl.fleet.trust import keys
from robomarl.front.cli import main

LINES = 6


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path / "robot_0")
    for i in range(LINES):
        made.write("me", "flash", (None, f"{i}"), "ok")
    return made


def lines(journal: Journal) -> list[bytes]:
    return journal.raw().splitlines(keepends=True)


def test_a_whole_chain_passes(journal: Journal):
    assert chain.check(journal.raw()) == chain.ChainCheck(LINES)


@pytest.mark.parametrize("number", range(1, LINES))
@pytest.mark.parametrize("how", ["change", "remove", "insert", "swap", "forge a line"])
def test_the_first_broken_link_is_named(journal: Journal, number: int, how: str):
    had = lines(journal)
    i = number - 1
    if how == "change":
        had[i] = had[i].replace(b'"me"', b'"you"')
    elif how == "remove":
        del had[i]
    elif how == "insert":
        had.insert(i, had[i])
    elif how == "swap":
        had[i], had[i + 1] = had[i + 1], had[i]
    else:
        data = json.loads(had[i])
        had[i] = json.dumps({**data, "who": "you"}).encode() + b"\n"
    found = chain.check(b"".join(had))
    first = {"remove": number, "insert": number + 1, "swap": number}.get(how, number + 1)
    assert found.broken == first


def test_a_torn_line_breaks_nothing_and_is_covered(journal: Journal):
    with journal.file.open("ab") as stream:
        stream.write(b'{"time": "20')
    journal.write("me", "flash", (None, "x"), "ok")
    journal.write("me", "flash", (None, "y"), "ok")
    assert chain.check(journal.raw()) == chain.ChainCheck(LINES + 2)
    changed = journal.raw().replace(b'{"time": "20\n', b'{"time": "19\n')
    assert chain.check(changed).broken == LINES + 2


def test_lines_from_before_the_chain_are_covered_by_its_first_link(tmp_path: Path):
    journal = Journal(tmp_path)
    old = {"time": "", "who": "me", "action": "flash", "before": None, "after": "a", "result": "ok"}
    for who in ("me", "you"):
        append_durably(journal.file, json.dumps({**old, "who": who}).encode() + b"\n")
    journal.write("me", "flash", (None, "x"), "ok")
    assert chain.check(journal.raw()) == chain.ChainCheck(3, 0, 2)
    assert [e.who for e in journal.read()] == ["me", "you", "me"]
    assert chain.check(journal.raw().replace(b'"you"', b'"him"')).broken == 3
    with journal.file.open("ab") as stream:
        stream.write(json.dumps(old).encode() + b"\n")
    assert chain.check(journal.raw()).broken == 4, "no line without a link comes after one with"


def test_the_chain_goes_on_when_the_journal_is_set_aside(journal: Journal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("robomarl.fleet.evidence.journal.MAX_BYTES", 100)
    journal.write("me", "flash", (None, "x"), "ok")
    assert len(lines(journal)) == 1
    assert chain.check(journal.raw(), journal.old.read_bytes()) == chain.ChainCheck(1)
    assert chain.check(journal.raw(), b"").broken == 1, "what was set aside can't be thrown away"


class Fleet:
    """Three robots that are folders, from the command line."""

    def __init__(self, file: str, root: Path) -> None:
        self._file, self._root = file, root

    def command(self, *words: str) -> tuple[int, dict]:
        figures = self._root / "figures.json"
        places = ["--root", str(self._root), "--json", str(figures)]
        code = main([*(self._file if word == "FLEET" else word for word in words), *places])
        return code, json.loads(figures.read_text())


@pytest.fixture
def fleet(fleet_file: str, tmp_path: Path) -> Fleet:
    return Fleet(fleet_file, tmp_path)


def test_journals_are_collected_and_only_grow(bundles, robots, stores, fleet: Fleet, own_record: Path, capsys):
    flash.flash(bundles[0], robots)
    code, figures = fleet.command("fleet", "journal", "FLEET")
    assert code == 0 and all(r["new"] == r["lines"] > 0 for r in figures["robots"])
    flash.flash(bundles[1], robots)
    _, figures = fleet.command("fleet", "journal", "FLEET")
    (kept,) = own_record.glob("*/journals/robot_1.jsonl")
    assert 0 < figures["robots"][1]["new"] < figures["robots"][1]["lines"]
    journal = stores["robot_1"].journal
    assert kept.read_bytes() == journal.raw()
    whole, had = journal.raw(), lines(journal)
    for spoiled, said in (
        (
            b"".join([had[0], had[1].replace(b'"flash"', b'"prune"'), *had[2:]]),
            "journal.jsonl, line 3: does not follow",
        ),
        (b"".join(had[:-1]), f"ends before line {len(had)} of what was collected"),
        (b"", "does not go on from what was collected before"),
    ):
        journal.file.write_bytes(spoiled)
        capsys.readouterr()
        code, figures = fleet.command("fleet", "journal", "FLEET")
        assert code == 1 and [r["ok"] for r in figures["robots"]] == [True, False, True]
        assert said in capsys.readouterr().out and kept.read_bytes() == whole
    journal.file.unlink()
    for i in range(9):
        journal.write("me", "flash", (None, f"{i}"), "ok")
    assert fleet.command("fleet", "journal", "FLEET")[0] == 1, "a chain of somebody's own is another one"


def test_what_was_set_aside_twice_stays_collected(journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from robomarl.fleet.evidence.collect import collect

    file, wrote = tmp_path / "kept.jsonl", journal.raw()
    monkeypatch.setattr("robomarl.fleet.evidence.journal.MAX_BYTES", 900)
    for i in range(20):
        journal.write("me", "prune", (None, f"{i}"), "ok")
        wrote += lines(journal)[-1]
        facts, problem = collect(file, journal.old.read_bytes() if journal.old.exists() else b"", journal.raw())
        assert not problem and file.read_bytes() == wrote
    assert len(journal.raw() + journal.old.read_bytes()) < len(wrote) / 2


def test_an_operator_is_known_by_his_key(bundles, robots, stores, own_keys: Path, fleet: Fleet, capsys):
    flash.flash(bundles[0], robots)
    assert {e.key for e in stores["robot_0"].journal.read()} == {""}
    assert fleet.command("key", "new", "alice")[0] == 0
    assert fleet.command("key", "trust", "alice", "FLEET")[0] == 0
    robots["robot_0"].hello()
    robots["robot_0"].note("verify", bundles[0].id, "not ready")
    robots["robot_0"].close()
    mark = keys.fingerprint(keys.read_keys(own_keys)["alice"])
    assert stores["robot_0"].journal.read()[-1].key == mark
    fleet.command("fleet", "log", "FLEET")
    assert f" ({mark})  verify" in capsys.readouterr().out


def test_a_key_that_the_robot_does_not_trust_proves_nothing(robots, stores, own_keys: Path, monkeypatch):
    stores["robot_0"].root.mkdir()
    for name in ("alice", "mallory"):
        keys.new_key(name, own_keys)
    robot = robots["robot_0"]
    robot.lock()
    robot.call("trust", name="alice", key=(own_keys / "alice.pub").read_text().split()[0])
    for name, known in (("mallory", False), ("alice", True), ("", False)):
        monkeypatch.setenv("ROBOMARL_KEY", name)
        robot.close()
        robot = Robot("robot_0", FolderTransport(stores["robot_0"].root))
        robot.hello()
        robot.note("verify", None, name)
        assert bool(stores["robot_0"].journal.read()[-1].key) is known
    monkeypatch.setenv("ROBOMARL_KEY", "nobody")
    with pytest.raises(UserError, match="no such key"):
        robot.hello()


def test_a_signature_is_good_for_one_connection_of_one_robot(own_keys: Path):
    public = keys.new_key("alice", own_keys)
    key = keys.private_key("alice", own_keys)
    signed = proof(SignedStatement("one", "robot_0", "me"), key)
    mark = keys.fingerprint(keys.read_keys(own_keys)["alice"])
    assert (
        proven_by(SignedStatement("one", "robot_0", "me"), signed["key"], signed["signature"], {"alice": public})
        == mark
    )
    for other in (
        SignedStatement("two", "robot_0", "me"),
        SignedStatement("one", "robot_1", "me"),
        SignedStatement("one", "robot_0", "you"),
    ):
        with pytest.raises(UserError, match="signature is wrong"):
            proven_by(other, signed["key"], signed["signature"], {"alice": public})
    for text in ("", "x", "A" * 88):
        with pytest.raises(UserError, match="signature is wrong"):
            proven_by(SignedStatement("one", "robot_0", "me"), signed["key"], text, {"alice": public})


def test_a_robot_lets_nobody_prove_something_in_another_ones_name(robots, stores, own_keys: Path):
    keys.new_key("alice", own_keys)
    robot = Robot("robot_9", FolderTransport(stores["robot_0"].root))
    robot.call("lock")
    robot.call("profile", name="robot_0", vehicle="crazyflie_21")
    with pytest.raises(UserError, match="this is robot_0, not robot_9; mend the fleet file"):
        robot.hello()
    robot.close()


def test_the_store_writes_the_same_chain(bundles, robots, stores):
    """Undo, settle and what else the robot writes by itself is in it too."""
    flash.flash(bundles[0], robots)
    with stores["robot_0"].lock("x"):
        from robomarl.fleet.store import InstalledBundles

        stores["robot_0"].begin(InstalledBundles("b" * 64, bundles[0].id))
    Store(stores["robot_0"].root).settle()
    found = chain.check(stores["robot_0"].journal.raw())
    assert found.broken == 0 and stores["robot_0"].journal.read()[-1].who == "the robot"
