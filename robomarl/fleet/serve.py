"""The robot's end of the line: requests on standard input, answers on standard output.

A request is one line of JSON, `{"op": ..., "args": {...}, "size": n}`, and n bytes behind it; an
answer is one line, `{"ok": true, "answer": {...}}` or `{"ok": false, "error": "one sentence"}`. The
first line out is `GREETING`: text that a login shell prints before it is not taken for an answer.
"""

import json
import os
import select
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from robomarl.core.bundle.bundle import MAX_BYTES
from robomarl.core.config import UserError

Facts = dict[str, Any]
"""Arguments or the answer of a request, as JSON carries them."""
GREETING = "robomarl-onboard"
SILENCE_S = 20.0
"""Time [s] of silence after which an operator counts as gone: the link may be dead without having been closed."""
MAX_LINE = 2**20


class Answering(Protocol):
    """Answers the requests of one operator."""

    def __call__(self, op: str, args: Facts, payload: bytes, /) -> Facts:
        """Answer one request; raises `UserError` if it is refused."""
        ...


class SilenceError(Exception):
    """The operator closed the line, or is not heard any more."""


def serve(answer: Answering, close: Callable[[], None]) -> int:
    """Serve one operator until the line is closed; the status of the process."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    out = os.dup(1)
    os.dup2(2, 1)  # whatever else prints must not get between the answers
    line = TimedReader(0)
    try:
        os.write(out, f"{GREETING}\n".encode())
        while True:
            request = json.loads(line.until_newline())
            payload = line.exactly(int(request.get("size", 0)))
            os.write(out, json.dumps(_answer(answer, request, payload)).encode() + b"\n")
    except (SilenceError, BrokenPipeError):
        return 0
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        close()


class TimedReader:
    """Reads from a file descriptor, but never waits longer than `SILENCE_S` for the next byte."""

    def __init__(self, descriptor: int) -> None:
        """Nothing is read yet."""
        self._descriptor = descriptor
        self._buffer = bytearray()

    def until_newline(self) -> bytes:
        """One line.

        Raises:
            SilenceError: it does not come, or is no line of ours.
        """
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE:
                raise SilenceError
            self._more()
        return self._take(end + 1)

    def exactly(self, size: int) -> bytes:
        """Return `size` bytes.

        Raises:
            SilenceError: they do not come, or are too many for a bundle.
        """
        if not 0 <= size <= MAX_BYTES:
            raise SilenceError
        while len(self._buffer) < size:
            self._more()
        return self._take(size)

    def _more(self) -> None:
        ready, _, _ = select.select([self._descriptor], [], [], SILENCE_S)
        read = os.read(self._descriptor, 2**18) if ready else b""
        if not read:
            raise SilenceError
        self._buffer += read

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken


def _answer(answer: Answering, request: Facts, payload: bytes) -> Facts:
    try:
        return {"ok": True, "answer": answer(str(request["op"]), dict(request.get("args", {})), payload)}
    except UserError as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:  # the operator is told, and the robot stays reachable
        return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
