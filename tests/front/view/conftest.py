"""A page of `robomarl view` that a thread serves, and Chromium without a screen that opens it."""

import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("viser")
pytest.importorskip("mujoco")

from robomarl.front.view.page import Page, PageOptions, open_server
from robomarl.lab.scene.casting import live_stage
from robomarl.lab.scene.live import LiveStage

QUIET = ("--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync")
SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


@pytest.fixture(scope="session")
def chromium(start_chromium):
    """Chromium that draws in software."""
    browser = start_chromium(*QUIET, *SOFTWARE_GL)
    yield browser
    browser.close()


class Served:
    """A page that is served, and its source."""

    def __init__(self, stage: LiveStage) -> None:
        """Serve a stage on a free port."""
        options = PageOptions("under test", port=18080)
        self.stage, self.server = stage, open_server(options)
        self.address = f"http://127.0.0.1:{self.server.get_port()}"
        self.page = Page(self.server, stage, options)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._turn, daemon=True)
        self._thread.start()

    def _turn(self) -> None:
        while not self._ends.is_set():
            self.page.run(0.2)

    def stop(self) -> None:
        """End the page."""
        self._ends.set()
        self._thread.join(10)
        self.server.stop()


@pytest.fixture
def swap_page() -> Iterator[Served]:
    """The shipped bundle `swap_4` as it flies in MuJoCo, on a page."""
    served = Served(live_stage("swap_4", "", "mujoco", "full", 0))
    yield served
    served.stop()
