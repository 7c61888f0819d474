"""`RemoteInstall`: `install.py` at work on one robot, seen from the operator; it goes on when it is told so."""

import json
import os
import select
import subprocess
import tempfile
import time

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import RobotConfig

END_S = 60.0
"""How long it may take to end, or to go back."""


class RemoteInstall:
    """One process over ssh."""

    def __init__(self, robot: RobotConfig, command: list[str]) -> None:
        """Start it.

        Args:
            robot: where.
            command: with ssh in front.
        """
        self._robot, self._errors, self._line = robot, tempfile.TemporaryFile(), b""
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self._errors)

    def wait_for(self, step: str, within_s: float) -> None:
        """Return when it says that it has come to a step.

        Raises:
            UserError: it failed, says something else, or takes too long.
        """
        assert self._process.stdout
        end = time.monotonic() + within_s
        while b"\n" not in self._line:
            ready, _, _ = select.select([self._process.stdout], [], [], max(end - time.monotonic(), 0.0))
            if not ready:
                raise UserError(f"{self._where()}: took over {within_s:g} s; look at its network.")
            if not (part := os.read(self._process.stdout.fileno(), 4096)) or len(self._line) > 4096:
                raise UserError(f"{self._where()}: {self._reason()}")
            self._line += part
        said, _, self._line = self._line.partition(b"\n")
        if said.decode(errors="replace").strip() != step:
            raise UserError(f"{self._where()}: says {json.dumps(said.decode(errors='replace')[:80])}, not {step!r}.")

    def go_on(self) -> None:
        """Tell it that the whole team has come as far."""
        assert self._process.stdin
        try:
            self._process.stdin.write(b"go\n")
            self._process.stdin.flush()
        except OSError:
            raise UserError(f"{self._where()}: {self._reason()}") from None

    def finish(self) -> None:
        """Return when it has ended well.

        Raises:
            UserError: it did not.
        """
        try:
            status = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise UserError(f"{self._where()}: does not end; look at its network.") from None
        if status:
            raise UserError(f"{self._where()}: {self._reason()}")

    def close(self) -> None:
        """Let the installer end: it takes back everything that it has not been told to keep."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.close()
        except OSError:
            pass  # it has gone already
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _where(self) -> str:
        return f"{self._robot.name} ({self._robot.host})"

    def _reason(self) -> str:
        try:
            status = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            return "its output ended, and it goes on; look at its network."
        self._errors.seek(0)
        return why_it_failed(self._errors.read(), status)


def why_it_failed(errors: bytes, status: int) -> str:
    """Return the reason for a failed command from a robot's output, as one sentence."""
    lines = errors.decode(errors="replace").strip().splitlines()
    said = [line for line in lines if line.startswith("ERROR: ")] or lines  # pip says more behind its reason
    reasons = [line for line in said if "lock" in line or "now;" in line or "HASHES" in line] or said
    reason = json.dumps("".join(reasons[-1:]) or f"exit status {status}")
    return f"{reason}; it needs Python 3.11 with venv, and a way to pip."
