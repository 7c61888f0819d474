"""Files that are on the disk when the call returns, whatever happens to the power afterwards."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from robomarl.config import UserError


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file, and return when its content is on the disk; folders are made, and not synced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(0o444)


def replace_durably(path: Path, content: bytes, fresh: Path) -> None:
    """Put a file in the place of another by one rename: readers see the old content or the new, never a part.

    Args:
        path: the file.
        content: its new content.
        fresh: where the new file is written first; on the same disk.
    """
    fresh.unlink(missing_ok=True)
    write_durably(fresh, content)
    fresh.rename(path)
    sync_folder(path.parent)


def append_durably(path: Path, line: bytes) -> None:
    """Add a line to a file; one that a power cut tore before is closed first, so that it spoils nothing."""
    with path.open("ab+") as stream:
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
    """Lock a file for oneself; whether that worked. Who only looks has it for an instant: so try more than once."""
    for _ in range(5):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(0.03)
    return False
