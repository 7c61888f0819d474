"""`robomarl fleet setup`: robomarl itself on every robot that is reached over ssh.

Into the robot's folder go a virtual environment with the onboard half (the wheel for its processor, no JAX, and all
else in the versions of `onboard.txt`), what the robot is (`robot.json`), a script that starts its policy node, and a
systemd unit for that. Nothing is enabled or started. The environment is a new one beside the one that is used, and the
robot switches to it when it answers: see `robomarl.fleet.install.environment`, which runs there under its lock.
"""

import io
import json
import re
import secrets
import shlex
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from robomarl.config import UserError
from robomarl.fleet.install import environment
from robomarl.fleet.install.systemd_unit import KEYSTORE, Network, start_script, unit_file, unit_name
from robomarl.fleet.install.wheels import LOCK, Shelf, why_in_python
from robomarl.fleet.robot import Robot, operator
from robomarl.fleet.transport import SshTransport, ssh_command
from robomarl.hardware_configs.fleet import Fleet, RobotConfig

STEPS = ("connect", "build", "send", "install", "check", "done")
INSTALL_S = 900.0
"""Longest that pip may take on a robot."""
WHAT_IT_IS = """
import platform, sys, venv, ensurepip
usual = platform.libc_ver()[0] == "glibc" and sys.maxsize > 2**32  # a 64-bit Linux may run a 32-bit Python
print(platform.machine() if usual else "another processor")
if sys.version_info < (3, 11):
    sys.exit(1)
import fcntl, os
if os.path.exists("lock"):
    with open("lock") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            sys.exit("ERROR: " + (file.read().strip() or "somebody") + " has it now; wait until that is done")
"""
PROBE = """
set -e
umask 022
mkdir -p {folder}
cd {folder}
pwd -P
id -un
exec {python} -c '{program}'
"""
UNPACK = "set -e; umask 022; cd {folder}; mkdir setup-{name}; tar -xf - -C setup-{name}"
INSTALL = "cd {folder}; exec {python} -P setup-{name}/install.py"


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
    filter: str = ""
    """What the safety filter runs in there: `c`, or `numpy`."""


def set_up(
    fleet: Fleet,
    wheels: Path | None = None,
    watch: Callable[[str, str], None] = lambda name, step: None,
    dry_run: bool = False,
    network: Network = Network(),  # noqa: B008
) -> list[SetupReport]:
    """Put robomarl on all robots at once.

    Args:
        fleet: its robots without a `host` are left as they are: this machine has robomarl.
        wheels: folder of wheels to install from, for robots without a package index; with robomarl's own in it, or
            that is built here.
        watch: is told a robot's name and the step that it begins.
        dry_run: only look whether it would work.
        network: domain and enclaves of the robots' nodes.
    """
    with tempfile.TemporaryDirectory() as temporary:
        shelf = Shelf(wheels, Path(temporary))

        def one(robot: RobotConfig) -> SetupReport:
            start = time.perf_counter()
            try:
                report = _set_up_one(fleet, robot, None if dry_run else shelf, watch, network)
            except UserError as error:
                watch(robot.name, "failed")
                report = SetupReport(robot.name, False, reason=str(error))
            return replace(report, seconds=time.perf_counter() - start)

        with ThreadPoolExecutor(len(fleet.robots)) as pool:
            return list(pool.map(one, sorted(fleet.robots, key=lambda robot: robot.index)))


def _set_up_one(
    fleet: Fleet, robot: RobotConfig, shelf: Shelf | None, watch: Callable[[str, str], None], network: Network
) -> SetupReport:
    """Set one robot up; without a shelf, only look."""
    if not robot.host:
        return SetupReport(robot.name, reason="is a folder on this machine; nothing to do.")
    watch(robot.name, "connect")
    base, folder = robot.python or "python3", shlex.quote(robot.remote_folder)
    if robot.python:
        raise UserError(f"{robot.name}: the fleet file names its interpreter, {robot.python}; install robomarl there.")
    probe = PROBE.format(folder=folder, python=base, program=WHAT_IT_IS)
    place, user, told = _run(fleet, robot, probe, within_s=30.0).split("\n")[-4:-1]
    machine = told if re.fullmatch(r"[\w ]{1,30}", told, re.ASCII) else "another processor"
    if shelf is None:
        return SetupReport(robot.name, reason=f"would be set up in {place}, for {machine}.")
    watch(robot.name, "build")
    files, unit = shelf.files(machine), unit_name(robot)
    there = replace(robot, folder=place)
    watch(robot.name, "send")
    name = secrets.token_hex(4)
    about = {"unit": unit, "lock": LOCK.name, "wheel": files[-1].name, "no_index": shelf.given is not None}
    content = {file.name: file.read_bytes() for file in (*files, LOCK)}
    content["install.py"] = Path(environment.__file__).read_bytes()
    content["install.json"] = json.dumps({**about, "who": operator()}).encode()
    sent = _packed(fleet, there, user, content | network.files(robot.name), network)
    _run(fleet, robot, UNPACK.format(folder=folder, name=name), sent, 120.0)
    watch(robot.name, "install")
    _run(fleet, robot, INSTALL.format(folder=folder, python=base, name=name), within_s=INSTALL_S)
    watch(robot.name, "check")
    facts = _introduce(fleet, robot)
    watch(robot.name, "done")
    advice = f"start it with: sudo systemctl enable --now {place}/{unit}. {_filter(facts['filter'], machine)}"
    return SetupReport(robot.name, True, 0.0, advice, facts["robomarl"], f"{place}/{unit}", facts["filter"])


def _filter(backend: str, machine: str) -> str:
    """What to tell of the safety filter of a robot."""
    if backend == "c":
        return "The safety filter runs in C there."
    why = why_in_python(machine)
    return f"The safety filter runs in Python there, about 1 ms a decision, without the C kernel: {why}"


def _introduce(fleet: Fleet, robot: RobotConfig) -> dict:
    """What is there now, `hello` and `state` in one; and let it write down what the robot is."""
    there = Robot(robot.name, SshTransport(robot, fleet.ssh_config))
    try:
        facts = there.hello()
        there.lock()
        there.call("profile", name=robot.name, index=robot.index, fleet=fleet.name, vehicle=fleet.vehicle_config.name)
        return {**facts, **there.call("state")}
    finally:
        there.close()


def _packed(fleet: Fleet, robot: RobotConfig, user: str, content: dict[str, bytes], network: Network) -> bytes:
    """A tar file with all that goes into the robot's folder; `content`: what is there already, by name."""
    vehicle = Path(fleet.vehicle)
    if vehicle.suffix in (".yaml", ".yml"):
        content["vehicle.yaml"] = vehicle.read_bytes()
        fleet = replace(fleet, vehicle=f"{robot.folder}/vehicle.yaml")
    content["policy_node.sh"] = start_script(fleet, robot, network).encode()
    content[unit_name(robot)] = unit_file(fleet, robot, user).encode()
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o600 if name.startswith(KEYSTORE) else 0o644
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
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = [line for line in lines if line.startswith("ERROR: ")] or lines  # pip says more behind its reason
        reasons = [line for line in said if "lock" in line or "now;" in line or "HASHES" in line] or said
        reason = json.dumps("".join(reasons[-1:]) or f"exit status {done.returncode}")
        raise UserError(f"{robot.name} ({robot.host}): {reason}; it needs Python 3.11 with venv, and a way to pip.")
    return done.stdout.decode(errors="replace")
