"""`Store`: the bundles of one robot, on the robot. The current bundle changes by one rename.

    bundles/ID/     sealed bundles, each under its id; every bundle here was whole when it came
    current         id of the bundle that it flies, and of the one before; see `Pointer`
    lock            held by a process that changes something, or flies; the system drops it when its holder dies
    staging/        bundles on their way in; the rest of a transfer that was cut off stays here
    trust.json      signed bundles only or not, and the trusted keys; see `PendingTrust` for trust.undo
    journal.jsonl   operator, time and result of every change
    robot.json      profile of the robot, written by `robomarl fleet setup`

A power cut or kill at any time leaves `current` naming a whole bundle, the old one or the new. An
unconfirmed switch is undone at the next look: see `Store.settle`.
"""

import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from robomarl.core.bundle.bundle import SIDECARS, Bundle, load_bundle
from robomarl.core.config import UserError
from robomarl.fleet.checks.isolated_check import verify_bundle
from robomarl.fleet.checks.verdict import Verdict
from robomarl.fleet.disk import (
    held_by,
    linked,
    make_folder,
    open_lock,
    replace_durably,
    sync_folder,
    take_lock,
    write_durably,
    written,
)
from robomarl.fleet.evidence.journal import LEFT, Journal
from robomarl.fleet.pointer import ID, InstalledBundles, Pointer
from robomarl.fleet.trust.pending import PendingTrust
from robomarl.fleet.trust.policy import Offer, Trust, offer_of, read_trust, write_trust

_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,3}")


class HeldError(UserError):
    """Another process has the lock."""


