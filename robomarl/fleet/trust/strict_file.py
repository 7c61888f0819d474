"""Strict reading of a file that decides which bundles a robot accepts: whole and as its writer left
it, or rejected.

A key that is missing, unknown, there twice, or of another type never falls back to a default.
Neither does a file that is empty, cut off, a link, or open to other users.
"""

import errno
import json
import os
import stat
from dataclasses import fields
from pathlib import Path

from robomarl.core.config import Built, UserError, build

MAX_BYTES = 2**20
"""A security file is far smaller."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO must not keep the reader waiting
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def read_own(file: Path, kept_secret: bool = False) -> bytes | None:
    """Content of a plain file that only its owner writes; None where there is no such file.

    Args:
        file: its owner is the owner of its folder, this user or root.
        kept_secret: no other user may read it either.

    Raises:
        UserError: a link, no plain file, of another user, open to other users, too large, or unreadable.
    """
    try:
        descriptor = os.open(file, _OPEN)
    except FileNotFoundError:
        return None
    except OSError as error:
        said = "is a link" if error.errno == errno.ELOOP else f"can't be read ({error.strerror})"
        mend = "put the file itself there" if error.errno == errno.ELOOP else "mend its permissions"
        raise UserError(f"{file}: {said}; {mend}.") from None
    try:
        _refuse_foreign(file, os.fstat(descriptor), kept_secret)
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UserError(f"{file}: can't be read ({error.strerror}); look at the disk.") from None
    finally:
        os.close(descriptor)
    if len(content) > MAX_BYTES:
        raise UserError(f"{file}: is over {MAX_BYTES >> 10} KiB; no program of ours wrote it, remove it.")
    return content


def _refuse_foreign(file: Path, found: os.stat_result, kept_secret: bool) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise UserError(f"{file}: is no plain file; remove it.")
    if found.st_uid not in (0, os.geteuid(), file.parent.stat().st_uid):
        raise UserError(f"{file}: belongs to user id {found.st_uid}, not to the owner of its folder; run chown on it.")
    if kept_secret and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserError(f"{file}: other users can read it (mode {_mode(found)}); run chmod 600 on it.")
    if found.st_mode & _OTHERS_WRITE:
        raise UserError(f"{file}: other users can write it (mode {_mode(found)}); run chmod 644 on it.")


def _mode(found: os.stat_result) -> str:
    return f"{stat.S_IMODE(found.st_mode):03o}"


def parsed(content: bytes) -> object:
    """JSON in which no key is there twice and every number is finite.

    Raises:
        ValueError: it is none; the text says why.
    """
    if not content.strip():
        raise ValueError("it is empty")
    try:
        return json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON at byte {error.pos}") from None
    except UnicodeDecodeError:
        raise ValueError("it is no text") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def complete(cls: type[Built], content: bytes, where: str, mend: str) -> Built:
    """Return the dataclass `cls` from JSON that has every one of its keys, and no other.

    Args:
        cls: a dataclass; its defaults do not count here.
        content: content of the file.
        where: the file's name, for errors.
        mend: fix for a damaged file, for errors.

    Raises:
        UserError: no JSON, a key that is missing, unknown, twice, of a wrong type or out of range.
    """
    try:
        data = parsed(content)
        if not isinstance(data, dict):
            raise ValueError("it is no table of keys")
        missing = [f.name for f in fields(cls) if f.name not in data]
    except ValueError as error:
        raise UserError(f"{where}: is damaged ({error}); {mend}.") from None
    if missing:
        raise UserError(f"{where}: is damaged (key {missing[0]!r} is missing); {mend}.")
    return build(cls, data, where)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"key {twice[0][:40]!r} is there twice")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")
