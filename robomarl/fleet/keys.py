"""Signatures: whose bundles a robot takes. A robot that trusts somebody takes nothing from anybody else.

The signature is a sidecar, `signature.json`: an ed25519 signature (RFC 8032) over the bundle's id, which covers
every file. Private keys stay on the operator's machine; robots hold public ones, in `trusted/NAME.pub`.
"""

import base64
import binascii
import json
import os
import re
from pathlib import Path
from typing import Any

from robomarl.config import UserError
from robomarl.policies.bundle import Bundle

SIGNATURE_FILE = "signature.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What a key may be called: its name becomes a file's."""
_PURPOSE = b"robomarl bundle 1\n"
"""Signed before the id, so that a signature means nothing else."""


def keys_dir() -> Path:
    """Folder of the operator's keys: `$ROBOMARL_KEYS`, or the user's configuration folder."""
    if "ROBOMARL_KEYS" in os.environ:
        return Path(os.environ["ROBOMARL_KEYS"])
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "robomarl" / "keys"


def new_key(name: str, folder: Path) -> str:
    """Make a key pair, `NAME.pem` (for nobody else) and `NAME.pub`; returns the public key.

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
    """Public keys of a folder, by name; an empty dict where there is no folder.

    Raises:
        UserError: a file is no public key. A damaged set of keys must not count as an empty one.
    """
    try:
        return {file.stem: public_key(file.read_text(), str(file)) for file in sorted(folder.glob("*.pub"))}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{folder}: can't be read ({error}); mend its permissions.") from None


def public_key(text: str, where: str) -> bytes:
    """32 bytes out of a line `BASE64 [NAME]`.

    Raises:
        UserError: it is none.
    """
    try:
        raw = base64.b64decode(text.split()[0], validate=True)
    except (IndexError, binascii.Error):
        raw = b""
    if len(raw) != 32:
        raise UserError(f"{where}: is no public key; copy the .pub file that `robomarl key new` made.")
    return raw


def sign(bundle_id: str, name: str, folder: Path) -> bytes:
    """The content of `signature.json` for a bundle.

    Raises:
        UserError: no such key, or its file is not one.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    file = folder / f"{checked_name(name)}.pem"
    if not file.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.pem"))) or "none"
        raise UserError(f"{file}: no such key (there are: {known}); run `robomarl key new {name}`.")
    try:
        key: Any = load_pem_private_key(file.read_bytes(), None)
    except (OSError, ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"{file}: is no ed25519 private key; make one with `robomarl key new`.")
    text = {
        "id": bundle_id,
        "key": base64.b64encode(key.public_key().public_bytes_raw()).decode(),
        "name": name,
        "signature": base64.b64encode(key.sign(_PURPOSE + bundle_id.encode())).decode(),
    }
    return (json.dumps(text, indent=1) + "\n").encode()


def check_signature(bundle: Bundle, trusted: dict[str, bytes]) -> str:
    """Name of the trusted key that signed a bundle; empty where nobody is trusted, so that anything goes.

    Raises:
        UserError: unsigned, signed by somebody else, for another bundle, or the signature is wrong.
    """
    if not trusted:
        return ""
    if SIGNATURE_FILE not in bundle.sidecars:
        raise UserError(
            f"Bundle {bundle.id[:12]} is not signed, and this robot takes signed ones only; "
            "run `robomarl key sign` with a key that it trusts."
        )
    said = _parsed(bundle.sidecars[SIGNATURE_FILE])
    if said["id"] != bundle.id:
        raise UserError(f"{SIGNATURE_FILE}: is for bundle {said['id'][:12]}, not {bundle.id[:12]}; sign this one.")
    name = next((n for n, raw in trusted.items() if base64.b64encode(raw).decode() == said["key"]), None)
    if name is None:
        raise UserError(
            f"Bundle {bundle.id[:12]} is signed with key {said['name']!r}, which this robot does not trust "
            f"(it trusts {', '.join(trusted)}); sign it with a trusted key, or run `robomarl key trust`."
        )
    _verify(bundle.id, said["signature"], trusted[name])
    return name


def checked_name(name: str) -> str:
    """The name of a key.

    Raises:
        UserError: it can't be a file's name.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"Key name {name!r} must be letters, digits, '.', '_' and '-', at most 64.")
    return name


def _parsed(content: bytes) -> dict[str, str]:
    try:
        data: Any = json.loads(content)
    except (ValueError, RecursionError):
        data = None
    keys = ("id", "key", "name", "signature")
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in keys):
        raise UserError(f"{SIGNATURE_FILE}: is no signature; sign the bundle again.")
    return data


def _verify(bundle_id: str, signature: str, raw: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(
            base64.b64decode(signature, validate=True), _PURPOSE + bundle_id.encode()
        )
    except (InvalidSignature, ValueError):
        raise UserError(f"{SIGNATURE_FILE}: bundle {bundle_id[:12]} has a wrong signature; sign it again.") from None
