"""Durable writes: files are on the disk when the call returns, even if the power fails afterwards."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from robomarl.core.config import UserError

OURS, READABLE = 0o755, 0o644
"""Modes of folders and of files that are continued: for any umask, only their owner writes."""


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing."""
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            try:
                folder.mkdir(OURS)
            except FileExistsError:
                if not folder.is_dir():
                    raise


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file, and return when its content is on the disk; folders are made, and not synced."""
    make_folder(path.parent)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o444)


def replace_durably(path: Path, content: bytes, fresh: Path) -> None:
    """Replace a file by one rename: readers see the old content or the new, never a part.

    Args:
        path: the file.
        content: its new content.
        fresh: path at which the new file is written first; on this disk, too.
    """
    fresh.unlink(missing_ok=True)
    write_durably(fresh, content)
    fresh.rename(path)
    sync_folder(path.parent)


def append_durably(path: Path, line: bytes) -> None:
    """Add a line to a file; one that a power cut tore before is closed first, so that it spoils nothing."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, READABLE), "ab+") as stream:
        if stream.tell():
            stream.seek(-1, os.SEEK_END)
            line = line if stream.read(1) == b"\n" else b"\n" + line
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(path: Path) -> None:
    """Return when the folder's entries are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def written(root: Path) -> Iterator[None]:
    """Errors of the file system as one sentence."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{root}: can't be written ({error.strerror}); mend the folder or its permissions.") from None


def take_lock(file: IO[str]) -> bool:
    """Lock a file for this process; return True if that worked. A reader holds the lock for an instant, so try
    repeatedly.
    """
    for _ in range(5):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(0.03)
    return False


def open_lock(path: Path) -> IO[str]:
    """Open a lock file with access for its owner only, because every process that can read it can hold the lock too."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600), "a+")
    with suppress(OSError):  # another user's, who may only write
        os.fchmod(file.fileno(), 0o600)
    return file


def held_by(path: Path) -> str:
    """Holder of a lock file, as the file says it; empty if no process holds it."""
    try:
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return file.read().strip() or "somebody"
    except OSError:
        pass
    return ""


def linked(folder: Path) -> str:
    """Path of a file that has another name somewhere, through which it can be changed; empty where none has."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return next((str(path.relative_to(folder)) for path in files if path.stat().st_nlink > 1), "")
