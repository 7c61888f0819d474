"""`pull`: fetch a bundle from an address into a folder; whole and checked, or not at all.

`bundle.json` comes first: it names every other file with its hash and size. What has come lies in a hidden folder
beside the target, from which the next call goes on; one rename makes it the target.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.bundle.bundle import (
    CONTRACT_FILE,
    MAX_BYTES,
    MAX_CONTRACT,
    MAX_FILES,
    SIDECARS,
    Bundle,
    entry_of,
    load_bundle,
    read_contract,
)
from robomarl.core.bundle.contract import Contract, FileEntry
from robomarl.core.bundle.provenance import sha256_of
from robomarl.core.config import UserError
from robomarl.fleet.checks.isolated_check import verify_bundle
from robomarl.fleet.disk import written
from robomarl.front.hub.card import FOLDER
from robomarl.front.hub.place import Place, open_place
from robomarl.front.hub.signers import Signers, signers_of

DEFAULT = Path("bundles")
"""Folder of bundles that are fetched without a folder of their own."""
PACKED = ".zip"


@dataclass(frozen=True)
class PullOptions:
    """Demands on a bundle that is fetched."""

    id: str = ""
    """First letters, or all, of the id that it must have; "" for any."""
    signed_by: tuple[str, ...] = ()
    """Names of keys on this machine that must all have signed it."""


@dataclass(frozen=True)
class Pulled:
    """A bundle that has been fetched."""

    bundle: Bundle
    signers: Signers
    fetched_bytes: int
    """Bytes that came in this call; fewer than the bundle's if a call before had begun."""


def pull(url: str, folder: Path | None, options: PullOptions = PullOptions()) -> Pulled:  # noqa: B008
    """Fetch a bundle; what is there already is kept if it is that bundle.

    Args:
        url: folder of a bundle, folder that `push` made, or ZIP file; a path or any address that fsspec knows.
        folder: where it goes; None: `bundles/NAME`.
        options: demands on the bundle.

    Raises:
        UserError: there is no bundle, it can't be fetched, is not what was sealed or demanded, does not do what its
            golden values say, or the folder holds something else.
    """
    place = open_place(url)
    if place.root.endswith(PACKED):
        return _pull_packed(place, folder or DEFAULT / Path(place.root).stem, options)
    place, sealed = contract_at(place)
    with written(folder or DEFAULT):
        contract = read_contract(Path(place.url), {CONTRACT_FILE: sealed})
        expected = expected_id(contract, sealed)
        _check_id(expected, options.id, url)
        folder = folder or DEFAULT / _folder_name(contract.name)
        if folder.exists():
            return Pulled(*_kept(folder, expected, options), 0)
        partial = partial_of(folder)
        _keep_only(partial, {*contract.files, CONTRACT_FILE, *SIDECARS})
        (partial / CONTRACT_FILE).write_bytes(sealed)
        count = len(sealed) + sum(_fetch(place.below(name), partial / name, e) for name, e in contract.files.items())
        count += sum(_fetch_sidecar(place.below(name), partial / name) for name in SIDECARS)
        return _finished(partial, folder, options, count)


def contract_at(place: Place) -> tuple[Place, bytes]:
    """Return the folder with the sealed files, and the content of its `bundle.json`.

    Raises:
        UserError: there is none.
    """
    for found in (place.below(FOLDER), place):
        if (sealed := found.below(CONTRACT_FILE).content(MAX_CONTRACT)) is not None:
            return found, sealed
    raise UserError(
        f"{place.url}: no {CONTRACT_FILE} is there or in {FOLDER}/; check the address, or push the bundle again "
        "if its upload was interrupted."
    )


def expected_id(contract: Contract, sealed: bytes) -> str:
    """Return the id of a bundle of which only `bundle.json` is here.

    Raises:
        UserError: its list of files is none of a bundle.
    """
    names = list(contract.files)
    if len(names) > MAX_FILES or sum(entry.size for entry in contract.files.values()) > MAX_BYTES:
        raise UserError(f"{contract.name}: has over {MAX_FILES} files or {MAX_BYTES >> 20} MiB; it is not a bundle.")
    for name in names:
        if "\\" in name or "\0" in name or ":" in name or any(part in ("", ".", "..") for part in name.split("/")):
            raise UserError(f"{contract.name}: {name!r} would lie outside the bundle's folder; don't use this bundle.")
    return sha256_of({**contract.files, CONTRACT_FILE: entry_of(sealed)})