class Store:
    """The bundles in one folder. Changes need the lock; see `lock`."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is made before `lock`."""
        self.root = root
        self.journal = Journal(root)
        self.pointer = Pointer(root)
        self.trust_change = PendingTrust(root)

    def state(self) -> InstalledBundles:
        """Return the current state.

        Raises:
            UserError: the file is damaged or can't be read.
        """
        return self.pointer.read()

    def since_s(self) -> float | None:
        """When `current` was last changed, in seconds since 1970; none where nothing is current."""
        try:
            return (self.root / "current").stat().st_mtime
        except OSError:
            return None

    def ids(self) -> list[str]:
        """Bundles that are here, sound or not."""
        return sorted(p.name for p in (self.root / "bundles").glob("*") if ID.fullmatch(p.name))

    def folder(self, bundle_id: str) -> Path:
        """Return the folder of a bundle, even if the bundle is not here."""
        return self.root / "bundles" / bundle_id

    def load(self, bundle_id: str) -> Bundle:
        """Read a bundle that is here.

        Raises:
            UserError: it is not here, not whole, not the one that its folder's name says, or not signed by
                keys that this robot trusts.
        """
        if bundle_id not in self.ids():
            raise UserError(f"{self.root}: bundle {bundle_id[:12]} is not here; flash it again.")
        return self._checked(self.folder(bundle_id), bundle_id)

    def current(self) -> Bundle:
        """The bundle that the robot is to fly.

        Raises:
            UserError: there is none, or it is not whole.
        """
        bundle_id = self.state().current
        if bundle_id is None:
            raise UserError(f"{self.root}: the robot has no bundle; flash one.")
        return self.load(bundle_id)

    def add(self, bundle_id: str, files: dict[str, bytes]) -> None:
        """Put a bundle in, whole and checked or not at all; for one that is here and sound, only sidecars
        change.

        Args:
            bundle_id: claimed id of the files.
            files: content by path, sidecars included.

        Raises:
            UserError: the files are not that bundle, or the folder can't be written.
        """
        for name in files:
            if not _FILE.fullmatch(name):
                raise UserError(f"{self.root}: {name!r} can't be a file of a bundle; nothing was written.")
        if not ID.fullmatch(bundle_id):
            raise UserError(f"{self.root}: {bundle_id!r} is no bundle id; nothing was written.")
        with written(self.root):
            here = self._whole(bundle_id)
            if here is None:
                self._add_new(bundle_id, files)
            else:
                self._add_sidecars(here, {name: files[name] for name in SIDECARS if name in files})

    def check(self, bundle_id: str, timed: bool = False) -> Verdict:
        """Hashes, signature and golden sequences of a bundle, here on the robot, in a process of its own."""
        try:
            bundle = self.load(bundle_id)
        except UserError as error:
            return Verdict(bundle_id, False, (str(error),))
        # The nodes fly policy.onnx behind the filter; the filtered graph, slow to open, is for other runtimes.
        verdict = verify_bundle(bundle.folder, timed, filtered=False)
        if verdict.id in ("", bundle_id):
            return replace(verdict, id=bundle_id)
        return Verdict(bundle_id, False, (f"{bundle.folder}: changed as it was checked; flash it again.",))

    def switch(self, state: InstalledBundles) -> None:
        """Make `state` current, durably, by one rename.

        Raises:
            UserError: the folder can't be written.
        """
        self.remember_counter()
        self.pointer.switch(state)

    def begin(self, state: InstalledBundles) -> None:
        """Make `state` current until `pointer.confirm` or `pointer.undo`; see `switch`."""
        self.remember_counter()
        self.pointer.begin(state)

    def settle(self) -> None:
        """Undo an open switch or change of trust if its operator is gone: a power cut, a kill, a lost link.

        Raises:
            UserError: the folder can't be read or written.
        """
        if not self.trust_change.is_open() and self.state().pending is None:
            return
        with suppress(HeldError), self.lock("settle"):
            self.settle_locked()

    def settle_locked(self) -> None:
        """Settle as the holder of the lock; a damaged `current` is set aside."""
        undone = self.trust_change.undo()
        try:
            now = self.state()
        except UserError as error:
            self.pointer.set_aside()
            self._tell(InstalledBundles(), InstalledBundles(), f"ok: {error}")
            return
        if undone:
            self._tell(now, now, f"ok: whom it trusts: {LEFT}", "undo trust")
        if now.pending is not None:
            self.pointer.undo()
            self._tell(now, now.pending, f"ok: {LEFT}")

    def _tell(self, before: InstalledBundles, after: InstalledBundles, result: str, action: str = "undo") -> None:
        with suppress(OSError):  # going back must not depend on room for a line
            self.journal.write("the robot", action, (before.current, after.current), result)

    def trust(self) -> Trust:
        """Return the robot's trust; see `read_trust`."""
        return read_trust(self.root)

    def admit(self, offer: Offer, allow_rollback: bool = False) -> None:
        """Check that a bundle may come; the current one may.

        Raises:
            UserError: it is not signed by keys that the robot trusts, expired, or not newer than the
                robot's earlier bundles.
        """
        trust = self.trust()
        if (statement := trust.check(offer)) is None:
            return
        state, now = InstalledBundles(), self._counter(trust)
        with suppress(UserError):  # `current` is damaged, and set aside once the robot is held
            state = self.state()
        if offer.id != state.current:
            # After an allowed rollback the previous bundle has the largest counter, and may come back.
            had_it = offer.id == state.previous and now < trust.counter
            trust.check_arrival(statement, now, allow_rollback, had_it)

    def _counter(self, trust: Trust) -> int:
        """Return the counter of the current bundle; 0 if there is none, or it is not signed."""
        try:
            statement = trust.check(offer_of(self.current()))
        except UserError:
            return 0
        return statement.counter if statement else 0

    def prune(self) -> list[str]:
        """Remove all bundles but the current and the previous one; return the ids of the removed ones.

        Raises:
            UserError: the folder can't be written.
        """
        state = self.state()
        gone = [i for i in self.ids() if i not in (state.current, state.previous)]
        with written(self.root):
            for bundle_id in gone:
                shutil.rmtree(self.folder(bundle_id))
            shutil.rmtree(self.root / "staging", ignore_errors=True)
        return gone

    @contextmanager
    def lock(self, holder: str = "flash") -> Iterator[None]:
        """Hold the robot for this process: two operators can't flash it at once, nor one while a policy is
        active.

        Args:
            holder: name of the holder, for the error of other processes.

        Raises:
            HeldError: another process holds it.
            UserError: the folder can't be written.
        """
        with written(self.root):
            make_folder(self.root)
            file = open_lock(self.root / "lock")
        with file:
            if not take_lock(file):
                file.seek(0)
                other = file.read().strip() or "somebody"
                raise HeldError(f"{self.root}: {other} has it now; wait until that is done.")
            with suppress(OSError):  # a full disk keeps nobody from going back
                file.truncate(0)
                file.write(f"{holder} (process {os.getpid()} on {platform.node()})\n")
                file.flush()
            yield

    def holder(self) -> str:
        """Return the present holder of the lock; empty if there is none."""
        return held_by(self.root / "lock")

    def remember_counter(self) -> None:
        """Record the current bundle's counter as the minimum for later bundles, before the current bundle or the
        trust changes.
        """
        trust = self.trust()
        if trust.signed and (counter := self._counter(trust)) > trust.counter:
            write_trust(self.root, replace(trust, counter=counter))

    def _whole(self, bundle_id: str) -> Bundle | None:
        try:
            bundle = load_bundle(self.folder(bundle_id))
        except UserError:
            return None
        return bundle if bundle.id == bundle_id and not linked(bundle.folder) else None

    def _add_new(self, bundle_id: str, files: dict[str, bytes]) -> None:
        staging, target = self.root / "staging", self.folder(bundle_id)
        shutil.rmtree(staging, ignore_errors=True)
        try:
            for name, content in files.items():
                write_durably(staging / bundle_id / name, content)
            for folder in {(staging / bundle_id / name).parent for name in files}:
                sync_folder(folder)
            self._checked(staging / bundle_id, bundle_id)
            make_folder(target.parent)
            if target.exists():
                target.rename(staging / "damaged")
            (staging / bundle_id).rename(target)
            sync_folder(target.parent)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _add_sidecars(self, bundle: Bundle, sidecars: dict[str, bytes]) -> None:
        after = replace(bundle, sidecars=bundle.sidecars | sidecars)
        self.trust().check(offer_of(after))
        self.remember_counter()
        for name, content in sidecars.items():
            if bundle.sidecars.get(name) != content:
                replace_durably(self.folder(bundle.id) / name, content, self.root / "sidecar.new")

    def _checked(self, folder: Path, bundle_id: str) -> Bundle:
        bundle = load_bundle(folder)
        if bundle.id != bundle_id:
            raise UserError(f"{folder}: holds bundle {bundle.id[:12]} instead; flash it again.")
        if name := linked(folder):
            raise UserError(f"{folder}: {name} has another name elsewhere (a hard link); flash it again.")
        self.trust().check(offer_of(bundle))
        return bundle
