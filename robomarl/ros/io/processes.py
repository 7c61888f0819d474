"""Nodes as child processes: same environment as the parent, logs relayed, none left behind. No ROS here."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

import robomarl
from robomarl.core.config import UserError
from robomarl.ros.io.environment import MAX_DOMAIN
from robomarl.ros.operator.node_spec import NodeSpec

PARENT_ENV = "ROBOMARL_PARENT"
"""Process id of the parent, for `robomarl.ros.io.node_base.die_with_parent`."""
Relay = Callable[[str, str], None]
"""(name of the node, line)."""
# A node that still imports ends by SIGTERM without a word, by SIGINT with a traceback.
_STOPS = ((signal.SIGTERM, 3.0), (signal.SIGINT, 2.0), (signal.SIGKILL, 2.0))


class Process:
    """One node that runs."""

    def __init__(self, spec: NodeSpec, environment: dict[str, str], relay: Relay) -> None:
        """Start the process.

        Args:
            spec: node to start.
            environment: the whole environment.
            relay: gets every line that it prints.
        """
        self.spec, self._relay = spec, relay
        self.started_s = time.monotonic()
        self.tail: list[str] = []
        # A session of its own: Ctrl-C reaches the parent only, which then stops everything in order.
        self.popen = subprocess.Popen(
            [sys.executable, "-m", *spec.command()],
            env={**environment, **spec.environment, PARENT_ENV: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def exit_status(self) -> int | None:
        """None as long as it runs."""
        return self.popen.poll()

    def drained(self) -> None:
        """Wait until everything that it printed has been relayed."""
        self._reader.join(timeout=1.0)

    def last_words(self) -> str:
        """Why it ended: the first thing that it called fatal; otherwise the last line that it printed."""
        fatal = next((line.split("]: ", 1)[-1] for line in self.tail if "[FATAL]" in line), "")
        return fatal or (self.tail[-1] if self.tail else "it printed nothing")

    def _read(self) -> None:
        assert self.popen.stdout
        with self.popen.stdout as lines:
            for line in lines:
                self.tail = [*self.tail[-19:], line.rstrip()]
                self._relay(self.spec.full_name, line.rstrip())


class Interrupts:
    """Ctrl-C while nodes run: the first one raises, and those that follow only hasten the end.

    Works in the main thread; in others nothing is changed.
    """

    def __init__(self) -> None:
        """Nothing has been pressed."""
        self.ending = self.hurry = False
        """`ending`: True if the end has begun. `hurry`: True if Ctrl-C was pressed since then."""
        self._before: signal.Handlers | Callable[[int, FrameType | None], object] | int | None = None

    def begin(self) -> None:
        """Take over SIGINT."""
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_signal)

    def end(self) -> None:
        """Give SIGINT back."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.ending:
            self.hurry = True
            return
        self.ending = True
        raise KeyboardInterrupt


class Processes:
    """The nodes of a plan. Use as a context manager: at its end all are gone, however often Ctrl-C is pressed."""

    def __init__(self, relay: Relay) -> None:
        """Start nothing yet."""
        self._relay = relay
        self.running: dict[str, Process] = {}
        self._interrupts = Interrupts()
        self._due_s: dict[str, float] = {}
        """When a node that has ended by itself is started again, by the steady clock."""

    def start(self, specs: Iterable[NodeSpec], environment: dict[str, str]) -> None:
        """Start nodes; call from a thread that lives as long as they shall."""
        for spec in specs:
            self.running[spec.full_name] = Process(spec, environment, self._relay)

    def dead(self) -> list[str]:
        """Return the names of nodes that have ended without being stopped."""
        return [name for name, process in self.running.items() if process.exit_status is not None]

    def check(self) -> None:
        """Check that all nodes are alive.

        Raises:
            UserError: one has ended; gives the reason that it printed.
        """
        for name in [n for n in self.dead() if not self.running[n].spec.respawn] or self.dead():
            process = self.running[name]
            process.drained()
            raise UserError(f"{name} ended with status {process.exit_status}: {process.last_words()}")

    def revive(self, environment: dict[str, str]) -> list[NodeSpec]:
        """Restart each node that ended by itself and is to be respawned, after its delay; return those started
        now.

        Raises:
            UserError: another node has ended.
        """
        if not all(self.running[name].spec.respawn for name in self.dead()):
            self.check()
        now_s = time.monotonic()
        for name in self.dead():
            self._due_s.setdefault(name, now_s + self.running[name].spec.respawn_s)
        due = [self.running[name].spec for name, due_s in self._due_s.items() if due_s <= now_s]
        for spec in due:
            del self._due_s[spec.full_name]
            self._relay(spec.full_name, "ended by itself; started again.")
        self.start(due, environment)
        return due

    def kill(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End one node and forget it."""
        process = self.running.pop(name)
        process.popen.send_signal(how)
        process.popen.wait()

    def stop(self) -> None:
        """End all nodes, by ever harder signals; return when they are gone. Ctrl-C kills those that are left."""
        self._interrupts.ending = True
        for how, patience_s in _STOPS:
            left = [p for p in self.running.values() if p.exit_status is None]
            for process in left:
                process.popen.send_signal(how)
            deadline = time.monotonic() + patience_s
            while any(p.exit_status is None for p in left) and time.monotonic() < deadline:
                if self._interrupts.hurry and how is not signal.SIGKILL:
                    break
                time.sleep(0.01)
        for process in self.running.values():
            process.drained()
        self.running.clear()

    def __enter__(self) -> "Processes":
        self._interrupts.begin()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.stop()
        finally:
            self._interrupts.end()


def child_environment(plan_environment: dict[str, str]) -> dict[str, str]:
    """Return the parent's environment with the plan's on top; children import the parent's robomarl, wherever it is."""
    package = str(Path(robomarl.__file__).parents[1])
    path = [package, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, **plan_environment, "PYTHONPATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1"}


@contextmanager
def claimed_domain(domain_id: int | None) -> Iterator[int]:
    """A ROS domain that no other runner on this machine uses; `domain_id` itself if one is given.

    Raises:
        UserError: all are taken.
    """
    if domain_id is not None:
        yield domain_id
        return
    for candidate in range(1, MAX_DOMAIN + 1):
        number = (os.getpid() + candidate) % MAX_DOMAIN + 1
        if (lock := _locked(Path(tempfile.gettempdir(), f"robomarl_domain_{number}.lock"))) is None:
            continue
        with lock:
            yield number
            return
    raise UserError("All ROS domains of this machine are in use; stop a runner, or name one with --domain-id.")


def _locked(path: Path) -> IO[str] | None:
    """The file, held until it is closed; None if it is in use, or another user's."""
    try:
        file = path.open("w")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file
