"""Checks of bundles that are not trusted yet, in a separate process with a deadline and a memory limit.

A network, a golden file or a fault of onnxruntime can harm that process only, and its parent ends
it. The parent of the checks is a small process too,
`python -m robomarl.fleet.checks.isolated_check`. It has imported the modules that take long to
import, so that the caller need not, and forks one process for each check. It reads requests and
writes answers, each one line of JSON.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import ModuleType

from robomarl.core.config.parsed import JsonObject
from robomarl.fleet.checks.verdict import Verdict

CPU_S = 5
"""Processor time that a check may take: the bundles that ship take 0.3 to 0.8 s on a Xeon."""
WALL_S = 30.0
"""Longest that it may take on a machine that is busy with other things."""
ROOM_BYTES = 192 * 2**20
"""Address space [bytes] of a check beyond that of its parent; together with the parent's it stays below 300 MiB."""
SLACK_S = 10.0
"""How much later than its deadline an answer may come: the first one waits for imports."""
_MAX_ANSWER = 2**20


class Warden:
    """The process that checks, seen from the one that asks. It starts with the first request."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._one_by_one = threading.Lock()

    def check(self, bundle: str | Path, timed: bool, filtered: bool, start: bool = False) -> Verdict:
        """See `verify_here` and `start_here` of `verify`; a check that had to be ended is a verdict too."""
        # Not the folder as the other process would find it from where it is.
        place = str(Path(bundle).absolute()) if Path(bundle).exists() else str(bundle)
        request = {"bundle": place, "timed": timed, "filtered": filtered, "start": start}
        with self._one_by_one:
            answer = self._ask(json.dumps(request).encode() + b"\n")
        return answer or Verdict("", False, (f"{bundle}: the process that checks it was lost; check it again.",))

    def start(self) -> None:
        """Start the process, so that its imports run while the caller does other work."""
        if self._process and self._process.poll() is not None:
            self._end()
        if self._process is None:
            alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "robomarl.fleet.checks.isolated_check"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the parent
                env={**os.environ, **alone},
            )

    @property
    def pid(self) -> int | None:
        """Id of the process; None if it does not run."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """End the process; the next check starts another."""
        if self._process:
            self._end()

    def _ask(self, line: bytes) -> Verdict | None:
        self.start()
        assert self._process and self._process.stdin and self._process.stdout
        found = b""
        try:
            os.write(self._process.stdin.fileno(), line)
            found = _line(self._process.stdout.fileno(), time.monotonic() + WALL_S + SLACK_S)
            return _verdict(found)
        except (OSError, ValueError):
            return None
        finally:
            if not found:
                self._end()

    def _end(self) -> None:
        assert self._process and self._process.stdin and self._process.stdout
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process = None


def verify_bundle(name_or_dir: str | Path, timed: bool = True, filtered: bool = True) -> Verdict:
    """Check a bundle in a separate process, as a robot does, and time it unless told not to; see `Warden`.

    Args:
        name_or_dir: bundle, as in `load_bundle`.
        timed: also measure how long a decision takes.
        filtered: also check the graph with the filter, if there is one.

    Returns:
        The verdict; problems are not raised.
    """
    return warden().check(name_or_dir, timed, filtered)


def start_bundle(name_or_dir: str | Path) -> Verdict:
    """Run the checks of a robot's start on a bundle, in a separate process: read, replay, filter, decide."""
    return warden().check(name_or_dir, timed=False, filtered=False, start=True)


def prepare_verify() -> None:
    """Let the process that checks start, where something else is to be done before."""
    warden().start()


@cache
def warden() -> Warden:
    """One of this process: robots that are folders of one machine are checked, and timed, one by one."""
    return Warden()


def serve() -> None:
    """Run the checks requested on standard input, until it is closed."""
    from robomarl.core.bundle.bundle import prepare
    from robomarl.fleet.checks import verify

    prepare()
    while request := sys.stdin.buffer.readline():
        print(json.dumps(asdict(_in_child(verify, json.loads(request)))), flush=True)


def _in_child(verify: ModuleType, request: JsonObject) -> Verdict:
    """Run one check in a forked process, and end it at its deadline or when no caller waits for it any more."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        _check_and_exit(verify, request, writes)
    os.close(writes)
    found, end = b"", time.monotonic() + WALL_S
    while len(found) < _MAX_ANSWER:
        ready, _, _ = select.select([reads, 0], [], [], max(0.0, end - time.monotonic()))
        if reads not in ready:
            break
        if not (part := os.read(reads, 2**16)):
            break
        found += part
    os.close(reads)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    try:
        return _verdict(found)
    except ValueError:
        limits = f"{CPU_S} s of the processor, {WALL_S:g} s or {ROOM_BYTES >> 20} MiB"
        return Verdict(
            "", False, (f"{request['bundle']}: its check was ended, it took over {limits}; it is no policy.",)
        )


def _verdict(line: bytes) -> Verdict:
    """Return the verdict that the checking process has written."""
    data = json.loads(line)
    data["problems"] = tuple(data["problems"])
    return Verdict(**data)


def _check_and_exit(verify: ModuleType, request: JsonObject, writes: int) -> None:
    try:
        _limit()
        try:
            verdict = (
                verify.start_here(request["bundle"])
                if request["start"]
                else verify.verify_here(request["bundle"], request["timed"], request["filtered"])
            )
        except MemoryError:
            verdict = Verdict("", False, (f"{request['bundle']}: wants over {ROOM_BYTES >> 20} MiB; it is no policy.",))
        except Exception as error:  # whatever a hostile bundle brings about is a sentence
            said = f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else 'no reason'}"
            verdict = Verdict("", False, (f"{request['bundle']}: can't be checked ({said}); it is no sound bundle.",))
        os.write(writes, json.dumps(asdict(verdict)).encode())
    finally:
        os._exit(0)


def _limit() -> None:
    """Limit this process: memory, processor time, and no writing to any file."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        size = int(pages.read_text().split()[0]) * resource.getpagesize() + ROOM_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _line(descriptor: int, end: float) -> bytes:
    """One line, or nothing where it does not come in time."""
    found = b""
    while not found.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
        part = os.read(descriptor, 2**16) if ready else b""
        if not part:
            return b""
        found += part
    return found


if __name__ == "__main__":
    serve()
