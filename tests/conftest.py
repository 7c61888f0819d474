"""What the tests of the whole repository share: its files as a commit would have them."""

import gc
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

from robomarl.ros.io.environment import PROFILES, PROFILES_ENV

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Machines are shared: a slow example is no failure. The same examples on every machine.
settings.register_profile("robomarl", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("robomarl")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def start_chromium() -> "Iterator[Callable[..., Browser]]":
    """(arguments of the command line) -> Chromium of this machine, driven by Playwright; skips where there is none.

    A process has room for one Playwright, so all tests share it.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here; make setup installs it where it may")
    with playwright.sync_playwright() as driver:
        yield lambda *args: driver.chromium.launch(executable_path=program, args=args)


LAST_WORDS = 300
"""Characters of an error that the list of failures keeps."""

LONG_FILES = frozenset(
    f"tests/{name}.py"
    for name in (
        "core/filter/test_falsify",
        "core/filter/test_fuzz",
        "domains/soccer/sight/test_eyes_sim",
        "domains/test_conformance",
        "domains/test_outside_packages",
        "domains/test_toy",
        "field/identify/test_residual",
        "fleet/test_absent",
        "fleet/test_badbundles",
        "fleet/test_commands",
        "fleet/test_crashes",
        "fleet/test_environment",
        "fleet/test_flash",
        "fleet/test_setup",
        "fleet/test_ssh",
        "fleet/test_trust",
        "fleet/test_wheels",
        "front/operate/test_estop",
        "front/project/test_init",
        "lab/sweep/test_sweep",
        "lab/train/run/test_runner",
        "lab/train/test_mappo",
        "lab/train/test_teachers",
        "ros/intake/test_every_message",
        "ros/test_certified_carriers",
        "ros/test_ctrl_c",
        "ros/test_load_team",
        "ros/test_up",
        "test_examples",
        "test_imports",
        "test_packaging",
        "test_site",
    )
)
"""Files that take a worker a minute or more. They are begun first: at the end, one worker would be at them alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests of long files first; files and their tests stay in order otherwise."""
    items.sort(key=lambda item: item.path.relative_to(ROOT).as_posix() not in LONG_FILES)


def pytest_collection_finish() -> None:
    """Let the garbage collector look rarely, and never at what is imported: a tenth of the time of tests that trace."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 50)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Append what failed to the file that `FAILURES` names, a test and the end of its error in a line.

    `make test` prints the file at the very end: what failed in its first phase would stand thousands of lines above.
    """
    stats, path = terminalreporter.stats, os.environ.get("FAILURES")
    if path and "PYTEST_XDIST_WORKER" not in os.environ:  # workers summarize for themselves, too
        with open(path, "a", encoding="utf-8") as file:
            for report in stats.get("failed", []) + stats.get("error", []):
                error = " ".join(report.longreprtext[-LAST_WORDS:].split())
                file.write(f"{report.nodeid} ({report.when}): {error}\n")


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