def partial_of(folder: Path) -> Path:
    """Return the folder in which a bundle arrives before it is `folder`."""
    return folder.parent / f".{folder.name}.partial"


def _check_id(found: str, wanted: str, url: str) -> None:
    if not found.startswith(wanted):
        raise UserError(f"{url}: holds bundle {found[:12]}, not {wanted[:12]}; check the address or the id.")


def _folder_name(name: str) -> str:
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise UserError(f"The bundle's name {name!r} is no folder's name; name one: robomarl pull URL DIR.")
    return name


def _kept(folder: Path, expected: str, options: PullOptions) -> tuple[Bundle, Signers]:
    """Return the bundle that is there already, and its signers; raises `UserError` if it is another one."""
    try:
        bundle = load_bundle(folder)
    except UserError:
        raise UserError(f"{folder}: is there already, and is no bundle; name another folder, or remove it.") from None
    if bundle.id != expected:
        raise UserError(
            f"{folder}: holds bundle {bundle.id[:12]}, not {expected[:12]}; name another folder, or remove it."
        )
    return bundle, signers_of(bundle, options.signed_by)


def _keep_only(folder: Path, names: set[str]) -> None:
    """Make the folder, or remove files that an interrupted call for another bundle left in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [path for path in folder.rglob("*") if path.is_file() or path.is_symlink()]:
        if path.relative_to(folder).as_posix() not in names:
            path.unlink()


def _fetch(place: Place, file: Path, entry: FileEntry) -> int:
    """Fetch one sealed file, and go on where an earlier call ended; return the number of bytes that came.

    Raises:
        UserError: it is not there, or not the file that was sealed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    have = file.stat().st_size if file.exists() else 0
    if have >= entry.size:
        if entry_of(file.read_bytes()) == entry:
            return 0
        have = 0
    count = _append(place, file, have, entry.size)
    if entry_of(file.read_bytes()) != entry:
        if have:  # the earlier part was of another file
            return count + _fetch(place, _emptied(file), entry)
        file.unlink()
        raise UserError(
            f"{place.url}: is not the file that was sealed (its sha256 or size differs); push the bundle again."
        )
    return count


def _append(place: Place, file: Path, have: int, size: int) -> int:
    """Write a file from an offset on, and flush every part, so that a kill keeps what has come."""
    count = 0
    try:
        with file.open("r+b" if have else "wb") as stream:
            for at, part in place.read(have):
                stream.seek(at)
                stream.write(part[: max(0, size + 1 - at)])  # one byte too many shows that it is another file
                stream.flush()
                count += len(part)
                if at + len(part) > size:
                    break
            stream.truncate()
    except FileNotFoundError:
        raise UserError(f"{place.url}: is missing; push the bundle again.") from None
    return count


def _emptied(file: Path) -> Path:
    file.unlink()
    return file


def _fetch_sidecar(place: Place, file: Path) -> int:
    """Fetch a sidecar if there is one; return the number of bytes."""
    file.unlink(missing_ok=True)
    if (content := place.content(MAX_CONTRACT)) is None:
        return 0
    file.write_bytes(content)
    return len(content)


def _pull_packed(place: Place, folder: Path, options: PullOptions) -> Pulled:
    """Fetch a ZIP file, and unpack it; nothing says its hash beforehand, so it begins anew at every call."""
    with written(folder):
        partial = partial_of(folder)
        shutil.rmtree(partial, ignore_errors=True)
        packed = partial / f"packed{PACKED}"
        partial.mkdir(parents=True)
        count = _append(place, packed, 0, MAX_BYTES)
        bundle = load_bundle(packed)
        _check_id(bundle.id, options.id, place.url)
        if folder.exists():
            shutil.rmtree(partial)
            return Pulled(*_kept(folder, bundle.id, options), count)
        packed.unlink()
        for name, content in {**bundle.files, **bundle.sidecars}.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            (partial / name).write_bytes(content)
        return _finished(partial, folder, options, count)


def _finished(partial: Path, folder: Path, options: PullOptions, count: int) -> Pulled:
    """Check a bundle that is complete, as a robot does, and make it the target by one rename."""
    bundle = load_bundle(partial)
    signers = signers_of(bundle, options.signed_by)
    verdict = verify_bundle(partial, timed=False)
    if not verdict.ok:
        raise UserError(f"Bundle {bundle.id[:12]} fails its check: {' '.join(verdict.problems)}")
    partial.rename(folder)
    return Pulled(load_bundle(folder), signers, count)
