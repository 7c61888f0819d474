"""Keys: ed25519 (RFC 8032). Private ones stay on the operator's machine, in `NAME.pem`; public ones are `NAME.pub`."""

import base64
import binascii
import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.config import UserError
from robomarl.fleet.trust.strict_file import read_own

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as PrivateKey

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Pattern of a key's name, which becomes a file's name."""
_GROUPS, _GROUP = 6, 4
"""Number of groups of a fingerprint, and of letters in each: 96 bits, for which no second key can be found."""


def keys_dir() -> Path:
    """Folder of the operator's keys: `$ROBOMARL_KEYS`, or the user's configuration folder."""
    if "ROBOMARL_KEYS" in os.environ:
        return Path(os.environ["ROBOMARL_KEYS"])
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "robomarl" / "keys"


def new_key(name: str, folder: Path) -> str:
    """Make a key pair, `NAME.pem` (readable by its owner only) and `NAME.pub`; return the public key.

    Raises:
        UserError: bad name, a key of that name is there, or the folder can't be written.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private, public = folder / f"{checked_name(name)}.pem", folder / f"{name}.pub"
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    text = base64.b64encode(key.public_key().public_bytes_raw()).decode()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(pem)
        public.write_text(f"{text} {name}\n")
    except FileExistsError:
        raise UserError(f"{private}: is there already; name another key, or remove both of its files.") from None
    except OSError as error:
        raise UserError(f"{folder}: can't be written ({error.strerror}); mend its permissions.") from None
    return text


def read_keys(folder: Path) -> dict[str, bytes]:
    """Public keys of an operator's folder, by name; empty where there is no folder.

    Raises:
        UserError: a file is no public key, or can't be read.
    """
    try:
        return {file.stem: public_key(file.read_text(), str(file)) for file in _files(folder, ".pub")}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{folder}: can't be read ({error}); mend its permissions.") from None


def public_key(text: str, where: str) -> bytes:
    """32 bytes out of a line `BASE64 [NAME]`.

    Raises:
        UserError: it is none.
    """
    try:
        raw = base64.b64decode(text.split()[0], validate=True)
    except (IndexError, binascii.Error, ValueError):
        raw = b""
    if len(raw) != 32:
        raise UserError(f"{where}: is no public key; copy the .pub file that `robomarl key new` made.")
    return raw


def private_key(name: str, folder: Path) -> "PrivateKey":
    """An `Ed25519PrivateKey`.

    Raises:
        UserError: no such key, other users can read it, or its file is not one.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    file = folder / f"{checked_name(name)}.pem"
    if (content := read_own(file.resolve(), kept_secret=True)) is None:  # a link may lead to a key on a stick
        known = ", ".join(p.stem for p in _files(folder, ".pem")) or "none"
        raise UserError(f"{file}: no such key (there are: {known}); run `robomarl key new {name}`.")
    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"{file}: is no ed25519 private key; make one with `robomarl key new`.")
    return key


def own_key(folder: Path) -> "PrivateKey | None":
    """The operator's own private key: `$ROBOMARL_KEY` by name, or the only one there is; None where nothing says which.

    Raises:
        UserError: the named key is not there, or its file is not one.
    """
    name = os.environ.get("ROBOMARL_KEY", "")
    names = [name] if name else [file.stem for file in _files(folder, ".pem")]
    return private_key(names[0], folder) if len(names) == 1 else None


def _files(folder: Path, suffix: str) -> list[Path]:
    """Files of a folder with this ending; none where there is no folder.

    Raises:
        UserError: the folder can't be read, which `Path.glob` takes for an empty one.
    """
    try:
        return sorted(Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(suffix))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"{folder}: can't be read ({error.strerror}); mend its permissions.") from None


def fingerprint(raw: bytes) -> str:
    """Return the text that people compare: a public key's sha256, shortened, in groups. Names of keys prove nothing."""
    text = hashlib.sha256(raw).hexdigest()
    return "-".join(text[i * _GROUP : (i + 1) * _GROUP] for i in range(_GROUPS))


def checked_name(name: str) -> str:
    """The name of a key.

    Raises:
        UserError: it can't be a file's name.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"Key name {name!r} must be letters, digits, '.', '_' and '-', at most 64.")
    return name
