"""Flashes three robots and dies at every step, or at any time: run as a process of its own, so that it may fork.

Arguments: folder, bundle A, bundle B, `atomic` or `in_place` (a switch that writes over the old pointer), and of how
many steps one is looked at.
Prints what was broken, one line each, and last the number of crashes. Who looks uses nothing of robomarl's; what is
there at once, and what is there after the next contact, are looked at apart.
"""

import fcntl
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from robomarl.core.bundle import bundle
from robomarl.core.bundle.bundle import Bundle, load_bundle
from robomarl.fleet import change, flash, look, requests
from robomarl.fleet.checks.verdict import Verdict
from robomarl.fleet.health import judge
from robomarl.fleet.robot import Robot
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.fleet.transport import FolderTransport

ROUNDS, RANDOM = 15, random.Random(0)
NAMES = ("one", "two", "three")


def hash_check(self: Store, bundle_id: str, timed: bool = False) -> Verdict:
    self.load(bundle_id)
    return Verdict(bundle_id, True, (), step_p50_us=1.0, step_p99_us=1.0)


def check_hashes_only() -> None:
    """Leave out the slow checks, which others test: what is looked at here is what is on the disks."""
    Store.check = hash_check
    requests.prepare_verify = lambda: None
    judge.start_bundle = lambda folder: Verdict(folder.name, True, ())
    bundle.check_schema = lambda data, where: None


def three_robots(folder: Path) -> dict[str, Robot]:
    return {name: Robot(name, FolderTransport(folder / name), "crazyflie_21") for name in NAMES}


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


def whole(root: Path) -> str:
    """Id of what a robot has; empty for none. By a reader of its own, which uses nothing of robomarl's."""
    said = json.loads((root / "current").read_text())
    folder = root / "bundles" / said["id"]
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    sizes = {name: {"sha256": hashlib.sha256(c).hexdigest(), "size": len(c)} for name, c in sorted(files.items())}
    manifest = json.dumps(sizes, sort_keys=True, separators=(",", ":")).encode()
    return said["id"] if hashlib.sha256(manifest).hexdigest() == said["id"] else ""


def locked(root: Path) -> bool:
    with (root / "lock").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def broken(folder: Path, allowed: set[str]) -> str:
    """What is wrong with the robots as the crash left them, and after the next contact."""
    try:
        if not {whole(folder / name) for name in NAMES} <= allowed:
            return "no whole bundle"
    except (OSError, ValueError) as error:
        return f"current: can't be read ({error})"
    if any(locked(folder / name) for name in NAMES):
        return "locked"
    look.status(three_robots(folder))
    found = {whole(folder / name) for name in NAMES}
    return "" if len(found) == 1 and found <= allowed else f"mixed after the next contact: {found}"


def at_every_step(folder: Path, a: Bundle, b: Bundle, every: int = 1) -> int:
    """Die after the first, second, ... change of the disk, until something breaks; how often it died."""
    for step in range(1, 400, every):
        robots = three_robots(folder / str(step))
        flash.flash(a, robots)
        done = in_child(lambda step=step, robots=robots: die_at(step, lambda: flash.flash(b, robots)))
        if wrong := broken(folder / str(step), {a.id, b.id}):
            print(f"step {step}: {wrong}")
            return step
        elif not all(r.ok for r in flash.flash(b, robots)):
            print(f"step {step}: could not be flashed again")
        if done:
            return step // every
    raise RuntimeError("a flash does not end")


def at_any_time(folder: Path, a: Bundle, b: Bundle) -> int:
    """Die at random while flashing to and fro; how often it died."""
    robots = three_robots(folder / "any")
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
    folder, a, b, every = Path(sys.argv[1]), *map(load_bundle, sys.argv[2:4]), int(sys.argv[5])
    check_hashes_only()
    if sys.argv[4] == "in_place":
        Store.begin = in_place
        print(at_every_step(folder, a, b))
    else:
        print(at_every_step(folder, a, b, every) + at_any_time(folder, a, b))


if __name__ == "__main__":
    main()
