"""`robomarl fleet setup`: install robomarl itself on every robot that is reached over ssh.

The robot's folder receives a virtual environment with the onboard half (the wheel for its
processor, no JAX, and all other packages in the versions of `onboard.txt`), the robot's description
(`robot.json`), a script that starts its policy node, and a systemd unit for that script. Nothing is
enabled or started. The environment is a new one beside the one in use, and the robot switches to it
when it answers: see `robomarl.fleet.install.environment`, which runs there under its lock. All
robots switch when every robot is ready to, and keep the new environment when every robot answers.
Otherwise all robots return to their previous environment.
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
from typing import Any, NamedTuple

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet, RobotConfig
from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.fleet.install import environment
from robomarl.fleet.install.remote_install import RemoteInstall, why_it_failed
from robomarl.fleet.install.wheels import LOCK, Shelf, why_in_python
from robomarl.fleet.robot import Robot, operator
from robomarl.fleet.transport import SshTransport, ssh_command
from robomarl.fleet.waiting import waits
from robomarl.ros.install.systemd_unit import KEYSTORE, Network, start_script, unit_file, unit_name

STEPS = ("connect", "build", "send", "install", "switch", "check", "done")
INSTALL_S = 900.0
"""Longest that pip may take on a robot."""
SWITCH_S = 150.0
"""And to switch and answer."""
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
    """Result of the setup of one robot."""

    name: str
    ok: bool = True
    seconds: float = 0.0
    reason: str = ""
    robomarl: str = ""
    """Version that is there now."""
    unit: str = ""
    """The systemd unit's file on the robot."""
    filter: str = ""
    """Backend of the safety filter on the robot: `c`, or `numpy`."""


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
        shelf = None if dry_run else Shelf(wheels, Path(temporary))
        return TeamSetup(fleet, shelf, watch, network).run()


class TeamSetup:
    """Setup of a team: all robots prepare, then all switch, then all keep it. If one fails, all keep their previous
    state.
    """

    def __init__(self, fleet: Fleet, shelf: Shelf | None, watch: Callable[[str, str], None], network: Network) -> None:
        """Nothing is done yet; without a shelf, robots are only looked at."""
        self._fleet, self._shelf, self._told, self._network = fleet, shelf, watch, network
        self._steps: dict[str, str] = {}
        self._robots = {robot.name: robot for robot in fleet.own}
        self._reports = {name: SetupReport(name) for name in self._robots}
        self._installs: dict[str, RemoteInstall] = {}
        self._looks: dict[str, Look] = {}

    def run(self) -> list[SetupReport]:
        """Set up all robots, from the first question to the last answer."""
        with ThreadPoolExecutor(len(self._robots)) as pool:
            try:
                failed = self._all(pool, self._prepare) or self._all(pool, self._switch)
                if not failed:
                    self._all(pool, self._keep)
            finally:
                list(pool.map(RemoteInstall.close, self._installs.values()))
            for name in self._installs if failed else ():
                because = f"has what it had, because {failed} failed."
                self._update(name, ok=False, reason=self._reports[name].reason or because)
            if not failed:
                self._all(pool, self._introduce)
        return list(self._reports.values())

    def _all(self, pool: ThreadPoolExecutor, act: Callable[[RobotConfig], None]) -> str:
        """Act on all robots that have not failed, at once; the first one that failed, or nothing."""
        names = [name for name in self._robots if self._reports[name].ok]
        with waits(lambda: self._busy(names)):
            good = dict(zip(names, pool.map(lambda name: self._timed(act, name), names), strict=True))
        return next((name for name in names if not good[name]), "")

    def _busy(self, names: list[str]) -> str:
        """Return the robots that are at work, each with its step."""
        return ", ".join(f"{name} ({step})" for name in names if (step := self._steps.get(name)))

    def _watch(self, name: str, step: str) -> None:
        """Keep in mind that a robot begins a step, and tell it."""
        self._steps[name] = step
        self._told(name, step)

    def _timed(self, act: Callable[[RobotConfig], None], name: str) -> bool:
        start = time.perf_counter()
        try:
            act(self._robots[name])
        except Exception as error:  # whatever it was, the others must hear that this robot failed
            self._watch(name, "failed")
            self._update(name, ok=False, reason=str(error) if isinstance(error, UserError) else f"{name}: {error!r}")
        self._update(name, seconds=self._reports[name].seconds + time.perf_counter() - start)
        self._steps.pop(name, None)
        return self._reports[name].ok

    def _update(self, name: str, **changes: Any) -> None:
        self._reports[name] = replace(self._reports[name], **changes)

    def _prepare(self, robot: RobotConfig) -> None:
        """Prepare a robot up to the point before anything changes."""
        if not robot.host:
            self._update(robot.name, reason="is a folder on this machine; nothing to do.")
            return
        self._watch(robot.name, "connect")
        look = self._looks[robot.name] = look_at(self._fleet, robot)
        if self._shelf is None:
            self._update(robot.name, reason=f"would be set up in {look.place}, for {look.machine}.")
            return
        self._watch(robot.name, "build")
        files = self._shelf.files(look.machine)
        self._watch(robot.name, "send")
        name, folder = secrets.token_hex(4), shlex.quote(robot.remote_folder)
        about = {"unit": unit_name(robot), "lock": LOCK.name, "wheel": files[-1].name}
        about |= {"no_index": self._shelf.given is not None, "who": operator()}
        content = {file.name: file.read_bytes() for file in (*files, LOCK)}
        content["install.py"] = Path(environment.__file__).read_bytes()
        content["install.json"] = json.dumps(about).encode()
        there, enclaves = replace(robot, folder=look.place), self._network.files(robot.name)
        sent = _packed(self._fleet, there, look.user, content | enclaves, self._network)
        _run(self._fleet, robot, UNPACK.format(folder=folder, name=name), sent, 120.0)
        self._watch(robot.name, "install")
        script = INSTALL.format(folder=folder, python=robot.python or "python3", name=name)
        self._installs[robot.name] = RemoteInstall(robot, _over_ssh(self._fleet, robot, script))
        self._installs[robot.name].wait_for(environment.PREPARED, INSTALL_S)

    def _switch(self, robot: RobotConfig) -> None:
        if install := self._installs.get(robot.name):
            self._watch(robot.name, "switch")
            install.go_on()
            install.wait_for(environment.SWITCHED, SWITCH_S)

    def _keep(self, robot: RobotConfig) -> None:
        if install := self._installs.get(robot.name):
            install.go_on()
            install.finish()

    def _introduce(self, robot: RobotConfig) -> None:
        """Let the new environment write down the robot's profile."""
        if robot.name not in self._installs:
            return
        self._watch(robot.name, "check")
        facts, look = _introduce(self._fleet, robot), self._looks[robot.name]
        unit = f"{look.place}/{unit_name(robot)}"
        advice = f"start it with: sudo systemctl enable --now {unit}. {_filter(facts['filter'], look.machine)}"
        self._update(robot.name, reason=advice, robomarl=facts["robomarl"], unit=unit, filter=facts["filter"])
        self._watch(robot.name, "done")


