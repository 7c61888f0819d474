"""`Finding`: one row of `robomarl doctor`; and the process that a risky check runs in."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

FoundState = Literal["ok", "note", "missing"]


class Finding(NamedTuple):
    """One row of the table."""

    name: str
    state: FoundState
    """ok; note: something that only some work needs, or that may surprise; missing: train, eval or `up --sim` fail."""
    found: str
    """Value that the check found."""
    fix: str = ""
    """One command or sentence that changes it; "" if nothing is to be done."""


class Examination(NamedTuple):
    """A check, which may return several rows."""

    name: str
    look: Callable[[], Iterable[Finding]]
    needed: bool = False
    """True if train, eval or `up --sim` fail without it."""


def findings_of(check: Examination) -> list[Finding]:
    """Run a check; any exception that it raises becomes a row."""
    try:
        return list(check.look())
    except Exception as error:  # a doctor that dies of one broken library says nothing of the rest
        found = f"the check itself failed, {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return [Finding(check.name, lacking(check.needed), found, "Reinstall the library that the error names.")]


def lacking(needed: bool) -> FoundState:
    """Return the state of something that is absent."""
    return "missing" if needed else "note"


class ChildEnd(NamedTuple):
    """End of a child process."""

    ok: bool
    """True if the exit status was 0."""
    output: str
    """Stdout without white space around it."""
    problem: str
    """Last line of stderr; or that the process ran too long, or was killed."""


def child(words: list[str], environment: Mapping[str, str], limit_s: float) -> ChildEnd:
    """Run this Python with the words, and wait for its end.

    Args:
        words: arguments of Python, such as `-c CODE`.
        environment: variables on top of this process's own.
        limit_s: longest time to wait [s].
    """
    command = [sys.executable, *words]
    try:
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=limit_s
        )
    except subprocess.TimeoutExpired:
        return ChildEnd(False, "", f"no end within {limit_s:g} s")
    lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return ChildEnd(done.returncode == 0, done.stdout.strip(), lines[-1][:200])
