"""The sshd of `benchmarks.fleet.loopback` for tests, which are left out where there can be none."""

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.fleet import loopback
from benchmarks.fleet.loopback import Server, fleet_text

__all__ = ["Server", "fleet_text", "interpreter", "serve"]


@contextmanager
def serve(folder: Path, address: str = "127.0.0.1", netns: str = "", **environment: str) -> Iterator[Server]:
    """See `benchmarks.fleet.loopback.serve`."""
    if reason := loopback.missing():
        pytest.skip(reason)
    with loopback.serve(folder, address, netns, **environment) as server:
        yield server


def interpreter(folder: Path, root: Path, before: str = "") -> str:
    """A robot's own Python: this one, with robomarl's source from `root`; Python code `before` runs first."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(before)
    script = folder / "python"
    paths = f"{folder}:{root}:{sysconfig.get_path('purelib')}"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{paths}" OPENBLAS_NUM_THREADS=1 exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)
