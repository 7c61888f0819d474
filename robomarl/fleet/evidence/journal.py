"""The robot's journal: operator, time, bundles before and after, and result of every change. One JSON
object a line.

Every line is on the disk before the next step begins, so that the last line shows the step that was
running when the power went. A line that was torn is skipped. The lines are a chain: each holds the
sha256 of the one before, and of any text torn since; see `robomarl.fleet.evidence.chain`.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from robomarl.fleet.disk import append_durably, make_folder
from robomarl.fleet.evidence.chain import link_after

MAX_BYTES = 2**20
"""A larger journal is set aside as `journal.old.jsonl`, in the place of the one before."""


SWITCHES = ("flash", "rollback", "finish")
"""Actions that make something current."""
LEFT = "whoever switched was gone before all had"
"""Why a robot went back by itself; it may be that others had been told to stay, see `robomarl.fleet.look`."""


@dataclass(frozen=True)
class Entry:
    """One line."""

    time: str
    """UTC, ISO 8601."""
    who: str
    """user@host of the operator."""
    action: str
    """flash, rollback, finish, undo, verify, prune, trust, revoke, setup or started anew."""
    before: str | None
    """Id that was current."""
    after: str | None
    """Id that is to be current."""
    result: str
    """`begun`, `ok`, or the error."""
    key: str = ""
    """Fingerprint of the key that the operator proved to have; empty if the operator's name is not proven."""
    link: str = ""
    """Sha256 of the content before it in the file, from the last whole line on; empty in lines from before the
    chain.
    """


class Journal:
    """The journal in one folder."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is made before the first line."""
        self.file, self.old = root / "journal.jsonl", root / "journal.old.jsonl"

    def write(self, who: str, action: str, change: tuple[str | None, str | None], result: str, key: str = "") -> None:
        """Add a line, durably.

        Args:
            who: the operator.
            action: see `Entry`.
            change: id before, id after.
            result: see `Entry`.
            key: see `Entry`.

        Raises:
            OSError: the folder can't be written.
        """
        make_folder(self.file.parent)
        link = link_after(self.raw())
        if self.file.exists() and self.file.stat().st_size > MAX_BYTES:
            self.file.rename(self.old)
        entry = Entry(datetime.now(UTC).isoformat(timespec="milliseconds"), who, action, *change, result, key, link)
        append_durably(self.file, (json.dumps(asdict(entry)) + "\n").encode())

    def raw(self) -> bytes:
        """The content of the file; empty where there is none."""
        try:
            return self.file.read_bytes()
        except OSError:
            return b""

    def read(self, count: int = 100) -> list[Entry]:
        """The last lines that are whole, oldest first; none where the file can't be read."""
        entries = [entry for line in self.raw().splitlines() if (entry := entry_of(line)) is not None]
        return entries[-count:] if count > 0 else []

    def undone(self, current: str | None) -> str:
        """Return the id of the bundle from which the robot by itself went back to `current`, if not switched since;
        else "".
        """
        done = [e for e in self.read() if e.action == "undo" or (e.action in SWITCHES and e.result == "ok")]
        last = done[-1] if done else None
        left = last is not None and last.action == "undo" and LEFT in last.result and last.after == current
        return (last.before or "") if left and last is not None else ""


def entry_of(line: bytes) -> Entry | None:
    """Return the entry of a line; None if it is torn."""
    try:
        data = json.loads(line)
        return Entry(**data)
    except (ValueError, TypeError):
        return None
