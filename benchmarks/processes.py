"""Processes that another one has begun."""

import contextlib
from pathlib import Path


def below(ancestor: int, word: str) -> list[int]:
    """Numbers of the processes that an ancestor has begun, directly or not, with a word in the command (Linux)."""
    found, parents = [], {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    for pid in parents:
        above = pid
        while above in parents and above != ancestor:
            above = parents[above]
        if above == ancestor and pid != ancestor:
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{pid}/cmdline").read_text():
                    found.append(pid)
    return found
