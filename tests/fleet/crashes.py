"""Flashes two robots and dies at every step, or at any time: run as a process of its own, so that it may fork.

Arguments: folder, bundle A, bundle B, and `atomic` or `in_place` (a switch that writes over the old pointer).
Prints what was broken, one line each, and last the number of crashes.
"""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from robomarl.config import UserError
from robomarl.fleet import change, flash, requests
from robomarl.fleet.health import judge
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.fleet.transport import FolderTransport
from robomarl.policies import bundle
from robomarl.policies.bundle import Bundle, load_bundle
from robomarl.policies.verify import Verdict

ROUNDS, RANDOM = 15, random.Random(0)


def hash_check(self: Store, bundle_id: str, timed: bool = False) -> Verdict:
    self.load(bundle_id)
    return Verdict(bundle_id, True, (), step_p50_us=1.0, step_p99_us=1.0)


def two_robots(folder: Path) -> dict[str, Robot]:
    return {name: Robot(name, FolderTransport(folder / name), "crazyflie_21") for name in ("one", "two")}


def in_place(self: Store, state: InstalledBundles) -> None:
    with (self.root / "current").open("w") as stream:
        os.fsync(stream.fileno())
        stream.write(f'{{"id": "{state.current}", "previous": null}}')


def dying(function: Callable, left: list[int]) -> Callable:
    """The function, after whose last allowed call the process is gone, as if by a power cut."""

    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


def in_child(act: Callable[[], object], kill_after_s: float | None = None) -> bool:
    """Run in a forked process; whether it came to its end."""
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == 0


def die_at(step: int, act: Callable[[], object]) -> None:
    """Robots take turns: side by side, their changes would mix in another way each time, and steps could be missed."""
    left = [step]
    change.ThreadPoolExecutor = lambda workers: ThreadPoolExecutor(1)  # type: ignore[assignment,misc]
    for owner, name in ((os, "fsync"), (Path, "rename"), (Path, "unlink"), (Path, "mkdir"), (Path, "write_text")):
        setattr(owner, name, dying(getattr(owner, name), left))
    act()


def broken(folder: Path, allowed: set[str]) -> str:
    try:
        found = {Store(folder / name).current().id for name in ("one", "two")}
    except UserError as error:
        return str(error)
    return "" if found <= allowed else f"unknown bundle {found}"


def at_every_step(folder: Path, a: Bundle, b: Bundle) -> int:
    """Die after the first, second, ... change of the disk, until something breaks; how often it died."""
    for step in range(1, 200):
        robots = two_robots(folder / str(step))
        flash.flash(a, robots)
        done = in_child(lambda step=step, robots=robots: die_at(step, lambda: flash.flash(b, robots)))
        if wrong := broken(folder / str(step), {a.id, b.id}):
            print(f"step {step}: {wrong}")
            return step
        elif not all(r.ok for r in flash.flash(b, robots)):
            print(f"step {step}: could not be flashed again")
        if done:
            return step - 1
    raise RuntimeError("a flash does not end")


def at_any_time(folder: Path, a: Bundle, b: Bundle) -> int:
    """Die at random while flashing to and fro; how often it died."""
    robots = two_robots(folder / "any")
    flash.flash(a, robots)

    def forever() -> None:
        while True:
            flash.flash(b, robots)
            flash.flash(a, robots)

    for _ in range(ROUNDS):
        in_child(forever, RANDOM.uniform(0.0, 0.05))
        if wrong := broken(folder / "any", {a.id, b.id}):
            print(f"any time: {wrong}")
            shutil.rmtree(folder / "any")
            flash.flash(a, robots)
    return ROUNDS


def main() -> None:
    folder, bundles = Path(sys.argv[1]), [load_bundle(name) for name in sys.argv[2:4]]
    Store.check = hash_check
    requests.prepare_verify = lambda: None
    judge.start_bundle = lambda folder: Verdict(folder.name, True, ())
    bundle.check_schema = lambda data, where: None
    if sys.argv[4] == "in_place":
        Store.begin = in_place
        print(at_every_step(folder, *bundles))
    else:
        print(at_every_step(folder, *bundles) + at_any_time(folder, *bundles))


if __name__ == "__main__":
    main()
