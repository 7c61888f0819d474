"""`robomarl flash` and `robomarl fleet` from the command line."""

import json
import re
from pathlib import Path

import pytest

from robomarl.core.paths import vehicles_dir
from robomarl.fleet import flash
from robomarl.fleet.robot import Robot
from robomarl.fleet.transport import FolderTransport
from robomarl.front.cli import main


@pytest.fixture
def fleet_file(tmp_path: Path) -> Path:
    rows = "".join(f"  - {{name: robot_{i}, index: {i}, folder: r{i}}}\n" for i in range(4))
    file = tmp_path / "four.yaml"
    file.write_text(f"version: 1\nname: four\nvehicle: crazyflie_21\nscenario: swap_4\nrobots:\n{rows}")
    return file


def command(tmp_path: Path, *words: object) -> tuple[int, dict]:
    figures = tmp_path / "figures.json"
    figures.unlink(missing_ok=True)
    code = main([*map(str, words), "--root", str(tmp_path), "--json", str(figures)])
    return code, json.loads(figures.read_text()) if figures.exists() else {}


def test_the_command_line(bundles, fleet_file: Path, tmp_path: Path, capsys):
    first, second = bundles
    assert command(tmp_path, "flash", first.folder, fleet_file, "--dry-run")[0] == 0
    assert not (tmp_path / "r0").exists()
    code, figures = command(tmp_path, "flash", first.folder, fleet_file)
    assert code == 0 and figures["id"] == first.id
    assert {"name", "ok", "previous", "current", "seconds", "reason"} <= set(figures["robots"][3])
    assert command(tmp_path, "flash", second.folder, fleet_file)[0] == 0
    for action in ("status", "verify", "rollback", "prune", "log"):
        code, figures = command(tmp_path, "fleet", action, fleet_file)
        assert code == 0 and len(figures["robots"]) == 4
    assert figures["journals"]["robot_0"][-1]["action"] == "prune"
    assert f"rollback  {second.id[:12]} -> {first.id[:12]}  ok" in capsys.readouterr().out
    flash.flash(second, {"robot_2": Robot("robot_2", FolderTransport(tmp_path / "r2"))})
    code, figures = command(tmp_path, "fleet", "status", fleet_file)
    shown = capsys.readouterr().out
    assert code == 1 and figures["mixed"] and "must not fly as a team" in shown
    assert re.search(r"robot_0 .* at r0  for \d+ s  verified .* UTC  idle", shown)


def test_a_folder_that_cannot_be_written(bundles, fleet_file: Path, tmp_path: Path, capsys):
    (tmp_path / "r1").write_text("a file is in the way")
    code, figures = command(tmp_path, "flash", bundles[0].folder, fleet_file)
    assert code == 1 and not any(r["ok"] or r["current"] for r in figures["robots"])
    assert "can't be read (Not a directory)" in figures["robots"][1]["reason"]
    assert "Nothing was switched" in capsys.readouterr().out


def other_vehicle(tmp_path: Path, old: str, new: str) -> str:
    """Path of a vehicle file that differs from the one that the bundle was trained with."""
    file = tmp_path / "other.yaml"
    file.write_text((vehicles_dir() / "crazyflie_21.yaml").read_text().replace(old, new))
    return str(file)


def test_a_bundle_for_another_vehicle_is_refused(bundles, fleet_file: Path, tmp_path: Path, capsys):
    other = other_vehicle(tmp_path, "name: crazyflie_21", "name: other")
    fleet_file.write_text(fleet_file.read_text().replace("crazyflie_21", other))
    assert command(tmp_path, "flash", bundles[0].folder, fleet_file)[0] == 1
    error = capsys.readouterr().err
    assert "is for vehicle crazyflie_21, the robots of fleet four are other" in error and error.count("\n") == 1
    assert not list(tmp_path.glob("r*"))


def test_a_bundle_for_another_team_size_is_refused(bundles, fleet_file: Path, tmp_path: Path, capsys):
    fleet_file.write_text(fleet_file.read_text().replace("  - {name: robot_3, index: 3, folder: r3}\n", ""))
    assert command(tmp_path, "flash", bundles[0].folder, fleet_file)[0] == 1
    error = capsys.readouterr().err
    assert "is for teams of 4, fleet four has 3 robots" in error and error.count("\n") == 1
    assert not list(tmp_path.glob("r*"))


def test_a_vehicle_file_that_has_changed_is_remarked(bundles, fleet_file: Path, tmp_path: Path):
    other = other_vehicle(tmp_path, "mass_kg: 0.033", "mass_kg: 0.036")
    fleet_file.write_text(fleet_file.read_text().replace("crazyflie_21", other))
    code, figures = command(tmp_path, "flash", bundles[0].folder, fleet_file)
    assert code == 0
    assert f"{other}: body.mass_kg is 0.036 here and was 0.033 in training." in figures["remarks"]
