"""Time from README's first line to a flight that is watched: its commands, in order, in a fresh clone.

python -m benchmarks.first_flight [--screenshot FILE] [--demo]

The clone has no environment and no cache of pip. A browser without a screen opens the address that `robomarl view`
prints.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tyro

ROOT = Path(__file__).resolve().parents[1]
KEPT = ("PIP_", "SSL_", "REQUESTS_CA", "HTTP_", "HTTPS_", "http_", "https_", "no_proxy", "NO_PROXY", "LANG", "JAX_")
"""Beginnings of the variables that say how this machine reaches the network."""
ADDRESS = re.compile(r"open (http://\S+) in a browser")
DRAWN = "() => [...document.querySelectorAll('canvas')].some(canvas => canvas.width > 100)"
WAIT_MS = 120_000
SOFTWARE_GL = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def commands() -> list[str]:
    """Lines of README's first block of commands, without their comments."""
    (block, *_) = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    return [line.partition("  #")[0].strip() for line in block.splitlines() if line.strip()]


class Shell:
    """One shell, as a reader has it: a folder that is changed and an environment that is activated stay so."""

    def __init__(self, folder: Path) -> None:
        """Open it in a folder, without what this machine's user has set."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        clean = {**kept, "HOME": str(folder), "PATH": "/usr/local/bin:/usr/bin:/bin"}
        self._process = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=clean,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # In the background of a shell Ctrl-C is ignored, and the child would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, line: str, until: re.Pattern[str]) -> str:
        """Run a line, print what it prints, and return the first match of a pattern.

        Raises:
            SystemExit: the shell ended without one.
        """
        assert self._process.stdin and self._process.stdout
        print(f"$ {line}", flush=True)
        self._process.stdin.write(f"{line}; echo end of line, status $?\n")
        self._process.stdin.flush()
        for text in self._process.stdout:
            print(f"    {text.rstrip()[:160]}", flush=True)
            if found := until.search(text):
                return found[1]
            if text.startswith("end of line"):
                break
        raise SystemExit(f"{line}: did not print {until.pattern}")

    def end(self) -> None:
        """Press Ctrl-C, and close the shell."""
        os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)


def watch(address: str, screenshot: Path | None) -> None:
    """Open the page in a browser, and wait until its flight goes on."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(SOFTWARE_GL))
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.goto(address)
        tab.wait_for_function(
            "() => [...document.querySelectorAll('canvas')].some(c => c.width > 100)", timeout=WAIT_MS
        )
        shown = tab.get_by_text(re.compile(r"^\d+\.\d s|\n\d+\.\d s")).first
        before = shown.inner_text(timeout=WAIT_MS)
        while shown.inner_text() == before:
            tab.wait_for_timeout(100)
        if screenshot:
            tab.wait_for_timeout(2000)
            tab.screenshot(path=screenshot)
        browser.close()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something took."""
    begun_s = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - begun_s:.1f} s", flush=True)


def main(screenshot: Path | None = None, demo: bool = False) -> None:
    """Do what README says, up to the page, and with `demo` the line after it."""
    clone, setup, view, last = commands()
    done = re.compile(r"end of line, status (0)$")
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        with timed("from nothing to a flight that is watched"):
            with timed("clone"):
                shell.run(clone.replace("REPOSITORY", str(ROOT)), done)
            with timed("setup"):
                shell.run(setup, done)
            with timed("view"):
                watch(shell.run(view, ADDRESS), screenshot)
        shell.end()
        if demo:
            again = Shell(Path(folder) / "robomarl")
            with timed("demo"):
                again.run(last, done)
            again.end()


if __name__ == "__main__":
    tyro.cli(main)
