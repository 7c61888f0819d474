"""`push`: put a bundle at an address. `bundle.json` goes last, so that a half upload is not a bundle for `pull`."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

from robomarl.core.bundle.bundle import (
    CARD_FILE,
    CONTRACT_FILE,
    MAX_BYTES,
    MAX_CONTRACT,
    Bundle,
    read_contract,
)
from robomarl.core.config import UserError
from robomarl.fleet.checks.isolated_check import verify_bundle
from robomarl.front.hub.card import FOLDER, card_of
from robomarl.front.hub.place import Place, open_place
from robomarl.front.hub.pull import PACKED, expected_id
from robomarl.front.hub.signers import Signers, signers_of

PACKED_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of every file in a ZIP file, so that one bundle always makes one file."""


@dataclass(frozen=True)
class Pushed:
    """Result of `push`."""

    signers: Signers
    sent: tuple[str, ...]
    """Files that were sent."""
    kept: tuple[str, ...]
    """Files that lay there already, with equal content."""


def push(bundle: Bundle, url: str, replace: bool = False) -> Pushed:
    """Check a bundle as a robot does, and put it at an address; an interrupted upload goes on when called again.

    Args:
        bundle: with its sidecars.
        url: a path, or any address that fsspec can write to; it ends with .zip for one packed file.
        replace: a different bundle may be there.

    Raises:
        UserError: the bundle fails its check, a signature is wrong, another bundle is there, or nothing can be
            written there.
    """
    place = open_place(url)
    if place.is_read_only:
        raise UserError(
            f"{url}: a web server takes no files; name a folder, s3:// or hf://, from which it serves them."
        )
    signers = signers_of(bundle)
    verdict = verify_bundle(bundle.folder, timed=False)
    if not verdict.ok:
        raise UserError(f"{bundle.folder}: fails its check, nothing was sent: {' '.join(verdict.problems)}")
    if place.root.endswith(PACKED):
        return _push_packed(bundle, place, replace, signers)
    target = place.below(FOLDER)
    _make_room(bundle, target, replace)
    files = {**bundle.files, **bundle.sidecars}
    last = files.pop(CONTRACT_FILE)
    sent = [name for name, content in files.items() if _send(target.below(name), content)]
    card = card_of(bundle, url, signers).encode()
    sent += [f"../{CARD_FILE}"] if _send(place.below(CARD_FILE), card) else []
    sent += [CONTRACT_FILE] if _send(target.below(CONTRACT_FILE), last) else []
    kept = {*files, CONTRACT_FILE, f"../{CARD_FILE}"} - set(sent)
    return Pushed(signers, tuple(sent), tuple(sorted(kept)))


def _make_room(bundle: Bundle, target: Place, replace: bool) -> None:
    """Remove the files of another bundle, its `bundle.json` first; raises `UserError` unless that is allowed."""
    sealed = target.below(CONTRACT_FILE).content(MAX_CONTRACT)
    if sealed is not None and sealed != bundle.files[CONTRACT_FILE]:
        if not replace:
            there = _id_of(target, sealed)[:12]
            raise UserError(
                f"{target.url}: holds bundle {there}, not {bundle.id[:12]}; add --replace, or name another."
            )
        target.below(CONTRACT_FILE).remove()
    for name in target.names():
        if name not in bundle.files and name not in bundle.sidecars:
            target.below(name).remove()


def _id_of(target: Place, sealed: bytes) -> str:
    try:
        return expected_id(read_contract(Path(target.url), {CONTRACT_FILE: sealed}), sealed)
    except UserError:
        return "of another form"


def _send(place: Place, content: bytes) -> bool:
    """Write a file unless it is there with equal content; return True if it was sent."""
    if place.content(max(len(content), MAX_CONTRACT)) == content:
        return False
    place.write(content)
    return True


def _push_packed(bundle: Bundle, place: Place, replace: bool, signers: Signers) -> Pushed:
    """Write one ZIP file."""
    content, name = packed(bundle), place.root.rpartition("/")[2]
    there = place.content(MAX_BYTES)
    if there == content:
        return Pushed(signers, (), (name,))
    if there is not None and not replace:
        raise UserError(f"{place.url}: another file is there; add --replace, or name another address.")
    place.write(content)
    return Pushed(signers, (name,), ())


def packed(bundle: Bundle) -> bytes:
    """Return the bundle as a ZIP file; equal bundles give equal bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted({**bundle.files, **bundle.sidecars}.items()):
            archive.writestr(zipfile.ZipInfo(name, PACKED_TIME), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
