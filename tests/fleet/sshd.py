"""A real sshd on this machine for the tests: own settings, keys and port; several robots are several folders."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

SSHD = "/usr/sbin/sshd"
CONFIG = """
Port {port}
ListenAddress {address}
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin yes
MaxStartups 100
PrintMotd no
SetEnv {environment}
"""
CLIENT = """
Host away
    Port 1
Host robot_* away
    HostName {address}
    Port {port}
    User {user}
    IdentityFile {folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known_hosts
    StrictHostKeyChecking yes
"""


@dataclass(frozen=True)
class Server:
    """An sshd that runs, and the settings that lead to it."""

    folder: Path
    config: Path
    """For `ssh -F`."""
    process: subprocess.Popen


def missing() -> str:
    """Why there can be no server here, or nothing."""
    if os.geteuid() != 0:
        return "sshd: needs root to log in to itself"
    absent = [name for name in (SSHD, "ssh", "ssh-keygen") if shutil.which(name) is None]
    return f"sshd: {', '.join(absent)} not installed (.ci/sshd)" if absent else ""


@contextmanager
def serve(folder: Path, address: str = "127.0.0.1", netns: str = "", **environment: str) -> Iterator[Server]:
    """Start an sshd, and stop it with all that it started at the end.

    Args:
        folder: for keys, settings and logs.
        address: to listen on.
        netns: network namespace to listen in.
        environment: of the sessions.
    """
    if reason := missing():
        pytest.skip(reason)
    folder.mkdir(parents=True, exist_ok=True)
    Path("/run/sshd").mkdir(exist_ok=True)  # where sshd goes to drop its rights; packages make it at boot
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    port = 2222 if netns else free_port()
    host_key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[{address}]:{port} {host_key}\n")
    words = {"PYTHONDONTWRITEBYTECODE": "1", **environment}
    about = {"port": port, "address": address, "folder": folder, "user": "root"}
    settings = CONFIG.format(**about, environment=" ".join(f'"{k}={v}"' for k, v in words.items()))
    (folder / "sshd_config").write_text(settings)
    (folder / "ssh_config").write_text(CLIENT.format(**about))
    inside = ["ip", "netns", "exec", netns] if netns else []
    command = [*inside, SSHD, "-D", "-f", str(folder / "sshd_config"), "-E", str(folder / "log")]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        wait_for_port(address, port, process, folder, inside)
        yield Server(folder, folder / "ssh_config", process)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def wait_for_port(address: str, port: int, process: subprocess.Popen, folder: Path, inside: list[str]) -> None:
    """Return when the server answers."""
    for _ in range(200):
        if process.poll() is not None:
            pytest.skip(f"sshd: does not run here: {(folder / 'log').read_text()[-300:]}")
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((address, port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("sshd does not answer")


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def interpreter(folder: Path, root: Path, before: str = "") -> str:
    """A robot's own Python: this one, with robomarl's source from `root`; Python code `before` runs first."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(before)
    script = folder / "python"
    paths = f"{folder}:{root}:{sysconfig.get_path('purelib')}"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{paths}" OPENBLAS_NUM_THREADS=1 exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)


def fleet_text(server: Server, folder: Path, python: list[str], hosts: list[str] | None = None) -> str:
    """A fleet file: a robot for each interpreter."""
    hosts = hosts or [f"robot_{i}" for i in range(len(python))]
    rows = [
        f"  - {{name: robot_{i}, index: {i}, folder: {folder}/robot_{i}, host: {hosts[i]}, python: {word}}}"
        for i, word in enumerate(python)
    ]
    head = ["version: 1", "name: team", "vehicle: crazyflie_21", "scenario: swap_4", f"ssh_config: {server.config}"]
    return "\n".join([*head, "robots:", *rows]) + "\n"
