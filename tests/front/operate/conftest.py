"""A pair of robots that real nodes fly, the page's server as a process beside them, and Chromium without a screen."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("nicegui")

from robomarl.ros.io.processes import child_environment
from robomarl.ros.robot.state_machine import Order
from tests.ros.bundles import make_bundle
from tests.ros.faultrig import ROBOTS, FaultRig, up, write_files

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUIET = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync")
WAIT_MS = 60_000


@pytest.fixture(scope="session")
def chromium(start_chromium: "Callable[..., Browser]") -> "Iterator[Browser]":
    """Chromium without traffic of its own."""
    browser = start_chromium(*QUIET)
    yield browser
    browser.close()


@pytest.fixture(autouse=True)
def closed_tabs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close what a test has opened: the next one is alone."""
    yield
    if "chromium" in request.fixturenames:
        for context in request.getfixturevalue("chromium").contexts:
            context.close()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultRig]:
    """Two robots up, for all tests of a module."""
    folder = tmp_path_factory.mktemp("operate")
    with up(write_files(folder, make_bundle(folder / "goto"))) as made:
        yield made


@pytest.fixture
def flying(rig: FaultRig) -> FaultRig:
    """The pair in flight; an E-stop of before is released."""
    rig.order(Order.ESTOP, "all")  # once it is carried out, so is one of the page that was on its way
    rig.order(Order.RESET, "all")
    rig.fly()
    return rig


class ServedPage:
    """A server of the page, as a process."""

    def __init__(self, rig: FaultRig, *options: str) -> None:
        """Start it on a free port; returns when it listens."""
        command = [sys.executable, "-m", "robomarl", "operate", str(rig.files.fleet), "--port", "0", *options]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=child_environment(rig.team.environment),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background ignores it
        )
        assert self.process.stdout is not None
        self.lines: list[str] = []
        for line in self.process.stdout:
            self.lines.append(line)
            if "open http" in line:
                break
        said = "".join(self.lines)
        assert "open http" in said, said
        self.address = said.split("open ")[-1].split()[0]
        self._reads = threading.Thread(target=self.process.stdout.read, daemon=True)
        self._reads.start()

    def stop(self) -> int:
        """End it as Ctrl-C does; return its exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)

    def close(self) -> None:
        """Kill it if it runs still."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reads.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def served(rig: FaultRig, *options: str) -> Iterator[ServedPage]:
    """Serve the page for a while."""
    page = ServedPage(rig, *options)
    try:
        yield page
    finally:
        page.close()


@pytest.fixture(scope="module")
def page(rig: FaultRig) -> Iterator[ServedPage]:
    """The page of the pair, for all tests of a module."""
    with served(rig) as made:
        yield made


def opened(chromium: "Browser", address: str, width: int = 1280, height: int = 800) -> "Page":
    """Return a tab of its own browser context, once it shows the robots' states."""
    tab = chromium.new_context(viewport={"width": width, "height": height}).new_page()
    tab.set_default_timeout(WAIT_MS)
    tab.goto(address)
    tab.locator("article .badge").nth(len(ROBOTS)).wait_for()
    return tab
