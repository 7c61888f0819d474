"""`robomarl fleet setup`: robomarl itself on every robot that is reached over ssh.

Into the robot's folder go a virtual environment with the onboard half (a wheel, no JAX), what the robot is
(`robot.json`), a script that starts its policy node, and a systemd unit for that. Nothing is enabled or started.
"""

import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from robomarl.config import UserError
from robomarl.fleet.robot import Robot
from robomarl.fleet.transport import SshTransport, ssh_command
from robomarl.fleet.unit import start_script, unit_file, unit_name
from robomarl.hardware_configs.fleet import Fleet, RobotConfig
from robomarl.paths import share_dir

STEPS = ("connect", "send", "install", "check", "done")
INSTALL_S = 900.0
"""Longest that pip may take on a robot."""
KERNEL = "The wheel has no compiled kernel: the filter runs in Python there, about 1 ms a decision."
PROBE = """
set -e
mkdir -p {folder}
cd {folder}
pwd -P
id -un
exec {python} -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
"""
UNPACK = "set -e; cd {folder}; rm -rf setup; mkdir setup; tar -xf - -C setup"
INSTALL = """
set -e
cd {folder}
test -x venv/bin/python || {python} -m venv venv
pip="venv/bin/python -m pip install --quiet --disable-pip-version-check"
$pip --upgrade {options} setup/robomarl-*.whl
$pip --force-reinstall --no-deps --no-index setup/robomarl-*.whl  # also where the version is the same
cp setup/{unit} setup/policy_node.sh .
chmod 755 policy_node.sh
if [ -f setup/vehicle.yaml ]; then cp setup/vehicle.yaml .; fi
rm -rf setup
"""


@dataclass(frozen=True)
class SetupReport:
    """What came of one robot."""

    name: str
    ok: bool = True
    seconds: float = 0.0
    reason: str = ""
    robomarl: str = ""
    """Version that is there now."""
    unit: str = ""
    """The systemd unit's file on the robot."""


def set_up(
    fleet: Fleet,
    wheels: Path | None = None,
    watch: Callable[[str, str], None] = lambda name, step: None,
    dry_run: bool = False,
) -> list[SetupReport]:
    """Put robomarl on all robots at once.

    Args:
        fleet: its robots without a `host` are left as they are: this machine has robomarl.
        wheels: folder of wheels to install from, for robots without a package index; with robomarl's own in it, or
            that is built here.
        watch: is told a robot's name and the step that it begins.
        dry_run: only look whether it would work.

    Raises:
        UserError: the wheel can't be built, or the folder has none.
    """
    with tempfile.TemporaryDirectory() as temporary:
        files = [] if dry_run else wheel_files(wheels, Path(temporary))

        def one(robot: RobotConfig) -> SetupReport:
            start = time.perf_counter()
            try:
                report = _set_up_one(fleet, robot, None if dry_run else files, watch, wheels is not None)
            except UserError as error:
                watch(robot.name, "failed")
                report = SetupReport(robot.name, False, reason=str(error))
            return replace(report, seconds=time.perf_counter() - start)

        with ThreadPoolExecutor(len(fleet.robots)) as pool:
            return list(pool.map(one, sorted(fleet.robots, key=lambda robot: robot.index)))


def wheel_files(wheels: Path | None, folder: Path) -> list[Path]:
    """The wheels to send: those of a folder, and robomarl's own, built here if it is not among them.

    Raises:
        UserError: it can't be built.
    """
    found = sorted(wheels.glob("*.whl")) if wheels is not None else []
    if any(file.name.startswith("robomarl-") for file in found):
        return found
    return [*found, build_wheel(folder)]


def build_wheel(folder: Path) -> Path:
    """Build robomarl's wheel for any processor: without the compiled kernel, which is of this machine.

    Raises:
        UserError: this is no checkout, or pip failed.
    """
    source = share_dir()
    if not (source / "setup.py").is_file():
        raise UserError("robomarl was installed without its source; put its wheel into a folder and name it: --wheels.")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    environment = {**os.environ, "ROBOMARL_PURE": "1"}
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", *options], capture_output=True, env=environment)
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UserError(f"{source}: the wheel can't be built ({''.join(last)}); run `make setup`.")
    return next(folder.glob("robomarl-*.whl"))


def _set_up_one(
    fleet: Fleet, robot: RobotConfig, files: list[Path] | None, watch: Callable[[str, str], None], is_offline: bool
) -> SetupReport:
    if not robot.host:
        return SetupReport(robot.name, reason="is a folder on this machine; nothing to do.")
    watch(robot.name, "connect")
    base, folder = robot.python or "python3", shlex.quote(robot.remote_folder)
    if robot.python:
        raise UserError(f"{robot.name}: the fleet file names its interpreter, {robot.python}; install robomarl there.")
    place, user = _run(fleet, robot, PROBE.format(folder=folder, python=base), within_s=30.0).split("\n")[-3:-1]
    if files is None:
        return SetupReport(robot.name, reason=f"would be set up in {place}.")
    unit = unit_name(robot)
    there = replace(robot, folder=place)
    watch(robot.name, "send")
    _run(fleet, robot, UNPACK.format(folder=folder), _packed(fleet, there, user, files), 120.0)
    watch(robot.name, "install")
    options = "--no-index --find-links setup" if is_offline else ""
    script = INSTALL.format(folder=folder, python=base, options=options, unit=unit)
    _run(fleet, robot, script, within_s=INSTALL_S)
    watch(robot.name, "check")
    facts = _introduce(fleet, robot)
    watch(robot.name, "done")
    told = f"start it with: sudo systemctl enable --now {place}/{unit}. {KERNEL}"
    return SetupReport(robot.name, reason=told, robomarl=facts["robomarl"], unit=f"{place}/{unit}")


def _introduce(fleet: Fleet, robot: RobotConfig) -> dict:
    """Ask what was just installed, and let it write down what the robot is."""
    there = Robot(robot.name, SshTransport(robot, fleet.ssh_config))
    try:
        facts = there.hello()
        there.lock()
        there.call("profile", name=robot.name, index=robot.index, fleet=fleet.name, vehicle=fleet.vehicle_config.name)
        return facts
    finally:
        there.close()


def _packed(fleet: Fleet, robot: RobotConfig, user: str, files: list[Path]) -> bytes:
    """A tar file with all that goes into the robot's folder."""
    content = {file.name: file.read_bytes() for file in files}
    vehicle = Path(fleet.vehicle)
    if vehicle.suffix in (".yaml", ".yml"):
        content["vehicle.yaml"] = vehicle.read_bytes()
        fleet = replace(fleet, vehicle=f"{robot.folder}/vehicle.yaml")
    content["policy_node.sh"] = start_script(fleet, robot).encode()
    content[unit_name(robot)] = unit_file(fleet, robot, user).encode()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


def _run(fleet: Fleet, robot: RobotConfig, script: str, data: bytes = b"", within_s: float = 60.0) -> str:
    """Output of a shell script on a robot.

    Raises:
        UserError: it failed, or took too long.
    """
    command = ssh_command(robot, fleet.ssh_config, f"sh -c {shlex.quote(script)}")
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=within_s)
    except subprocess.TimeoutExpired:
        raise UserError(f"{robot.name} ({robot.host}): took over {within_s:g} s; look at its network.") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        reason = json.dumps("".join(said) or f"exit status {done.returncode}")
        raise UserError(f"{robot.name} ({robot.host}): {reason}; it needs Python 3.11 with venv, and a way to pip.")
    return done.stdout.decode(errors="replace")
