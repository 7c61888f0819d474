"""A real sshd of one's own on this machine: own settings, keys and port. Several robots are several folders.

Benchmarks and tests flash over it; nothing of the user's own ssh is touched. It needs root, to log in to itself.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.config import UserError

SSHD = "/usr/sbin/sshd"
NETNS_PORT = 2222
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
    User root
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
    """For `ssh -F`: hosts robot_0, robot_1, ... are here, and `away`, where nobody listens."""


def missing() -> str:
    """Why there can be no server here, or nothing."""
    if os.geteuid() != 0:
        return "sshd: needs root to log in to itself."
    absent = [name for name in (SSHD, "ssh", "ssh-keygen") if shutil.which(name) is None]
    return f"sshd: {', '.join(absent)} not installed; run .ci/sshd." if absent else ""


@contextmanager
def serve(folder: Path, address: str = "127.0.0.1", netns: str = "", **environment: str) -> Iterator[Server]:
    """Start an sshd, and stop it with all that it started at the end.

    Args:
        folder: for keys, settings and logs.
        address: to listen on.
        netns: network namespace to listen in.
        environment: of the sessions.

    Raises:
        UserError: there can be none here.
    """
    if reason := missing():
        raise UserError(reason)
    port = NETNS_PORT if netns else free_port()
    write_settings(folder, address, port, {"PYTHONDONTWRITEBYTECODE": "1", **environment})
    inside = ["ip", "netns", "exec", netns] if netns else []
    command = [*inside, SSHD, "-D", "-f", str(folder / "sshd_config"), "-E", str(folder / "log")]
    process = subprocess.Popen(command, start_new_session=True)
    try:
        wait_for(address, port, process, folder)
        yield Server(folder, folder / "ssh_config")
    finally:
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        process.wait()


def write_settings(folder: Path, address: str, port: int, environment: dict[str, str]) -> None:
    """Keys and settings of server and client."""
    folder.mkdir(parents=True, exist_ok=True)
    Path("/run/sshd").mkdir(exist_ok=True)  # where sshd goes to drop its rights; elsewhere it is made at boot
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    host_key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[{address}]:{port} {host_key}\n")
    about = {"port": port, "address": address, "folder": folder}
    words = " ".join(f'"{key}={value}"' for key, value in environment.items())
    (folder / "sshd_config").write_text(CONFIG.format(**about, environment=words))
    (folder / "ssh_config").write_text(CLIENT.format(**about))


def wait_for(address: str, port: int, process: subprocess.Popen, folder: Path) -> None:
    """Return when the server answers.

    Raises:
        UserError: it does not.
    """
    for _ in range(200):
        if process.poll() is not None:
            raise UserError(f"sshd: does not run here: {(folder / 'log').read_text()[-200:].strip()}")
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((address, port)) == 0:
                return
        time.sleep(0.05)
    raise UserError("sshd: does not answer within 10 s.")


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fleet_text(server: Server, folder: Path, python: list[str], hosts: list[str] | None = None) -> str:
    """A fleet file: a robot for each interpreter."""
    hosts = hosts or [f"robot_{i}" for i in range(len(python))]
    rows = [
        f"  - {{name: robot_{i}, index: {i}, folder: {folder}/robot_{i}, host: {hosts[i]}, python: {word}}}"
        for i, word in enumerate(python)
    ]
    head = ["version: 1", "name: team", "vehicle: crazyflie_21", "scenario: swap_4", f"ssh_config: {server.config}"]
    return "\n".join([*head, "robots:", *rows]) + "\n"
