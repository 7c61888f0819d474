"""`Pipe`: process with streams to a robot, with a deadline on every byte.

The process is the system's `ssh`, or in tests any program that speaks like `robomarl.fleet.serve`.
Streams do not block: a robot that stops reading or answering is an error after a time, and never a
hang.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import tempfile
import time

from robomarl.core.config import UserError, printable
from robomarl.fleet.serve import GREETING, Facts

STALL_S = 15.0
"""Time [s] after which a robot that takes or gives no byte counts as gone."""
CLOSE_S = 3.0
"""How long the process has to end by itself, once its input is closed."""
MAX_NOISE = 2**16
"""Bytes that a login shell may print before the greeting."""


_WARNING = re.compile(r":\d+: \w*Warning: |^Warning: |^\*\* ")
"""Warnings of Python, and of ssh about keys: they stand in the output of successful processes, too."""
STEPS = {
    **{"ping": "connect", "hello": "connect", "prove": "connect", "lock": "preflight", "admits": "preflight"},
    **{"add": "stage", "check": "verify"},
}
"""Step to which a request belongs, if that is not its name."""
MAX_ERROR = 2000
"""Characters of a robot's reason that are shown."""
MAX_ANSWER = 2**22
"""Longest answer [bytes]: a journal's lines are the most that a robot tells."""


class BrokenLinkError(UserError):
    """The robot is gone, or its answer can't be understood; a robot that refuses is a plain `UserError`."""


class LostConnectionError(BrokenLinkError):
    """The connection was there, and is gone."""

    def __init__(self, what: str, cause: str, step: str) -> None:
        """Compose the message.

        Args:
            what: the robot.
            cause: output of its process, or how it ended.
            step: the step in progress.
        """
        super().__init__(f"{what}: connection lost during {step} ({cause}); look whether it is on and near.")
        self._what, self._cause = what, cause

    def during(self, step: str) -> "LostConnectionError":
        """Return this error for a step as the operator knows it."""
        return LostConnectionError(self._what, self._cause, step)


class Pipe:
    """One conversation with a robot. Errors are one sentence that begins with the name of the robot."""

    def __init__(self, command: list[str], what: str) -> None:
        """Start the process.

        Raises:
            BrokenLinkError: there is no such program.
        """
        self._what, self._step, self._within_s = what, "", 0.0
        self._errors = tempfile.TemporaryFile()
        self._buffer = bytearray()
        try:
            # A session of its own: Ctrl-C is for us, and the robots are told in order.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
            )
        except OSError as error:
            self._errors.close()
            raise BrokenLinkError(f"{what}: {command[0]} can't be started ({error.strerror}); install it.") from None
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def greet(self, within_s: float) -> None:
        """Wait for the robot's greeting.

        Raises:
            BrokenLinkError: it does not come.
        """
        seen, end = 0, time.monotonic() + within_s
        unlike = f"{self._what}: talks, but not as robomarl does; run `robomarl fleet setup`."
        while (line := self._line(max(0.0, end - time.monotonic()), MAX_NOISE, unlike)).strip() != GREETING.encode():
            seen += len(line)
            if seen > MAX_NOISE:
                raise BrokenLinkError(unlike)

    def call(self, op: str, args: Facts, payload: bytes, within_s: float) -> Facts:
        """Ask, and wait for the answer.

        Raises:
            UserError: the robot says no.
            BrokenLinkError: it does not answer in time, or is gone.
        """
        self._step, self._within_s = STEPS.get(op, op), within_s
        head = json.dumps({"op": op, "args": args, "size": len(payload)}).encode() + b"\n"
        self._send(head + payload)
        line = self._line(within_s, MAX_ANSWER, f"{self._what}: says more than any answer is long; look at the robot.")
        try:
            answer = clean(json.loads(line))
        except (ValueError, RecursionError):
            raise BrokenLinkError(f"{self._what}: its answer is no JSON; run `robomarl fleet setup` again.") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("answer", {}), dict):
            raise BrokenLinkError(f"{self._what}: its answer can't be understood; run `robomarl fleet setup` again.")
        if answer.get("ok") is not True:
            raise UserError(f"{self._what}: {str(answer.get('error', 'failed'))[:MAX_ERROR]}")
        return answer.get("answer", {})

    def close(self) -> None:
        """Let go of the robot, and end the process."""
        if self._process.stdin and not self._process.stdin.closed:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._wait(self._in, select.POLLOUT, STALL_S)
            try:
                rest = rest[os.write(self._in, rest[: 2**16]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._gone() from None

    def _line(self, within_s: float, longest: int, too_long: str) -> bytes:
        end = time.monotonic() + within_s
        while (stop := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > longest:
                raise BrokenLinkError(too_long)
            self._wait(self._out, select.POLLIN, end - time.monotonic())
            try:
                read = os.read(self._out, 2**16)
            except BlockingIOError:
                continue
            if not read:
                raise self._gone()
            self._buffer += read
        line = bytes(self._buffer[: stop + 1])
        del self._buffer[: stop + 1]
        return line

    def _wait(self, descriptor: int, event: int, within_s: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        if within_s <= 0 or not poll.poll(within_s * 1000):
            took = f": no answer to {self._step} within {self._within_s:g} s" if self._step else ""
            raise BrokenLinkError(
                f"{self._what}: does not answer in time{took}; look whether it is on, near and not overloaded."
            )

    def _gone(self) -> BrokenLinkError:
        """Return the error of a process that went: its output, or how it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_S)
        self._errors.seek(0)
        said = cause_of(self._errors.read().decode(errors="replace"))
        if any(words in said for words in ("No module named", "No such file", "not found")):
            return BrokenLinkError(
                f"{self._what}: robomarl is not installed there ({said}); run `robomarl fleet setup`."
            )
        if self._step:
            return LostConnectionError(self._what, said or _ended(self._process.poll()), self._step)
        said = said or "the connection was closed"
        return BrokenLinkError(
            f"{self._what}: {said}; look whether it is on and near, and whether its host in the fleet file is right."
        )


def cause_of(errors: str) -> str:
    """The line of an error output that says why a process ended: the last one that is no warning; empty for none."""
    lines, found = errors.splitlines(), ""
    for number, line in enumerate(lines):
        of_warning = number > 0 and _WARNING.search(lines[number - 1]) and line.startswith("  ")
        if line.strip() and not (of_warning or _WARNING.search(line)):
            found = line.strip()
    return found[:MAX_ERROR]


def _ended(status: int | None) -> str:
    """How a process ended that said nothing; ssh itself ends with 255."""
    if status is not None and status != 255 and status != 0:
        return f"ended by signal {-status}" if status < 0 else f"exit status {status}"
    return "its process was ended without a word, or it lost power"


def clean(answer: object) -> object:
    """Return a robot's answer, without characters that would steer a terminal."""
    if isinstance(answer, str):
        return printable(answer)
    if isinstance(answer, list):
        return [clean(item) for item in answer]
    if isinstance(answer, dict):
        return {printable(key): clean(value) for key, value in answer.items()}
    return answer
