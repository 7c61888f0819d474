"""A team changes whom it trusts together or not at all: robots that are away, or die, leave no mixed team."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet import look
from robomarl.fleet.robot import connect_all
from robomarl.fleet.store import Store
from robomarl.fleet.trust import keys
from robomarl.fleet.trust.pending import PendingTrust
from robomarl.fleet.trust.policy import read_trust, write_trust
from robomarl.fleet.trust.team_change import TrustChange
from robomarl.front.cli import main
from tests.fleet.signing import trusting
from tests.fleet.sshd import Server, fleet_text, interpreter, serve
from tests.fleet.test_kills import HASTE
from tests.fleet.test_twelve import ENDING

pytestmark = pytest.mark.usefixtures("own_keys")
NAMES = [f"robot_{i}" for i in range(3)]
COMMANDS = {
    "trust": ("trust", "bob", "FLEET", "--instead-of", "alice"),
    "revoke": ("revoke", "alice", "FLEET"),
    "threshold": ("threshold", "2", "FLEET"),
    "unsigned": ("unsigned", "FLEET"),
}


class Team:
    """Three folders, of which the last may be said to be on a machine that refuses connections."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.figures = folder, folder / "team.yaml", folder / "figures.json"
        trust = trusting("alice", "carol", fleet="team")
        keys.new_key("bob", keys.keys_dir())
        for name in NAMES:
            (folder / name).mkdir()
            write_trust(folder / name, trust)
        self.before = trust
        self.bring_back()

    def bring_back(self, away: str = "") -> None:
        rows = [
            f"  - {{name: {name}, index: {i}, folder: {self.folder}/{name}{', host: away' if name == away else ''}}}"
            for i, name in enumerate(NAMES)
        ]
        (self.folder / "ssh_config").write_text("Host away\n  HostName 127.0.0.1\n  Port 1\n")
        head = "version: 1\nname: team\nvehicle: crazyflie_21\nscenario: swap_4\n"
        config = f"ssh_config: {self.folder}/ssh_config\n"
        self.file.write_text(head + config + "robots:\n" + "\n".join(rows) + "\n")

    def key(self, *words: str) -> tuple[int, dict]:
        self.figures.unlink(missing_ok=True)
        told = [str(self.file) if word == "FLEET" else word for word in words]
        status = main(["key", *told, "--json", str(self.figures)])
        return status, json.loads(self.figures.read_text()) if self.figures.exists() else {}

    def trusts(self) -> list:
        return [read_trust(self.folder / name) for name in NAMES]


@pytest.fixture
def team(tmp_path: Path) -> Team:
    if shutil.which("ssh") is None:
        pytest.skip("ssh is not installed")
    return Team(tmp_path)


@pytest.mark.parametrize("action", COMMANDS)
def test_with_one_robot_away_none_is_changed_and_the_same_command_ends_it_later(team: Team, action: str):
    team.bring_back(away="robot_1")
    status, said = team.key(*COMMANDS[action])
    assert status == 1 and team.trusts() == [team.before] * 3
    assert "Connection refused" in said["robots"][1]["reason"]
    assert {said["robots"][i]["reason"] for i in (0, 2)} == {"not changed, because robot_1 failed."}
    assert not any(robot["changed"] for robot in said["robots"])
    status, said = team.key(*COMMANDS[action], "--absent-ok")
    assert status == 0 and [r["absent"] for r in said["robots"]] == [False, True, False]
    assert team.trusts()[1] == team.before and team.trusts()[0] == team.trusts()[2] != team.before
    team.bring_back()
    assert team.key("list", "FLEET")[1]["mixed"]
    status, said = team.key(*COMMANDS[action])
    assert status == 0 and [r["changed"] for r in said["robots"]] == [False, True, False]
    assert len({str(trust) for trust in team.trusts()}) == 1 and not team.key("list", "FLEET")[1]["mixed"]


def damaged(folder: Path) -> None:
    (folder / "trust.json").unlink()
    (folder / "trust.json").write_text("{}")


def lacks_alice(folder: Path) -> None:
    write_trust(folder, trusting("dave", fleet="team"))


def is_held(folder: Path) -> object:
    held = Store(folder).lock("another operator")
    held.__enter__()
    return held


@pytest.mark.parametrize(
    ("unable", "says"),
    [
        (damaged, "key 'signed' is missing"),
        (lacks_alice, "does not trust a key 'alice'"),
        (is_held, "another operator"),
    ],
)
def test_a_robot_that_is_not_able_keeps_all_as_they_were(team: Team, unable: Callable, says: str):
    kept = unable(team.folder / "robot_2")
    status, said = team.key(*COMMANDS["trust"])
    assert status == 1 and says in said["robots"][2]["reason"]
    assert all(read_trust(team.folder / name) == team.before for name in NAMES[:2])
    assert not any(PendingTrust(team.folder / name).is_open() for name in NAMES)
    del kept


