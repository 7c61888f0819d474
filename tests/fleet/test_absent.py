"""Robots that are away are left out if one says so, are known to be behind, and catch up; over a real sshd."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet.evidence.record import FleetRecord
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.front.cli import main
from tests.fleet.sshd import Server, fleet_text, interpreter, serve
from tests.fleet.test_ssh import QUICK


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("sshd")) as running:
        yield running


class Team:
    """Four robots, and what the command line says of them."""

    def __init__(self, server: Server, folder: Path, python: str) -> None:
        self.file, self._figures = folder / "team.yaml", folder / "figures.json"
        self.file.write_text(fleet_text(server, folder, [python] * 4))
        self._config = server.config
        self.stores = [Store(folder / f"robot_{i}") for i in range(4)]

    def command(self, *words: object) -> tuple[int, dict]:
        self._figures.unlink(missing_ok=True)
        code = main([*map(str, words), "--json", str(self._figures)])
        return code, json.loads(self._figures.read_text()) if self._figures.exists() else {}

    def turn_off(self, folder: Path) -> None:
        """robot_3's address leads nowhere."""
        text = self._config.read_text()
        away = folder / "away_config"
        away.write_text("Host robot_3\n    Port 1\n" + text)
        self.file.write_text(self.file.read_text().replace(str(self._config), str(away)))

    def turn_on(self, folder: Path) -> None:
        self.file.write_text(self.file.read_text().replace(str(folder / "away_config"), str(self._config)))


@pytest.fixture
def team(server: Server, tmp_path: Path, root: Path) -> Team:
    return Team(server, tmp_path, interpreter(tmp_path / "python", root, QUICK))


def test_a_robot_that_was_absent_catches_up(team: Team, bundles, tmp_path: Path, capsys):
    first, second = bundles
    assert team.command("flash", first.folder, team.file)[0] == 0
    team.turn_off(tmp_path)
    assert team.command("flash", second.folder, team.file)[0] == 1, "all or none, unless one says otherwise"
    code, figures = team.command("flash", second.folder, team.file, "--absent-ok")
    assert code == 0 and [r["ok"] for r in figures["robots"]] == [True, True, True, False]
    assert figures["robots"][3]["absent"] and "is absent, to catch up later" in figures["robots"][3]["reason"]
    assert [s.state().current for s in team.stores] == [second.id] * 3 + [first.id]
    team.turn_on(tmp_path)
    capsys.readouterr()
    code, figures = team.command("fleet", "status", team.file)
    assert code == 1 and figures["behind"] == ["robot_3"] and figures["mixed"]
    assert f"behind, is to have {second.id[:12]}" in capsys.readouterr().out
    code, figures = team.command("fleet", "catch-up", team.file)
    assert code == 0 and figures["caught_up"] == ["robot_3"] and figures["behind"] == []
    assert {s.state() for s in team.stores} == {InstalledBundles(second.id, first.id)}
    assert team.command("fleet", "catch-up", team.file)[1]["caught_up"] == []
    assert team.command("fleet", "rollback", team.file)[0] == 0
    assert team.command("fleet", "status", team.file)[1]["behind"] == [], "a rollback says what they are to have, too"


def test_the_next_flash_brings_what_was_absent(team: Team, bundles, tmp_path: Path):
    team.turn_off(tmp_path)
    assert team.command("flash", bundles[0].folder, team.file, "--absent-ok")[0] == 0
    team.turn_on(tmp_path)
    assert team.command("flash", bundles[0].folder, team.file)[0] == 0
    assert {s.state() for s in team.stores} == {InstalledBundles(bundles[0].id)}


def test_a_fleet_that_is_away_is_not_flashed(team: Team, bundles, tmp_path: Path):
    text = team.file.read_text()
    for i in range(4):
        text = text.replace(f"host: robot_{i}", "host: away")
    team.file.write_text(text)
    assert team.command("flash", bundles[0].folder, team.file, "--absent-ok")[0] == 1
    assert FleetRecord(load_fleet(str(team.file)), tmp_path).deployed() is None
    assert team.command("fleet", "catch-up", team.file)[0] == 1
