"""kill -9 at every step of a flash leaves `current` valid, and the next flash works."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: thousands of fsyncs are slow elsewhere."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as name:
        yield Path(name)


def crashes(root: Path, folder: Path, bundles, switch: str, every: int = 1) -> list[str]:
    words = [str(folder), str(bundles[0].folder), str(bundles[1].folder), switch, str(every)]
    command = [sys.executable, "-m", "tests.fleet.crashes", *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_a_kill_at_any_step_leaves_a_whole_bundle(root: Path, folder: Path, bundles, every: int):
    *broken, count = crashes(root, folder, bundles, "atomic", every)
    assert not broken
    assert int(count) > 60 / every + 15


@pytest.mark.slow
def test_a_switch_that_writes_over_the_pointer_is_found(root: Path, folder: Path, bundles):
    *broken, _ = crashes(root, folder, bundles, "in_place")
    assert any("current: can't be read" in line for line in broken)
