"""The ways to a robot: a folder on this machine, or the system's OpenSSH with the user's own keys and
settings.

Both lead to `OperatorSession.handle`: in this process for a folder, in the robot's interpreter over
ssh.
"""

import re
import shlex
from pathlib import Path
from typing import Protocol

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import RobotConfig
from robomarl.core.hardware.host import parse_host
from robomarl.fleet.pipe import BrokenLinkError, Pipe
from robomarl.fleet.requests import OperatorSession
from robomarl.fleet.serve import Facts
from robomarl.fleet.store import Store

CONNECT_S, GREET_S = 5, 20.0
"""For the connection, and for the robot's interpreter to come up behind it [s]."""
SSH = [
    *("ssh", "-T", "-e", "none"),
    *("-o", "BatchMode=yes"),  # never asks: six robots can't ask one terminal
    *("-o", f"ConnectTimeout={CONNECT_S}"),
    *("-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=3"),  # a robot that went away is noticed
]

SETTINGS = frozenset(
    "host hostname hostkeyalias port user identityfile identitiesonly userknownhostsfile globalknownhostsfile "
    "stricthostkeychecking proxyjump addressfamily bindaddress bindinterface compression ciphers macs kexalgorithms "
    "hostkeyalgorithms pubkeyacceptedalgorithms preferredauthentications loglevel connecttimeout connectionattempts "
    "serveralivecountmax serveraliveinterval tcpkeepalive".split()
)
"""Settings allowed in an ssh file that comes with a fleet file; none runs a command."""
PINS, PINNED = "stricthostkeychecking", ("yes", "ask")
"""A fleet file does not decide that a host key which is unknown or has changed is taken."""


class Transport(Protocol):
    """Interface that carries requests to one robot. Every error that it raises is a `UserError` with one sentence."""

    def call(self, op: str, args: Facts, payload: bytes = b"", within_s: float = 30.0) -> Facts:
        """Ask, and return the answer."""
        ...

    def close(self) -> None:
        """Let go of the robot; the next `call` connects anew."""
        ...


class FolderTransport:
    """A robot that is a folder here: the demo, a rehearsal, a card in a reader."""

    def __init__(self, root: Path) -> None:
        """Name the folder."""
        self.root = root
        self._session = OperatorSession(Store(root))

    def call(self, op: str, args: Facts, payload: bytes = b"", within_s: float = 30.0) -> Facts:
        """Ask, and return the answer."""
        return self._session.handle(op, args, payload)

    def close(self) -> None:
        """Let go of the robot."""
        self._session.close()


class SshTransport:
    """A robot over ssh. One connection carries everything from the first request to `close`."""

    def __init__(self, robot: RobotConfig, ssh_config: str = "") -> None:
        """Nothing is connected before the first request."""
        self._command = ssh_command(robot, ssh_config, remote_command(robot))
        self._what = f"{robot.name} ({robot.host})"
        self._link: Pipe | None = None
        self._error: UserError | None = None

    def call(self, op: str, args: Facts, payload: bytes = b"", within_s: float = 30.0) -> Facts:
        """Ask, and return the answer. After a break every call fails, until `close`: answers must not get mixed up."""
        if self._error is not None:
            raise self._error
        try:
            if self._link is None:
                self._link = Pipe(self._command, self._what)
                self._link.greet(CONNECT_S + GREET_S)
            return self._link.call(op, args, payload, within_s)
        except BrokenLinkError as error:
            self._error = error
            raise

    def close(self) -> None:
        """Hang up: the robot lets go of its lock."""
        if self._link is not None:
            self._link.close()
        self._link = self._error = None


def ssh_command(robot: RobotConfig, ssh_config: str, command: str) -> list[str]:
    """The words that run a shell command on a robot.

    Raises:
        UserError: the settings file can't be read, or could run commands here.
    """
    if ssh_config:
        check_settings(Path(ssh_config).expanduser())
    extra = ["-F", str(Path(ssh_config).expanduser())] if ssh_config else []
    return [*SSH, *extra, *parse_host(robot.host).ssh_words(), command]


def check_settings(file: Path) -> None:
    """Look at the ssh settings that a fleet file names: they come with it, and must not run anything.

    Raises:
        UserError: can't be read, or a setting that is not on the list.
    """
    try:
        lines = file.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{file}: ssh_config can't be read; mend its name in the fleet file.") from None
    for number, line in enumerate(lines, 1):
        words = re.split(r"[\s=]+", line.strip())
        if words[0] and not words[0].startswith("#") and words[0].lower() not in SETTINGS:
            said = repr(words[0][:40])
            raise UserError(
                f"{file}: ssh_config, line {number}: {said} is not for a fleet; put it into your own settings."
            )
        if words[0].lower() == PINS and (value := words[1].strip('"') if words[1:] else "") not in PINNED:
            raise UserError(
                f"{file}: ssh_config, line {number}: {words[0]} {value[:40]} would take any machine for the robot; "
                f"write {' or '.join(PINNED)}, or put it into your own settings."
            )


def remote_command(robot: RobotConfig) -> str:
    """Return the command to run on the robot, as its shell reads it."""
    python = robot.python or f"{robot.remote_folder}/venv/bin/python"
    words = [python, "-P", "-m", "robomarl.fleet.requests", robot.remote_folder]
    # -P: its working directory is home, whose files must not stand in for modules.
    # One thread for the arithmetic: starting more takes longer than what they would do.
    return "exec env OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 " + " ".join(shlex.quote(word) for word in words)


def connect(robot: RobotConfig, root: Path, ssh_config: str = "") -> Transport:
    """The way to one robot; relative folders of robots on this machine are below `root`."""
    if robot.host:
        return SshTransport(robot, ssh_config)
    return FolderTransport(root / Path(robot.folder).expanduser())
