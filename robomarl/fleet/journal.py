"""The robot's journal: who changed what when, from what, to what, and how it ended. One JSON object a line.

Every line is on the disk before the next step begins, so that the last line says what was going on when the
power went. A line that was torn is skipped.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from robomarl.fleet.disk import append_durably

MAX_BYTES = 2**20
"""A larger journal is set aside as `journal.old.jsonl`, in the place of the one before."""


@dataclass(frozen=True)
class Entry:
    """One line."""

    time: str
    """UTC, ISO 8601."""
    who: str
    """user@host of the operator."""
    action: str
    """flash, rollback, undo, verify, prune, trust, revoke or setup."""
    before: str | None
    """Id that was current."""
    after: str | None
    """Id that is to be current."""
    result: str
    """`begun`, `ok`, or what went wrong."""


class Journal:
    """The journal in one folder."""

    def __init__(self, root: Path) -> None:
        """Name the folder; nothing is made before the first line."""
        self.file = root / "journal.jsonl"

    def write(self, who: str, action: str, change: tuple[str | None, str | None], result: str) -> None:
        """Add a line, durably.

        Args:
            who: the operator.
            action: see `Entry`.
            change: id before, id after.
            result: see `Entry`.

        Raises:
            OSError: the folder can't be written.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if self.file.exists() and self.file.stat().st_size > MAX_BYTES:
            self.file.rename(self.file.with_name("journal.old.jsonl"))
        entry = Entry(datetime.now(UTC).isoformat(timespec="milliseconds"), who, action, *change, result)
        append_durably(self.file, (json.dumps(asdict(entry)) + "\n").encode())

    def read(self, count: int = 100) -> list[Entry]:
        """The last lines that are whole, oldest first; none where the file can't be read."""
        try:
            lines = self.file.read_bytes().splitlines()
        except OSError:
            return []
        entries = [entry for line in lines if (entry := _entry(line)) is not None]
        return entries[-count:] if count > 0 else []


def _entry(line: bytes) -> Entry | None:
    try:
        data: Any = json.loads(line)
        return Entry(**data)
    except (ValueError, TypeError):
        return None
