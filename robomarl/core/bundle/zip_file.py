"""A bundle as one ZIP file: read in memory, and never unpacked onto a disk."""

import io
import stat
import struct
import zipfile
import zlib
from pathlib import Path

from robomarl.core.config import UserError

_CHUNK = 2**20
_ENTRY, _INNER = b"PK\1\2", 32
"""Signature of an entry in a ZIP file's table of contents, and the factor allowed on the number of its
occurrences, because entries of ZIP files within the file look alike."""

_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError),
    *(ValueError, OverflowError, IndexError),
)
"""Exceptions that Python's reader raises for invalid offsets, sizes and names."""


def read_zip(file: Path, max_bytes: int, max_entries: int) -> dict[str, bytes]:
    """Return the content of every file in a packed bundle by path; a single folder around all files is left out.

    Raises:
        UserError: not a ZIP file, damaged, too many bytes or entries, or an entry that is no plain file
            below the folder.
    """
    files: dict[str, bytes] = {}
    room = max_bytes
    try:
        with _open(file, max_bytes, max_entries) as archive:
            for entry in archive.infolist():
                name = _checked_name(file, entry)
                if entry.is_dir():
                    continue
                if name in files:
                    raise UserError(f"{file}: {name} is in it twice; pack the bundle anew.")
                files[name] = _content(archive, entry, room, file)
                room -= len(files[name])
    except _DAMAGED as error:
        raise UserError(f"{file}: is no sound ZIP file ({error}); fetch it again.") from None
    return _without_top(files)


def _open(file: Path, max_bytes: int, max_entries: int) -> zipfile.ZipFile:
    """Open a ZIP file after checking its size and its number of entries: Python reads the whole table of
    contents first."""
    if file.stat().st_size > max_bytes:
        raise UserError(f"{file}: is over {max_bytes >> 20} MiB; it is not a bundle.")
    content = file.read_bytes()
    if content.count(_ENTRY) > _INNER * max_entries:
        raise UserError(f"{file}: has over {max_entries} entries; it is not a bundle.")
    archive = zipfile.ZipFile(io.BytesIO(content))
    if len(archive.infolist()) > max_entries:
        raise UserError(f"{file}: has over {max_entries} entries; it is not a bundle.")
    return archive


def _checked_name(file: Path, entry: zipfile.ZipInfo) -> str:
    name = entry.filename
    parts = name.removesuffix("/").split("/")
    if "\\" in name or "\0" in name or ":" in name or any(part in ("", ".", "..") for part in parts):
        raise UserError(f"{file}: {name!r} would lie outside the bundle's folder; don't use this file.")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UserError(f"{file}: {name} is a link or a special file; a bundle holds plain files, fetch it again.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UserError(f"{file}: {name} is packed in a way that few can read; pack the bundle anew.")
    if entry.flag_bits & 1:
        raise UserError(f"{file}: {name} is encrypted; pack the bundle without a password.")
    return name


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int, file: Path) -> bytes:
    """Return the content of an entry, at most `room` bytes; the size that the entry claims is not trusted."""
    parts, size = list[bytes](), 0
    with archive.open(entry) as stream:
        while part := stream.read(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > room:
                raise UserError(f"{file}: {entry.filename} takes the bundle over its largest size; it is not a bundle.")
    return b"".join(parts)


def _without_top(files: dict[str, bytes]) -> dict[str, bytes]:
    tops = {name.split("/")[0] for name in files}
    if len(tops) != 1 or any("/" not in name for name in files):
        return files
    return {name.split("/", 1)[1]: content for name, content in files.items()}
