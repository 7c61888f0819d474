"""Progress of a campaign on disk: one line per finished batch, so that a kill costs only the batch under way."""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from robomarl.core.config import UserError
from robomarl.core.types import Figures

HEAD, LINES = "campaign.json", "batches.jsonl"
Key = int | str
Record = Any
"""Result of a finished batch, as JSON: lists and tables."""


class Ledger:
    """Folder of one campaign: the record of every finished batch as JSON data, by its key. Made by `open`."""

    def __init__(self, folder: Path, records: dict[Key, Record]) -> None:
        """Continue with known records."""
        self.folder, self.records = folder, records

    @classmethod
    def open(cls, folder: Path, campaign: Figures, resume: bool) -> "Ledger":
        """Begin a folder, or go on with one.

        Args:
            folder: where.
            campaign: everything that the figures depend on, but the code of this package, which is noted too.
            resume: whether there may be something already.

        Raises:
            UserError: there is a campaign already and `resume` is not set, or it is another one, or the folder
                can't be written.
        """
        plain, head = json.loads(json.dumps({**campaign, "code": _code()})), folder / HEAD
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not head.exists():
                _write(head, json.dumps(plain, indent=1) + "\n")
                return cls(folder, {})
            before = json.loads(head.read_text())
        except OSError as error:
            raise UserError(f"--out {folder}: can't be written ({error.strerror}); name another folder.") from None
        except ValueError:
            raise UserError(f"{head}: not a campaign; remove it, or name another folder.") from None
        if not resume:
            raise UserError(f"--out {folder}: there is a campaign already; add --resume, or name another folder.")
        if before != plain:
            raise UserError(f"{head}: {_difference(before, plain)}; name another folder for another campaign.")
        return cls(folder, _read(folder / LINES))

    def add(self, key: Key, record: Record) -> None:
        """Note a finished batch."""
        line = json.dumps([key, record]) + "\n"
        with (self.folder / LINES).open("a") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.records[key] = record


def _code() -> str:
    """Return a hash of the code of filter and campaigns; batches of different code must not be counted together."""
    package = Path(__file__).parents[2]
    folders = (package / "core" / "filter", package / "lab" / "prove")
    found = (file for folder in folders for ending in ("*.py", "*.c", "*.h") for file in folder.rglob(ending))
    files = sorted(file for file in found if file.name != "_kernel.c")
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _read(file: Path) -> dict[Key, Record]:
    """The finished batches; a line that a kill cut off is cut off the file as well."""
    if not file.exists():
        return {}
    content = file.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        _write(file, whole.decode())
    return dict(json.loads(line) for line in whole.splitlines())


def _write(file: Path, content: str) -> None:
    part = file.with_suffix(".part")
    part.write_text(content)
    part.replace(file)


def _difference(before: object, now: object, key: str = "") -> str:
    if isinstance(before, dict) and isinstance(now, dict):
        names = sorted(k for k in before.keys() | now.keys() if before.get(k) != now.get(k))
        return _difference(before.get(names[0]), now.get(names[0]), f"{key}.{names[0]}" if key else names[0])
    return f"{key} is {before} there and {now} here"