def test_what_every_robot_has_already_is_told_as_a_mistake_where_it_would_hide_one(team: Team, capsys):
    assert team.key(*COMMANDS["trust"])[0] == 0
    assert team.key(*COMMANDS["trust"])[0] == 1, "alice was a typing error, or is gone"
    assert "no robot trusts a key 'alice' (they trust bob, carol)" in capsys.readouterr().out
    assert team.key("trust", "bob", "FLEET")[0] == 0, "once more without it changes nothing"


@pytest.mark.parametrize("before", ["signed", "open"])
def test_a_robot_that_dies_between_its_change_and_the_confirmation_goes_back(team: Team, before: str):
    root = team.folder / "robot_0"
    if before == "open":
        (root / "trust.json").unlink()
    was = read_trust(root)
    pending = PendingTrust(root)
    pending.prepare(was.with_key("bob", (keys.keys_dir() / "bob.pub").read_text()))
    assert read_trust(root) == was, "prepared is not changed"
    pending.commit()
    assert "bob" in read_trust(root).keys and pending.is_open()
    assert look.status(connect_all(load_fleet(str(team.file)), team.folder))[0].ok
    assert read_trust(root) == was and not pending.is_open()
    assert (root / "trust.json").exists() is (before == "signed")
    assert Store(root).journal.read()[-1].action == "undo trust"


def test_a_way_back_that_is_damaged_opens_nothing(team: Team):
    root = team.folder / "robot_0"
    pending = PendingTrust(root)
    pending.prepare(read_trust(root).without_key("alice"))
    pending.commit()
    for content in (b"", b"{}", b'{"trust.json": nul', b"null"):
        (root / "trust.undo").chmod(0o644)
        (root / "trust.undo").write_bytes(content)
        with pytest.raises(UserError, match=r"trust.undo: is damaged"):
            Store(root).settle()
        assert read_trust(root).signed


def test_an_operator_who_dies_among_the_last_answers_leaves_what_the_same_command_ends(team: Team):
    about = {"name": "bob", "key": (keys.keys_dir() / "bob.pub").read_text().split()[0], "instead_of": "alice"}
    robots = connect_all(load_fleet(str(team.file)), team.folder)
    for robot in robots.values():
        robot.hello()
        robot.lock()
        robot.call("prepare_trust", action="trust", about=about)
    for robot in robots.values():
        robot.call("commit_trust")
    robots["robot_0"].call("confirm_trust")
    for robot in robots.values():
        robot.close()
    assert ["bob" in trust.keys for trust in team.trusts()] == [True, False, False]
    status, said = team.key(*COMMANDS["trust"])
    assert status == 0 and [r["changed"] for r in said["robots"]] == [False, True, True]
    assert all("bob" in trust.keys and "alice" not in trust.keys for trust in team.trusts())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.mark.parametrize(
    ("op", "changes"),
    [
        pytest.param("prepare_trust", False, marks=pytest.mark.slow),
        ("commit_trust", False),
        pytest.param("confirm_trust", True, marks=pytest.mark.slow),
    ],
)
def test_a_robot_whose_process_is_killed_in_any_phase_leaves_no_mixed_team(
    server: Server, op: str, changes: bool, root: Path, tmp_path: Path
):
    trust, mark = trusting("alice"), tmp_path / "to end"
    mark.touch()
    for name in NAMES:
        (tmp_path / name).mkdir()
        write_trust(tmp_path / name, trust)
    ending = HASTE + ENDING.format(op=op, mark=mark, signal="SIGKILL")
    python, dying = interpreter(tmp_path / "python", root, HASTE), interpreter(tmp_path / "ending", root, ending)
    file = tmp_path / "team.yaml"
    file.write_text(fleet_text(server, tmp_path, [python, dying, python]))
    about = {"name": "bob", "key": keys.new_key("bob", keys.keys_dir()), "instead_of": "alice", "fleet": "team"}
    reports = TrustChange(connect_all(load_fleet(str(file)), tmp_path), "trust", about).run()
    assert f"connection lost during {op}" in reports[1].reason and not mark.exists()
    assert all(r.ok for r in reports) is changes
    look.status(connect_all(load_fleet(str(file)), tmp_path))
    assert {tuple(read_trust(tmp_path / name).keys) for name in NAMES} == {("bob",) if changes else ("alice",)}
