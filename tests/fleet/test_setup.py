"""A robot that has Python and nothing else gets robomarl, over a real sshd; and what it installs exists for aarch64."""

import json
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from robomarl.core.hardware.fleet import load_fleet
from robomarl.fleet.install import wheels
from robomarl.fleet.store import Store
from robomarl.front.cli import main
from robomarl.ros.enclaves.keystore import FILES
from robomarl.ros.install import setup
from robomarl.ros.install.systemd_unit import start_script, unit_file
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


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As the one that ships, with the versions of this environment, which need not be the same."""
    names = re.findall(r"^([\w-]+)==", wheels.LOCK.read_text(), re.M)
    lines = (f"{name}=={distribution(name).version} --hash=sha256:{'0' * 64}" for name in names if name != "pycparser")
    file = tmp_path / "onboard.txt"
    file.write_text("\n".join(lines))
    monkeypatch.setattr(setup, "LOCK", file)
    return file


def fleet_file(tmp_path: Path, config: Path) -> Path:
    file = tmp_path / "team.yaml"
    rows = "".join(f"  - {{name: robot_{i}, index: {i}, host: robot_{i}, folder: {tmp_path}/r{i}}}\n" for i in range(4))
    head = f"version: 1\nname: team\nvehicle: crazyflie_21\nscenario: swap_4\nssh_config: {config}\n"
    file.write_text(f"{head}robots:\n{rows}")
    return file


def of_one(file: Path) -> Path:
    """Leave only the first robot in a fleet file."""
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line for line in lines if "robot_0" in line or "- {" not in line) + "\n")
    return file


PATH = f"{Path(getattr(sys, '_base_executable', sys.executable)).parent}:/usr/bin:/bin"


def test_a_bare_robot_is_set_up_and_flashed(
    bundles, borrowed: Path, lock: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ROBOMARL_KEYS", str(tmp_path / "keys"))
    with serve(tmp_path / "sshd", PYTHONPATH=str(borrowed), PIP_NO_INDEX="1", PATH=PATH) as server:
        file, figures = fleet_file(tmp_path, server.config), tmp_path / "figures.json"
        of_one(file)
        assert main(["fleet", "status", str(file)]) == 1
        assert "run `robomarl fleet setup`" in capsys.readouterr().out
        assert main(["fleet", "setup", str(file), "--dry-run"]) == 0 and not (tmp_path / "r0/venv").exists()
        secure = ["--secure", "--domain-id", "43"]
        assert main(["fleet", "setup", str(file), *secure, "--json", str(figures)]) == 0, capsys.readouterr().out
        (said,) = json.loads(figures.read_text())["robots"]
        in_c = wheels.zig() is not None and platform.machine() in wheels.PROCESSORS
        assert said["filter"] == ("c" if in_c else "numpy")
        assert main(["fleet", "status", str(file)]) == 0
        assert f"filter in {'C' if in_c else 'Python'}" in capsys.readouterr().out
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
        with Store(tmp_path / "r0").lock("/robot_0/policy_node, which is active,"):
            before = (tmp_path / "r0/venv").resolve()
            for words in ([], ["--dry-run"]):
                capsys.readouterr()
                assert main(["fleet", "setup", str(file), *words]) == 1
                assert "policy_node, which is active, (process" in capsys.readouterr().out
            assert (tmp_path / "r0/venv").resolve() == before and len(list((tmp_path / "r0/venvs").iterdir())) == 1
            assert not list((tmp_path / "r0").glob("setup-*"))
        from robomarl.fleet import flash
        from robomarl.fleet.robot import connect_all

        reports = flash.flash(bundles[0], connect_all(load_fleet(str(file)), tmp_path))
        assert all(r.ok and r.current == bundles[0].id for r in reports), reports
    assert subprocess.run(["bash", "-n", tmp_path / "r0/policy_node.sh"]).returncode == 0
    assert_has_its_own_enclaves(tmp_path / "r0", tmp_path / "keys")


def assert_has_its_own_enclaves(robot: Path, keys: Path) -> None:
    """They are in its folder, for nobody else to read; who signed them is not; the script exports them."""
    found = {path.relative_to(robot / "keystore").as_posix() for path in (robot / "keystore").rglob("*.*")}
    assert found == {f"enclaves/robot_0/{node}/{name}" for node in ("policy_node", "vehicle") for name in FILES}
    assert not [path for path in (robot / "keystore").rglob("*") if path.stat().st_mode & 0o077]
    (authority,) = keys.rglob("ca.key.pem")
    assert not [path for path in robot.rglob("*.pem") if path.read_bytes() == authority.read_bytes()]
    script = (robot / "policy_node.sh").read_text()
    exports = {"ROS_SECURITY_KEYSTORE": f"{robot}/keystore", "ROS_SECURITY_ENABLE": "true", "ROS_DOMAIN_ID": "43"}
    exports["ROS_SECURITY_STRATEGY"] = "Enforce"
    assert all(f"export {name}={value}\n" in script for name, value in exports.items())
    assert "--enclave /robot_0/policy_node" in script


@pytest.mark.slow
def test_where_one_robot_fails_no_robot_has_another_environment(borrowed: Path, lock: Path, tmp_path: Path, capsys):
    """A second setup, with a robot whose disk takes no environment: the other has installed, and keeps what it had."""
    with serve(tmp_path / "sshd", PYTHONPATH=str(borrowed), PIP_NO_INDEX="1", PATH=PATH) as server:
        file = fleet_file(tmp_path, server.config)
        file.write_text("\n".join(file.read_text().splitlines()[:-2]) + "\n")
        assert main(["fleet", "setup", str(file)]) == 0, capsys.readouterr().out
        before = [(tmp_path / name / "venv").resolve() for name in ("r0", "r1")]
        (tmp_path / "r1/venvs").rename(tmp_path / "r1/kept")
        (tmp_path / "r1/venvs").write_text("")
        assert main(["fleet", "setup", str(file)]) == 1
        assert "robot_0  FAILED  has what it had, because robot_1 failed." in capsys.readouterr().out
        assert (tmp_path / "r0/venv").resolve() == before[0] and len(list((tmp_path / "r0/venvs").iterdir())) == 1


def test_what_a_robot_says_of_its_processor_is_no_text_for_the_terminal(tmp_path: Path, capsys):
    (tmp_path / "sitecustomize.py").write_text("import platform; platform.machine = lambda: 'aarch64\\33[2J/../..'")
    with serve(tmp_path / "sshd", PYTHONPATH=str(tmp_path)) as server:
        file = of_one(fleet_file(tmp_path, server.config))
        assert main(["fleet", "setup", str(file), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "for another processor" in said and "\033" not in said and "aarch64" not in said


def test_the_unit_starts_the_node_of_the_plan_and_is_not_enabled(root: Path, tmp_path: Path):
    from dataclasses import replace

    fleet = load_fleet("local_4")
    robot = replace(fleet.robots[1], folder="/home/pilot/robot_1")
    script, unit = start_script(fleet, robot), unit_file(fleet, robot, "pilot")
    last = script.splitlines()[-1]
    assert last.startswith('exec "$python" -m robomarl.ros.environment_check.start robomarl.ros.policy_node --ros-args')
    assert 'python="$(readlink -f /home/pilot/robot_1/venv)/bin/python"' in script.splitlines()
    assert "__ns:=/robot_1" in last and "robot_root:=" in last and "/home/pilot/robot_1" in last
    assert "autostart:=true" not in last, "a robot that starts does not fly"
    assert "User=pilot" in unit and 'ExecStart=/bin/bash "/home/pilot/robot_1/policy_node.sh"' in unit
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


def test_a_wheel_that_somebody_changed_is_not_installed(borrowed: Path, lock: Path, tmp_path: Path, capsys):
    """The robot lacks one package; the folder of wheels has it, of the right name and version, with another content."""
    without = tmp_path / "without"
    without.mkdir()
    for path in borrowed.iterdir():
        if not path.name.startswith("attr"):
            (without / path.name).symlink_to(path)
    folder = tmp_path / "wheels"
    folder.mkdir()
    fake_wheel(folder, distribution("attrs"))
    wheels.build(folder)
    with serve(tmp_path / "sshd", PYTHONPATH=str(without), PIP_NO_INDEX="1", PATH=PATH) as server:
        file = of_one(fleet_file(tmp_path, server.config))
        assert main(["fleet", "setup", str(file), "--wheels", str(folder)]) == 1
    assert "DO NOT MATCH THE HASHES" in capsys.readouterr().out
    assert not list((tmp_path / "r0").rglob("attrs*")) and not (tmp_path / "r0/venv").exists()


def fake_wheel(folder: Path, of: Distribution) -> None:
    """A wheel with nothing in it but a name and a version."""
    name, info = of.metadata["Name"], f"{of.metadata['Name']}-{of.version}.dist-info"
    with ZipFile(folder / f"{name}-{of.version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {of.version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def reachable() -> bool:
    """Whether pip has a package index to ask."""
    command = [sys.executable, "-m", "pip", "index", "versions", "numpy"]
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def locked() -> dict[str, str]:
    """Versions by name, of the lock file that ships."""
    found = re.findall(r"^([\w-]+)==([\w.]+)", wheels.LOCK.read_text(), re.M)
    assert found and len(re.findall("--hash=sha256:", wheels.LOCK.read_text())) > len(found)
    return dict(found)


def test_all_that_the_package_needs_is_locked(root: Path):
    """Each requirement, and what those require in turn on Linux, in a version that is allowed."""
    from packaging.requirements import Requirement

    have, seen = locked(), set()
    todo = re.findall(r'^    "([^"]+)",', (root / "pyproject.toml").read_text().partition("[project.optional")[0], re.M)
    assert len(todo) >= 7
    while todo:
        wanted = Requirement(todo.pop())
        name = wanted.name.lower().replace("_", "-")
        if (wanted.marker is None or wanted.marker.evaluate({"extra": ""})) and name not in seen:
            seen.add(name)
            assert wanted.specifier.contains(have[name]), f"{wanted} is not what onboard.txt has; make it anew"
            todo += distribution(name).requires or []
    assert seen == set(have), "onboard.txt has what nobody needs"


@pytest.mark.parametrize("python", [pytest.param("3.11", marks=pytest.mark.slow), "3.12"])
def test_what_a_robot_installs_exists_for_aarch64(tmp_path: Path, python: str):
    """pip itself resolves what is locked for 64-bit ARM, wheels only: nothing is compiled on a robot."""
    if not reachable():
        pytest.skip("no package index can be reached")
    platforms = [word for tag in ("manylinux_2_28", "manylinux2014") for word in ("--platform", f"{tag}_aarch64")]
    report = tmp_path / "report.json"
    options = ["--dry-run", "--quiet", "--ignore-installed", "--only-binary=:all:", "--python-version", python]
    options += ["--target", str(tmp_path / "none"), "--report", str(report), *platforms]
    options += ["--require-hashes", "--requirement", str(wheels.LOCK)]
    done = subprocess.run([sys.executable, "-m", "pip", "install", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-800:]
    files = [item["download_info"]["url"].rsplit("/", 1)[-1] for item in json.loads(report.read_text())["install"]]
    names = {file.split("-")[0].lower().replace("_", "-") for file in files}
    assert names == set(locked())
    assert all("aarch64" in file or file.endswith("-any.whl") for file in files), files
    assert any("onnxruntime" in file and "aarch64" in file for file in files)


@pytest.mark.slow
def test_the_documented_way_without_internet(root: Path, tmp_path: Path):
    """The command of the page as it is there, with the pip that a fresh venv brings; pip then needs no index."""
    if not reachable():
        pytest.skip("no package index can be reached")
    (command,) = re.findall(r"^pip (download .*?[^\\])\n", (root / "docs/flash.md").read_text(), re.M | re.S)
    venv.create(tmp_path / "venv", with_pip=True)
    pip = [tmp_path / "venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    words = shlex.split(command.replace("\\\n", " "))
    words[words.index("--dest") + 1] = str(tmp_path / "wheels")
    subprocess.run([*pip, *words], cwd=root, check=True)
    options = ["--no-index", "--find-links", tmp_path / "wheels", "--target", tmp_path / "there", "--only-binary=:all:"]
    options += ["--require-hashes", "--requirement", wheels.LOCK, "--python-version", "3.12", "--no-deps"]
    options += [word for tag in ("manylinux_2_28", "manylinux2014") for word in ("--platform", f"{tag}_aarch64")]
    subprocess.run([*pip, "install", *options], check=True)
    assert (tmp_path / "there/onnxruntime").is_dir()
