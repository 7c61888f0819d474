"""Ends of a command, which are the files and folders that it is to write: checked before its work begins.

An option that names one says so in its annotation (`OutFile`, `OutFolder`, `PlotFile`), and
`check_ends` checks every one before the command runs. A command calls `check_file` or
`check_folder` for an end that no option names.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin, get_type_hints

from robomarl.core.config import UsageError, UserError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LEAST_FREE_BYTES = 10_000_000
"""Least free space of a disk; with less it is called full before the work. Most outputs of commands are smaller."""


@dataclass(frozen=True)
class Written:
    """Annotation of an option that names an end."""

    kind: Literal["file", "folder"]
    endings: tuple[str, ...] = ()
    """Endings that a file may have; () for any."""


OutFile = Annotated[Path, Written("file")]
OutFolder = Annotated[Path, Written("folder")]
PlotFile = Annotated[Path, Written("file", (".png", ".svg"))]


def check_ends(args: "DataclassInstance", json_file: Path | None = None) -> None:
    """Look at everything that a command is to write.

    Args:
        args: a dataclass `Args`; an option that is None or "" names nothing.
        json_file: of `--json`.

    Raises:
        UserError: a file has another ending than it may have, can't be written, or its disk is full.
        UsageError: two options name one file, or a file that is read is to be written.
    """
    named = {"--json": json_file} if json_file is not None else {}
    for option, path, written in _ends(args):
        if written.kind == "folder":
            check_folder(option, path)
            continue
        if written.endings and path.suffix not in written.endings:
            raise UserError(f"{option} {path}: the name must end in {' or '.join(written.endings)}.")
        named[option] = path
    _check_apart(named, _inputs(args))
    for option, path in named.items():
        check_file(option, path)


def check_file(option: str, file: Path) -> None:
    """Check a file before hours of work instead of after them; makes the file's folder.

    Args:
        option: option that names the file.
        file: file to be written.

    Raises:
        UserError: it can't be written, or its disk is full.
    """
    try:
        if file.exists():
            file.open("a").close()
        if not file.exists() or file.is_file():  # a device needs no folder
            check_folder(option, file.parent, named=file)
            file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.touch()
            file.unlink()
    except OSError as error:
        raise UserError(f"{option} {file}: can't be written ({error.strerror}); name another file.") from None


def check_folder(option: str, folder: Path, named: Path | None = None) -> None:
    """Check a folder before hours of work instead of after them; makes nothing.

    Args:
        option: option that names the folder.
        folder: folder to be written into; it, and those above it, need not exist yet.
        named: the file in it that the option names, if it is one.

    Raises:
        UserError: it can't be made or written into, or its disk is full.
    """
    place, what = folder.absolute(), "folder" if named is None else "file"
    try:
        while not place.exists():
            place = place.parent
        if not place.is_dir():
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        with tempfile.TemporaryFile(dir=place):
            disk = shutil.disk_usage(place)
    except OSError as error:
        raise UserError(
            f"{option} {named or folder}: can't be written ({error.strerror}); name another {what}."
        ) from None
    if disk.free < LEAST_FREE_BYTES:
        free = f"{disk.free / 1e6:.1f} MB are free there"
        raise UserError(f"{option} {named or folder}: {free}; make room, or name another disk.")


def _ends(args: "DataclassInstance") -> Iterator[tuple[str, Path, Written]]:
    """Yield options, paths and their annotations."""
    from tyro.conf import Positional

    hints = get_type_hints(type(args), include_extras=True)
    for field in fields(args):
        value, hint = getattr(args, field.name), hints[field.name]
        option = field.name.upper() if Positional in get_args(hint) else f"--{field.name.replace('_', '-')}"
        for written in _marks(hint) if value else ():
            yield option, Path(value), written


def _marks(hint: object) -> Iterator[Written]:
    if get_origin(hint) is Annotated:
        yield from (part for part in get_args(hint)[1:] if isinstance(part, Written))
    for part in get_args(hint):
        yield from _marks(part)


def _inputs(args: "DataclassInstance") -> list[Path]:
    """Files that are read, as far as options name them by path."""
    hints, found = get_type_hints(type(args), include_extras=True), []
    for field in fields(args):
        value = getattr(args, field.name)
        values = value if isinstance(value, tuple) else (value,)
        if not any(_marks(hints[field.name])):
            found += [path for path in values if isinstance(path, Path) and path.is_file()]
    return found


def _check_apart(named: dict[str, Path], inputs: list[Path]) -> None:
    """Raises `UsageError` if one file has two ends, or is both an end and a beginning."""
    seen = {path.resolve(): "this command reads it" for path in inputs}
    for option, path in named.items():
        if path.exists() and not path.is_file():
            continue  # a device, such as /dev/null, may be named twice
        if why := seen.get(path.resolve()):
            raise UsageError(f"{option} {path}: {why}; name another file.")
        seen[path.resolve()] = f"{option} names it, too"
