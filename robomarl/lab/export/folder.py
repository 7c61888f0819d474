"""`write_folder`: a bundle's files in their folder, all of them or none."""

import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from robomarl.core.bundle.bundle import CONTRACT_FILE, Bundle, load_bundle
from robomarl.core.config import UserError


def write_folder(target: Path, files: dict[str, bytes], finish: Callable[[Path], None] = lambda folder: None) -> Bundle:
    """Write a bundle, check it, and put it into its place.

    Args:
        target: the bundle's folder. An existing bundle there is replaced, anything else is not touched.
        files: content by path.
        finish: receives the folder of the complete bundle before it is put in its place.

    Raises:
        UserError: something else is in the way, or the folder can't be written.
    """
    check_target(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as temporary:
            folder = Path(temporary) / target.name
            folder.mkdir()
            for path, data in files.items():
                (folder / path).write_bytes(data)
            load_bundle(folder)
            finish(folder)
            _replace(folder, target)
    except OSError as error:
        raise UserError(f"{target}: can't be written ({error.strerror}); name another folder.") from None
    return load_bundle(target)


def check_target(target: Path) -> None:
    """Raises `UserError` where a file, or a folder that is no bundle, is in the way."""
    if target.is_dir() and any(target.iterdir()) and not (target / CONTRACT_FILE).is_file():
        raise UserError(f"{target} is a folder with other things in it; name another folder for the bundle.")
    if target.exists() and not target.is_dir():
        raise UserError(f"{target} is a file; name a folder for the bundle.")


def _replace(folder: Path, target: Path) -> None:
    """Put `folder` in the place of `target`; the old one goes away with the temporary folder."""
    old = folder.parent / "old"
    if target.exists():
        os.rename(target, old)
    try:
        os.rename(folder, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise


def packed(archive: bytes) -> bytes:
    """Return a ZIP archive, such as an `.npz`, with equal members that take as little room as Deflate can give them."""
    small = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as members, zipfile.ZipFile(small, "w") as file:
        for member in members.infolist():
            file.writestr(member, members.read(member), zipfile.ZIP_DEFLATED, 9)
    return small.getvalue()
