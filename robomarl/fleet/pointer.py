"""`Pointer`: the current bundle of a robot, in one file that changes by one rename.

    current         {"id": ..., "previous": ...}, and while a switch is not confirmed, "pending": the state before
    current.undo    the state of `current` before, and ...
    current.done    ... after: both are there before the switch, so that its end needs no room on the disk

A power cut or kill at any time leaves `current` naming a whole bundle, and telling if its switch
was confirmed.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.disk import replace_durably, sync_folder, write_durably, written
from robomarl.fleet.trust.strict_file import parsed, read_own

ID = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class InstalledBundles:
    """Bundles of a robot: ids, or None."""

    current: str | None = None
    """Id of the bundle that it flies."""
    previous: str | None = None
    """Id of the bundle to which rollback goes."""
    pending: "InstalledBundles | None" = None
    """Bundles to which it goes back unless the switch is confirmed; None if no switch is open."""


class Pointer:
    """The files in one robot's folder. Changes need the robot's lock."""

    def __init__(self, root: Path) -> None:
        """Name the folder."""
        self._root = root
        self.file = root / "current"
        self._undo, self._done, self._fresh = (root / f"current.{name}" for name in ("undo", "done", "new"))

    def read(self) -> InstalledBundles:
        """Return the current state.

        Raises:
            UserError: the file is damaged or can't be read.
        """
        try:
            content = read_own(self.file)
            return InstalledBundles() if content is None else _state(parsed(content))
        except (UserError, ValueError) as error:
            said = str(error).removeprefix(f"{self.file}: ").splitlines()[0][:200].rstrip(".")
            raise UserError(f"{self.file}: can't be read ({said}); flash the robot again.") from None

    def switch(self, after: InstalledBundles) -> None:
        """Make `after` current at once, for good.

        Raises:
            UserError: no ids, or the folder can't be written.
        """
        self._refuse_no_ids(after)
        with written(self._root):
            if after.current is None:
                self.file.unlink(missing_ok=True)
                sync_folder(self._root)
            else:
                replace_durably(self.file, _content(after), self._fresh)

    def begin(self, after: InstalledBundles) -> None:
        """Make `after` current until `confirm` or `undo`.

        Raises:
            UserError: no ids, or the folder can't be written; nothing has changed then.
        """
        self._refuse_no_ids(after)
        before = replace(self.read(), pending=None)
        with written(self._root):
            for file, state in ((self._undo, before), (self._done, after)):
                file.unlink(missing_ok=True)
                write_durably(file, _content(state))
            replace_durably(self.file, _content(replace(after, pending=before)), self._fresh)

    def confirm(self) -> None:
        """Make the pending switch permanent. Does nothing if no switch is pending.

        Raises:
            UserError: the folder can't be written.
        """
        now = self.read()
        if now.pending is not None:
            self._end(replace(now, pending=None), self._done)

    def undo(self) -> None:
        """Go back to the state before `begin`. Does nothing if no switch is pending.

        Raises:
            UserError: the folder can't be written.
        """
        before = self.read().pending
        if before is not None:
            self._end(before, self._undo)

    def set_aside(self) -> None:
        """Take a damaged file out of the way.

        Raises:
            UserError: the folder can't be written.
        """
        with written(self._root):
            self.file.rename(self._root / "current.damaged")
            sync_folder(self._root)

    def _refuse_no_ids(self, state: InstalledBundles) -> None:
        try:
            _check(state)
        except ValueError as error:
            raise UserError(f"{self.file}: {error}; nothing was switched.") from None

    def _end(self, state: InstalledBundles, ready: Path) -> None:
        with written(self._root):
            if state.current is None:
                self.file.unlink(missing_ok=True)
            elif ready.exists() and ready.read_bytes() == _content(state):
                ready.rename(self.file)
            else:
                replace_durably(self.file, _content(state), self._fresh)
            for file in (self._undo, self._done):
                file.unlink(missing_ok=True)
            sync_folder(self._root)


def _state(data: object) -> InstalledBundles:
    """Return the state in the file's content; unknown keys raise, so that an unconfirmed switch can't look
    confirmed.
    """
    state = _ids(data, ("pending",))
    if state.current is None:
        raise ValueError("id is missing")
    if not isinstance(data, dict) or "pending" not in data:
        return state
    return replace(state, pending=_ids(data["pending"]))


def _ids(data: object, further: tuple[str, ...] = ()) -> InstalledBundles:
    if not isinstance(data, dict):
        raise ValueError("no table of keys")
    wrong = [name for name in ("id", "previous") if name not in data] or [*(data.keys() - {"id", "previous", *further})]
    if wrong:
        raise ValueError(f"key {str(wrong[0])[:40]!r} is {'unknown' if wrong[0] in data else 'missing'}")
    state = InstalledBundles(data["id"], data["previous"])
    _check(state)
    if state.current is None and state.previous is not None:
        raise ValueError("a previous bundle, but no current one")
    return state


def _check(state: InstalledBundles) -> None:
    for name in (state.current, state.previous):
        if name is not None and not (isinstance(name, str) and ID.fullmatch(name)):
            raise ValueError(f"{str(name)[:80]!r} is no bundle id")


def _content(state: InstalledBundles) -> bytes:
    data: dict[str, object] = {"id": state.current, "previous": state.previous}
    if state.pending is not None:
        data["pending"] = {"id": state.pending.current, "previous": state.pending.previous}
    return (json.dumps(data) + "\n").encode()
