"""`PendingTrust`: a change of `trust.json` that holds for good once every robot of the team has made
it.

    trust.next   the next `trust.json`: written before the change, so that the change is one rename
    trust.undo   the previous `trust.json`; while this file is there, the next holder of the robot goes back to it

Both are written while nothing has changed, so neither the change nor the way back needs room on the
disk.
"""

import os
from pathlib import Path

from robomarl.core.config import UserError
from robomarl.fleet.disk import replace_durably, sync_folder, written
from robomarl.fleet.trust.policy import TRUST_FILE, Trust, content_of, parse_trust
from robomarl.fleet.trust.strict_file import read_own

NONE = b'{"trust.json": null}\n'
"""Content of `trust.undo` where there was no `trust.json`."""


class PendingTrust:
    """The files in one robot's folder. Changes need the robot's lock."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is made before `prepare`."""
        self._root, self._file, self._fresh = root, root / TRUST_FILE, root / f"{TRUST_FILE}.new"
        self._next, self._undo = root / "trust.next", root / "trust.undo"

    def is_open(self) -> bool:
        """True between `prepare` and `confirm` or `undo`, also where their process has died."""
        return os.path.lexists(self._undo)

    def prepare(self, new: Trust) -> None:
        """Write the files for the change and for the way back; nothing changes yet.

        Raises:
            UserError: the folder can't be read or written.
        """
        old = read_own(self._file)
        with written(self._root):
            replace_durably(self._undo, NONE if old is None else old, self._fresh)
            replace_durably(self._next, content_of(new), self._fresh)

    def commit(self) -> None:
        """Make the change, until `confirm` or `undo`.

        Raises:
            UserError: nothing was prepared, or the folder can't be written.
        """
        if not (self.is_open() and self._next.exists()):
            raise UserError(f"{self._root}: no change of trust is prepared; run the command again.")
        with written(self._root):
            self._next.rename(self._file)
            sync_folder(self._root)
            sync_folder(self._root.absolute().parent)

    def confirm(self) -> None:
        """Stay with the change.

        Raises:
            UserError: the folder can't be written.
        """
        self._remove(self._next, self._undo)

    def undo(self) -> bool:
        """Go back to the trust before; return True if a change was open.

        Raises:
            UserError: the way back is damaged, or the folder can't be written.
        """
        old = read_own(self._undo)
        if old is None:
            return False
        if old == NONE:
            self._remove(self._next, self._file, self._undo)
            return True
        parse_trust(old, self._undo)
        self._remove(self._next)
        with written(self._root):
            self._undo.rename(self._file)
            sync_folder(self._root)
        return True

    def _remove(self, *files: Path) -> None:
        with written(self._root):
            for file in files:
                file.unlink(missing_ok=True)
                sync_folder(self._root)
