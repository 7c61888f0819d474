"""`Store`: the bundles of one robot, on the robot. What is current changes by one rename.

    bundles/ID/   sealed bundles, each under its id
    current       {"id": ..., "previous": ...}: one file, so that both change together
    lock          held by whoever changes something; the system drops it when its holder dies
    staging/      bundles on their way in; what is left there is of a transfer that was cut off

A power cut or kill at any time leaves `current` naming a whole bundle, the old one or the new.
"""

import fcntl
import json
import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from robomarl.config import UserError
from robomarl.policies.bundle import Bundle, load_bundle
from robomarl.policies.verify import verify_bundle

_ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class State:
    """What a robot has. Ids, or None."""

    current: str | None = None
    """What it flies."""
    previous: str | None = None
    """What rollback goes to."""


class Store:
    """The bundles in one folder. Changes need the lock; see `lock`."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is made before `lock`."""
        self.root = root

    def state(self) -> State:
        """What is current now.

        Raises:
            UserError: the file is damaged or can't be read.
        """
        file = self.root / "current"
        try:
            data = json.loads(file.read_text())
            state = State(data["id"], data["previous"])
        except FileNotFoundError:
            return State()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{file}: can't be read ({error}); remove it and flash the robot again.") from None
        for name in (state.current, state.previous):
            if name is not None and not (isinstance(name, str) and _ID.fullmatch(name)):
                raise UserError(f"{file}: {name!r} is no bundle id; remove the file and flash the robot again.")
        return state

    def ids(self) -> list[str]:
        """Bundles that are here, sound or not."""
        return sorted(p.name for p in (self.root / "bundles").glob("*") if _ID.fullmatch(p.name))

    def folder(self, bundle_id: str) -> Path:
        """Where a bundle is, or would be."""
        return self.root / "bundles" / bundle_id

    def load(self, bundle_id: str) -> Bundle:
        """Read a bundle that is here.

        Raises:
            UserError: it is not here, not whole, or not the one that its folder's name says.
        """
        if bundle_id not in self.ids():
            raise UserError(f"{self.root}: bundle {bundle_id[:12]} is not here; flash it again.")
        bundle = load_bundle(self.folder(bundle_id))
        if bundle.id != bundle_id:
            raise UserError(f"{bundle.folder}: holds bundle {bundle.id[:12]} instead; flash it again.")
        return bundle

    def current(self) -> Bundle:
        """The bundle that the robot is to fly.

        Raises:
            UserError: there is none, or it is not whole.
        """
        bundle_id = self.state().current
        if bundle_id is None:
            raise UserError(f"{self.root}: the robot has no bundle; flash one.")
        return self.load(bundle_id)

    def add(self, bundle: Bundle) -> None:
        """Put a bundle in, whole or not at all; one that is here and sound is left as it is.

        Raises:
            UserError: the folder can't be written.
        """
        try:
            self.load(bundle.id)
            return
        except UserError:
            pass
        with _written(self.root):
            staging, target = self.root / "staging", self.folder(bundle.id)
            shutil.rmtree(staging, ignore_errors=True)
            for name, content in {**bundle.files, **bundle.sidecars}.items():
                write_durably(staging / bundle.id / name, content)
            for folder in {(staging / bundle.id / name).parent for name in bundle.files}:
                sync_folder(folder)
            target.parent.mkdir(exist_ok=True)
            if target.exists():
                target.rename(staging / "damaged")
            (staging / bundle.id).rename(target)
            sync_folder(target.parent)
            shutil.rmtree(staging, ignore_errors=True)

    def check(self, bundle_id: str) -> str:
        """Hashes and golden sequences of a bundle, here on the robot; what is wrong, or nothing."""
        try:
            self.load(bundle_id)
        except UserError as error:
            return str(error)
        return " ".join(verify_bundle(self.folder(bundle_id), timed=False).problems)

    def switch(self, state: State) -> None:
        """Make `state` what is current, durably, by one rename.

        Raises:
            UserError: the folder can't be written.
        """
        with _written(self.root):
            pointer, fresh = self.root / "current", self.root / "current.new"
            if state.current is None:
                pointer.unlink(missing_ok=True)
            else:
                content = json.dumps({"id": state.current, "previous": state.previous}) + "\n"
                fresh.unlink(missing_ok=True)
                write_durably(fresh, content.encode())
                fresh.rename(pointer)
            sync_folder(self.root)

    def prune(self) -> list[str]:
        """Remove all bundles but the current and the previous one; returns the ids of what went.

        Raises:
            UserError: the folder can't be written.
        """
        state = self.state()
        gone = [i for i in self.ids() if i not in (state.current, state.previous)]
        with _written(self.root):
            for bundle_id in gone:
                shutil.rmtree(self.folder(bundle_id))
            shutil.rmtree(self.root / "staging", ignore_errors=True)
        return gone

    @contextmanager
    def lock(self, holder: str = "flash") -> Iterator[None]:
        """Hold the robot for oneself: two operators can't flash it at once, nor one while a policy is active.

        Args:
            holder: who, for the others' error.

        Raises:
            UserError: somebody else holds it, or the folder can't be written.
        """
        with _written(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            file = (self.root / "lock").open("a+")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.seek(0)
                other = file.read().strip() or "somebody"
                raise UserError(f"{self.root}: {other} has it now; wait until that is done.") from None
            file.truncate(0)
            file.write(f"{holder} (process {os.getpid()} on {platform.node()})\n")
            file.flush()
            yield


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file, and return when its content is on the disk; folders are made, and not synced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o444)


def sync_folder(path: Path) -> None:
    """Return when the folder's entries are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _written(root: Path) -> Iterator[None]:
    """Errors of the file system as one sentence."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{root}: can't be written ({error.strerror}); mend the folder or its permissions.") from None