class Look(NamedTuple):
    """Facts about a robot that does not have robomarl yet."""

    place: str
    """Its folder."""
    user: str
    machine: str
    """Its processor."""


def look_at(fleet: Fleet, robot: RobotConfig) -> Look:
    """Ask a robot for its folder, user and processor.

    Raises:
        UserError: it does not answer, another process holds its lock, or the fleet file names its
            interpreter.
    """
    base, folder = robot.python or "python3", shlex.quote(robot.remote_folder)
    if robot.python:
        raise UserError(f"{robot.name}: the fleet file names its interpreter, {robot.python}; install robomarl there.")
    probe = PROBE.format(folder=folder, python=base, program=WHAT_IT_IS)
    place, user, told = _run(fleet, robot, probe, within_s=30.0).split("\n")[-4:-1]
    machine = told if re.fullmatch(r"[\w ]{1,30}", told, re.ASCII) else "another processor"
    return Look(place, user, machine)


def _filter(backend: str, machine: str) -> str:
    """Return a sentence on the backend of a robot's safety filter."""
    if backend == "c":
        return "The safety filter runs in C there."
    why = why_in_python(machine)
    return f"The safety filter runs in Python there, about 1 ms a decision, without the C kernel: {why}"


def _introduce(fleet: Fleet, robot: RobotConfig) -> dict:
    """Return the robot's `hello` and `state` in one dictionary, after it has written down its profile."""
    there = Robot(robot.name, SshTransport(robot, fleet.ssh_config))
    try:
        facts = there.hello()
        there.lock()
        vehicle = load_any_vehicle(fleet.vehicle_of(robot)).name
        there.call("profile", name=robot.name, index=robot.index, fleet=fleet.name, vehicle=vehicle)
        return {**facts, **there.call("state")}
    finally:
        there.close()


def _packed(fleet: Fleet, robot: RobotConfig, user: str, content: dict[str, bytes], network: Network) -> bytes:
    """Return a tar file with everything that goes into the robot's folder; `content`: files made so far, by name."""
    vehicle = Path(fleet.vehicle)
    if fleet.is_unlike and any(Path(fleet.vehicle_of(one)).suffix for one in fleet.own):
        raise UserError(f"Fleet {fleet.name}: unlike vehicles of robots with a host are named, and are no paths.")
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
    try:
        done = subprocess.run(_over_ssh(fleet, robot, script), input=data, capture_output=True, timeout=within_s)
    except subprocess.TimeoutExpired:
        raise UserError(f"{robot.name} ({robot.host}): took over {within_s:g} s; look at its network.") from None
    if done.returncode != 0:
        raise UserError(f"{robot.name} ({robot.host}): {why_it_failed(done.stderr, done.returncode)}")
    return done.stdout.decode(errors="replace")


def _over_ssh(fleet: Fleet, robot: RobotConfig, script: str) -> list[str]:
    return ssh_command(robot, fleet.ssh_config, f"sh -c {shlex.quote(script)}")
