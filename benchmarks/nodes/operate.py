"""The page of `robomarl operate`: from a click on the E-stop to the last robot's stop, time to a ready page, memory.

Run with `python -m benchmarks.nodes.operate`; needs Chromium. Four simulated robots fly through real nodes.
"""

import argparse
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import load_fleet
from robomarl.ros import status_messages, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.io.processes import child_environment
from robomarl.ros.operator.plan_options import PlanOptions
from robomarl.ros.operator.rehearsal import TeamNodes, bring_up
from robomarl.ros.robot.state_machine import Order, State

ATTEMPTS = 5
LIMIT_S = 5.0
"""A press that takes longer counts as lost."""
CLICK = """() => { const button = document.getElementById('estop');
  button.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true})); return Date.now() / 1000; }"""
"""Presses the button as a finger does; returns the time of the machine's clock at that moment."""


def main() -> int:
    """Measure, and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=0.0, help="watch the server's memory for this long")
    parser.add_argument("--fleet", default="local_4")
    args = parser.parse_args()
    fleet = load_fleet(args.fleet)
    with bring_up(fleet, PlanOptions(bundle="swap_4", sim=True), None, lambda name, line: None) as team:
        team.configure()
        with subprocess.Popen(command(args.fleet), stdout=subprocess.PIPE, text=True, env=own(team)) as server:
            try:
                measure(team, server, args.presses, args.minutes)
            finally:
                server.terminate()
    return 0


def command(fleet: str) -> list[str]:
    """Return the command line of the server."""
    return [sys.executable, "-m", "robomarl", "operate", fleet, "--port", "0"]


def own(team: TeamNodes) -> dict[str, str]:
    """Return the environment of the team's nodes."""
    return child_environment(team.environment)


def measure(team: TeamNodes, server: "subprocess.Popen[str]", presses: int, minutes: float) -> None:
    """Open the page, press, and watch."""
    assert server.stdout is not None
    address = next(line for line in server.stdout if "open http" in line).split("open ")[1].split()[0]
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        ready_s = [opened_alone(browser, address) for _ in range(5)]
        print(f"page ready, 5 fresh browsers: {np.median(ready_s):.2f} s (longest {max(ready_s):.2f} s)", flush=True)
        tab = browser.new_page()
        opened(tab, address)
        took_ms = 1e3 * np.array([press(team, tab) for _ in range(presses)])
        p50, p99 = np.percentile(took_ms, (50, 99))
        print(f"E-stop, {presses} clicks to the last robot's ESTOP: p50 {p50:.0f} ms, p99 {p99:.0f} ms", flush=True)
        watch_memory(server.pid, minutes)
        browser.close()


def opened_alone(browser: Browser, address: str) -> float:
    """Open the page in a browser without a cache, and close it; return the time [s] as `opened` does."""
    context = browser.new_context()
    took_s = opened(context.new_page(), address)
    context.close()
    return took_s


def opened(tab: Page, address: str) -> float:
    """Open the page; return the time [s] until the states of all robots are on it."""
    begun_s = time.monotonic()
    tab.goto(address, wait_until="commit")
    tab.locator("article .badge").nth(5).wait_for()
    return time.monotonic() - begun_s


def press(team: TeamNodes, tab: Page) -> float:
    """Press once while all robots fly; return the time [s] until the last robot announces ESTOP."""
    fly(team)
    console, said = team.console, topics.ANNOUNCE
    robots = console.team
    boxes = {
        name: Mailbox(console._node, said, said.of(name), status_messages.announcement_reader(name)) for name in robots
    }
    heard: set[str] = set()
    while len(heard) < len(boxes):  # until each is discovered
        console.poll(0.05)
        heard |= {name for name, box in boxes.items() if box.latest()}
    tab.locator("#estop").wait_for()
    clicked_s, stopped = float(tab.evaluate(CLICK)), {}
    while len(stopped) < len(boxes) and time.time() - clicked_s < LIMIT_S:
        for name, box in boxes.items():
            for announced, info in box.take():
                if announced.state is State.ESTOP:
                    stopped.setdefault(name, (info.get("source_timestamp") or 0) * 1e-9)
        time.sleep(0.001)
    for box in boxes.values():
        box.destroy()
    return max(stopped.values()) - clicked_s if len(stopped) == len(boxes) else LIMIT_S


def fly(team: TeamNodes) -> None:
    """Release the E-stop, and bring all robots into the air; on a busy machine they may need several attempts."""
    console = team.console
    for _ in range(ATTEMPTS):
        console.order(Order.ESTOP, ["all"])  # once it is carried out, so is the press before
        console.order(Order.RESET, ["all"])
        console.send_goals(dict(zip(console.team, console.reset(), strict=True)))
        with suppress(UserError):
            if not any(console.start(console.team).values()):
                return
    raise UserError(f"The robots did not start in {ATTEMPTS} attempts; is the machine busy?")


def watch_memory(pid: int, minutes: float) -> None:
    """Print the server's memory at the beginning and at the end of some minutes with one page open."""
    if not minutes:
        return
    begin_mb, end_s = memory_mb(pid), time.monotonic() + 60 * minutes
    while time.monotonic() < end_s:
        time.sleep(1.0)
    print(f"memory of the server: {begin_mb:.0f} MB, after {minutes:g} min {memory_mb(pid):.0f} MB", flush=True)


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return float(line.split()[1]) / 1024


if __name__ == "__main__":
    sys.exit(main())
