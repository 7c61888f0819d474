"""What the tests of the whole repository share: its files as a commit would have them."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

from robomarl.ros.io.environment import PROFILES, PROFILES_ENV

# Machines are shared: a slow example is no failure. The same examples on every machine.
settings.register_profile("robomarl", deadline=None, derandomize=True)
settings.load_profile("robomarl")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def fast_dds_profiles() -> None:
    """Name our profiles of Fast DDS, which a process reads once, before its first participant: no test is the first."""
    os.environ.setdefault(PROFILES_ENV, str(PROFILES))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def tracked_files() -> list[Path]:
    """Paths relative to the root: tracked, or new and not ignored."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("this is not a git checkout")
    return [Path(name) for name in sorted(set(listed.stdout.split("\0"))) if name and (ROOT / name).is_file()]
