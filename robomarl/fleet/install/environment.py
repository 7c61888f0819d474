"""Runs on a robot, with any Python and nothing else: a new environment beside the old one, and the
switch to it.

    venvs/NAME/          one environment each, with the script that starts the node and the vehicle file in it
    venv                 a link to the one that is used; it changes by one rename
    policy_node.sh, vehicle.yaml, keystore   links into it

The robot's lock is held all the while. A failure before the switch changes nothing; a failure after
it is undone. The program prints each step that it has reached on standard output, and goes on when
it reads so on standard input, which is when the whole team has reached this step. If standard input
is closed, the old environment stays or comes back.

    python install.py    beside `install.json` and the wheels; see `robomarl.ros.install.setup`
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

HELLO = b'{"op": "hello", "args": {"who": "setup"}, "size": 0}\n'
ANSWER_S = 120.0
"""Longest that the new environment may take to answer its first request."""
PREPARED, SWITCHED = "prepared", "switched"
"""Steps at which the robot waits for the rest of the team."""
WAITS_S = {PREPARED: 1200.0, SWITCHED: 300.0}
"""Longest waits [s] at these steps: further robots may be slow to install, and answer within `ANSWER_S`."""
EXCHANGE = 2
"""RENAME_EXCHANGE of renameat2(2)."""
PACKED = ("policy_node.sh", "vehicle.yaml", "keystore")
"""Files that go with the environment, and the folder of the robot's own enclaves."""


class InstallError(Exception):
    """One sentence."""


def main() -> int:
    """Install, or print the reason for a failure; the files that were sent are removed either way."""
    os.umask(0o022)
    sent = Path(__file__).absolute().parent
    try:
        about = json.loads((sent / "install.json").read_text())
        with locked(sent.parent, about["who"]):
            install(sent, about, wait_for_team)
    except (InstallError, OSError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    finally:
        if sent.name.startswith("setup-"):
            shutil.rmtree(sent, ignore_errors=True)
    return 0


def wait_for_team(step: str) -> None:
    """Say where this robot is, and return when it is to go on.

    Raises:
        InstallError: it is not.
    """
    print(step, flush=True)
    ready, _, _ = select.select([0], [], [], WAITS_S[step])
    if not ready or os.read(0, 64) != b"go\n":
        raise InstallError("the operator did not say to go on; the old environment is kept")


def install(sent: Path, about: dict, wait: Callable[[str], None] = lambda step: None) -> None:
    """Make the environment, look whether it answers, switch to it, and look again; wait for the team twice."""
    folder, name = sent.parent, sent.name.removeprefix("setup-")
    made = folder / "venvs" / name
    try:
        fill(made, sent, about)
        hello(made, folder)
        wait(PREPARED)
        before = switch(folder, made)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    try:
        hello(folder / "venv", folder)
        wait(SWITCHED)
    except BaseException:
        switch(folder, before) if before is not None else (folder / "venv").unlink()
        shutil.rmtree(made, ignore_errors=True)
        raise
    put(sent / about["unit"], folder / about["unit"])
    for packed in PACKED:
        if (made / packed).exists():
            link(folder / packed, Path("venv") / packed)
    for old in (folder / "venvs").iterdir():
        if old not in (made, before):
            shutil.rmtree(old, ignore_errors=True)


def fill(made: Path, sent: Path, about: dict) -> None:
    """Make a virtual environment with the packages that `about` names, and the files of `PACKED`."""
    run([sys.executable, "-m", "venv", str(made)])
    pip = [str(made / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-index", "--find-links", str(sent)] if about["no_index"] else []
    run([*pip, "--require-hashes", "--only-binary=:all:", *options, "--requirement", str(sent / about["lock"])])
    # Also where a package of that version is elsewhere on the robot's path.
    run([*pip, "--force-reinstall", "--no-deps", "--no-index", str(sent / about["wheel"])])
    for name in PACKED:
        if (sent / name).is_dir():
            shutil.copytree(sent / name, made / name)
            for folder, _, _ in os.walk(made / name):
                os.chmod(folder, 0o700)
        elif (sent / name).exists():
            put(sent / name, made / name)
    if (made / "policy_node.sh").exists():
        (made / "policy_node.sh").chmod(0o755)


def hello(environment: Path, folder: Path) -> None:
    """Let an environment answer as it will when an operator asks.

    Raises:
        InstallError: it does not.
    """
    command = [str(environment / "bin/python"), "-P", "-m", "robomarl.fleet.requests", str(folder)]
    try:
        done = subprocess.run(command, input=HELLO, capture_output=True, timeout=ANSWER_S)
        answer = json.loads(done.stdout.splitlines()[-1])
        if answer["ok"] and answer["answer"]["onnxruntime"]:
            return
        said = str(answer)
    except subprocess.TimeoutExpired:
        said = f"nothing in {ANSWER_S:g} s"
    except (ValueError, IndexError, KeyError, TypeError):
        said = "".join(done.stderr.decode(errors="replace").strip().splitlines()[-1:]) or "nothing"
    raise InstallError(f"the new environment does not answer as it should ({said[:300]}); the old one is kept")


def switch(folder: Path, target: Path) -> Path | None:
    """Make `venv` a link to an environment; returns the one before, None where there was none.

    A robot that was set up before there were two has a folder there: it becomes `venvs/before`.
    """
    current = folder / "venv"
    before = current.resolve() if current.exists() else None
    fresh, old = folder / "venv.new", folder / "venvs" / "before"
    if fresh.is_dir() and not fresh.is_symlink():  # what was there when a setup was killed in the line after `exchange`
        set_aside(fresh, old)
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target.relative_to(folder))
    if current.is_dir() and not current.is_symlink():
        before = old
        exchange(fresh, current)
        set_aside(fresh, old)
    else:
        fresh.rename(current)
    sync(folder)
    return before


def set_aside(folder: Path, old: Path) -> None:
    """Rename a folder to `old`, which replaces the folder kept before."""
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)


def exchange(one: Path, other: Path) -> None:
    """Let two names change places, at once where the system can do that."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2") and libc.renameat2(-100, bytes(one), -100, bytes(other), EXCHANGE) == 0:
        return
    aside = one.with_name("venv.aside")
    other.rename(aside)
    one.rename(other)
    aside.rename(one)


def put(source: Path, target: Path) -> None:
    """Copy a file to its place by one rename."""
    fresh = target.with_name(target.name + ".new")
    fresh.unlink(missing_ok=True)
    shutil.copyfile(source, fresh)
    fresh.rename(target)


def link(place: Path, target: Path) -> None:
    """Make a link by one rename."""
    fresh = place.with_name(place.name + ".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.rename(place)


def run(command: list[str]) -> None:
    """Run a command; its output is shown.

    Raises:
        InstallError: it failed.
    """
    if status := subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode:
        raise InstallError(f"{' '.join(command[1:4])} failed with status {status}; the old environment is kept")


def sync(folder: Path) -> None:
    """Return when the folder's entries are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


@contextlib.contextmanager
def locked(folder: Path, who: str) -> Iterator[None]:
    """Hold the robot as `Store.lock` does.

    Raises:
        InstallError: another process has it.
    """
    with os.fdopen(os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise InstallError(f"{file.read().strip() or 'somebody'} has it now; wait until that is done") from None
        file.truncate(0)
        file.write(f"{who}, fleet setup (process {os.getpid()} on {os.uname().nodename})\n")
        file.flush()
        yield


if __name__ == "__main__":
    sys.exit(main())
