"""A robot that has Python and nothing else gets robomarl, over a real sshd; and what it installs exists for aarch64."""

import json
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

from robomarl.cli import main
from robomarl.fleet.setup import build_wheel
from robomarl.fleet.store import Store
from robomarl.fleet.unit import start_script, unit_file
from robomarl.hardware_configs.fleet import load_fleet
from tests.fleet.sshd import serve

OWN = ("robomarl", "__editable__", "pip", "setuptools", "jax", "flax", "brax", "mujoco", "torch", "_", "distutils")


@pytest.fixture(scope="module")
def borrowed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a robot would download, from this environment; nothing of robomarl, nothing of the simulation."""
    folder = tmp_path_factory.mktemp("borrowed")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(OWN) or path.name.startswith("_cffi"):
            (folder / path.name).symlink_to(path)
    return folder


def fleet_file(tmp_path: Path, config: Path) -> Path:
    file = tmp_path / "team.yaml"
    rows = "".join(f"  - {{name: robot_{i}, index: {i}, host: robot_{i}, folder: {tmp_path}/r{i}}}\n" for i in range(4))
    head = f"version: 1\nname: team\nvehicle: crazyflie_21\nscenario: swap_4\nssh_config: {config}\n"
    file.write_text(f"{head}robots:\n{rows}")
    return file


def test_a_bare_robot_is_set_up_and_flashed(bundles, borrowed: Path, tmp_path: Path, capsys):
    path = f"{Path(getattr(sys, '_base_executable', sys.executable)).parent}:/usr/bin:/bin"
    with serve(tmp_path / "sshd", PYTHONPATH=str(borrowed), PIP_NO_INDEX="1", PATH=path) as server:
        file, figures = fleet_file(tmp_path, server.config), tmp_path / "figures.json"
        four = file.read_text()
        file.write_text("\n".join(line for line in four.splitlines() if "robot_0" in line or "- {" not in line) + "\n")
        assert main(["fleet", "status", str(file)]) == 1
        assert "run `robomarl fleet setup`" in capsys.readouterr().out
        assert main(["fleet", "setup", str(file), "--dry-run"]) == 0 and not (tmp_path / "r0/venv").exists()
        assert main(["fleet", "setup", str(file), "--json", str(figures)]) == 0, capsys.readouterr().out
        (said,) = json.loads(figures.read_text())["robots"]
        assert said["robomarl"] and said["unit"] == f"{tmp_path}/r0/robomarl-robot_0.service"
        found = subprocess.run(
            [tmp_path / "r0/venv/bin/python", "-c", "import robomarl; print(robomarl.__file__)"],
            env={"PYTHONPATH": str(borrowed)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.startswith(f"{tmp_path}/r0/venv/")
        assert json.loads((tmp_path / "r0/robot.json").read_text())["vehicle"] == "crazyflie_21"
        assert Store(tmp_path / "r0").journal.read()[-1].action == "setup"
        from robomarl.fleet import flash
        from robomarl.fleet.robot import connect_all

        reports = flash.flash(bundles[0], connect_all(load_fleet(str(file)), tmp_path))
        assert all(r.ok and r.current == bundles[0].id for r in reports), reports
    assert subprocess.run(["bash", "-n", tmp_path / "r0/policy_node.sh"]).returncode == 0


def test_the_unit_starts_the_node_of_the_plan_and_is_not_enabled(root: Path, tmp_path: Path):
    from dataclasses import replace

    fleet = load_fleet("local_4")
    robot = replace(fleet.robots[1], folder="/home/pilot/robot_1")
    script, unit = start_script(fleet, robot), unit_file(fleet, robot, "pilot")
    last = script.splitlines()[-1]
    assert last.startswith("exec /home/pilot/robot_1/venv/bin/python -m robomarl.ros_nodes.policy_node --ros-args")
    assert "__ns:=/robot_1" in last and "robot_root:=" in last and "/home/pilot/robot_1" in last
    assert "autostart:=true" not in last, "a robot that starts does not fly"
    assert "User=pilot" in unit and 'ExecStart=/bin/bash "/home/pilot/robot_1/policy_node.sh"' in unit
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


def test_the_wheel_is_for_any_processor_and_wants_no_simulation(tmp_path: Path):
    from email.parser import Parser
    from zipfile import ZipFile

    wheel = build_wheel(tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
    with ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        wanted = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist") or []
    core = " ".join(line for line in wanted if "extra ==" not in line)
    assert "onnxruntime" in core and "cryptography" in core
    assert not any(name in core for name in ("jax", "brax", "mujoco", "torch"))


def reachable() -> bool:
    """Whether pip has a package index to ask."""
    command = [sys.executable, "-m", "pip", "index", "versions", "daqp"]
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@pytest.mark.parametrize("python", [pytest.param("3.11", marks=pytest.mark.slow), "3.12"])
def test_what_a_robot_installs_exists_for_aarch64(root: Path, tmp_path: Path, python: str):
    """pip itself resolves the core requirements for 64-bit ARM, wheels only: nothing is compiled on a robot."""
    if not reachable():
        pytest.skip("no package index can be reached")
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    platforms = [word for tag in ("manylinux_2_28", "manylinux2014") for word in ("--platform", f"{tag}_aarch64")]
    report = tmp_path / "report.json"
    options = ["--dry-run", "--quiet", "--ignore-installed", "--only-binary=:all:", "--python-version", python]
    options += ["--target", str(tmp_path / "none"), "--report", str(report), *platforms]
    command = [sys.executable, "-m", "pip", "install", *options, *project["dependencies"]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-800:]
    files = [item["download_info"]["url"].rsplit("/", 1)[-1] for item in json.loads(report.read_text())["install"]]
    names = {file.split("-")[0].lower() for file in files}
    assert {"onnxruntime", "numpy", "daqp", "cryptography"} <= names and not names & {
        "jax",
        "jaxlib",
        "torch",
        "mujoco",
    }
    assert all("aarch64" in file or file.endswith("-any.whl") for file in files), files
    assert any("onnxruntime" in file and "aarch64" in file for file in files)
