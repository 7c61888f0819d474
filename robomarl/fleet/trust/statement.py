"""`Statement`: statement of signers on a bundle, and `signature.json`, the sidecar that holds it with
the signatures.

    {"id": ..., "statement": {"id": ..., "name": ...}, "signatures": [{"key": ..., "signature": ...}]}

The bundle's id covers every file of the bundle but the sidecars. The statement covers `eval.json`,
so that the figures can't be exchanged, and tells which of two bundles is the newer one. Each
signature is over the whole statement.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from typing import TYPE_CHECKING

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.config import Natural, UserError, build
from robomarl.fleet.trust.counter import next_counter
from robomarl.fleet.trust.keys import keys_dir
from robomarl.fleet.trust.strict_file import parsed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as PrivateKey

SIGNATURE_FILE, EVAL_FILE = "signature.json", "eval.json"
MAX_SIGNATURES = 32
_PURPOSE = b"robomarl bundle 2\n"
"""Signed before the statement, so that a signature means nothing else."""


@dataclass(frozen=True)
class Statement:
    """Statement to be signed."""

    id: str
    """Id of the bundle."""
    name: str
    """Name in the bundle's contract."""
    counter: Natural
    """Larger for the newer one of two bundles of a fleet; see `robomarl.fleet.trust.counter`."""
    eval: str = ""
    """Sha256 of `eval.json`; empty where there is none."""
    expires: str = ""
    """Last day, UTC, on which a robot may take the bundle (one that has it keeps it): YYYY-MM-DD; empty for none."""
    fleet: str = ""
    """The only fleet that may take it; empty for any."""

    def __post_init__(self) -> None:
        """Check the day: in the one spelling of which a later one is always the larger text."""
        if self.expires and date.fromisoformat(self.expires).isoformat() != self.expires:
            raise ValueError(f"expires = {self.expires!r} must be written as YYYY-MM-DD.")

    def content(self) -> bytes:
        """The bytes that are signed."""
        return _PURPOSE + json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Signed:
    """A statement, with a signature by each public key."""

    statement: Statement
    signatures: dict[bytes, bytes]

    def to_bytes(self) -> bytes:
        """The content of `signature.json`."""
        rows = [{"key": _text(key), "signature": _text(signature)} for key, signature in self.signatures.items()]
        data = {"id": self.statement.id, "statement": asdict(self.statement), "signatures": rows}
        return (json.dumps(data, indent=1) + "\n").encode()


def statement_of(bundle: Bundle, fleet: str = "", expires: str = "", counter: int = 0) -> Statement:
    """Return a statement on a bundle in its present form.

    Args:
        bundle: with its sidecars.
        fleet: the only one that may take it; "" for any.
        expires: YYYY-MM-DD, the last day on which robots may take it; "" for none.
        counter: 0 for one that is larger than all that this machine gave.

    Raises:
        UserError: `expires` is no day, or the last counter can't be read or kept.
    """
    counter = next_counter(keys_dir(), counter)
    try:
        return Statement(bundle.id, bundle.contract.name, counter, eval_hash(bundle.sidecars), expires, fleet)
    except ValueError:
        raise UserError(f"expires = {expires!r} must be a day, YYYY-MM-DD.") from None


def joined(bundle: Bundle, said: Statement, counter: int = 0) -> Signed:
    """Return the existing signatures of a bundle if their statement is equal, so that one more can be
    added; else none.

    Args:
        bundle: with its sidecars.
        said: statement to be signed now.
        counter: counter that was asked for; 0 takes that of the existing signatures.
    """
    try:
        old = parse(bundle.sidecars[SIGNATURE_FILE])
    except (KeyError, UserError):
        return Signed(said, {})
    same = said if counter else replace(said, counter=old.statement.counter)
    return old if old.statement == same else Signed(said, {})


def sign(signed: Signed, key: "PrivateKey") -> Signed:
    """Add an `Ed25519PrivateKey`'s signature."""
    raw = key.public_key().public_bytes_raw()
    return Signed(signed.statement, signed.signatures | {raw: key.sign(signed.statement.content())})


def parse(content: bytes) -> Signed:
    """Read the content of `signature.json`; nothing in it is believed yet.

    Raises:
        UserError: it is none.
    """
    try:
        data = _exactly(parsed(content), ("id", "statement", "signatures"))
        about = _exactly(data["statement"], [f.name for f in fields(Statement)])
        statement = build(Statement, about, SIGNATURE_FILE, "statement")
        rows = data["signatures"]
        if data["id"] != statement.id or not isinstance(rows, list) or len(rows) > MAX_SIGNATURES:
            raise ValueError
        pairs = dict(_signature(row) for row in rows)
        if len(pairs) != len(rows):
            raise ValueError
    except (ValueError, TypeError, UserError):
        raise UserError(f"{SIGNATURE_FILE}: is no signature; sign the bundle again.") from None
    return Signed(statement, pairs)


def is_signed_by(signed: Signed, raw: bytes) -> bool:
    """Return True if a public key's signature is there.

    Raises:
        UserError: there is one, and it is wrong.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if raw not in signed.signatures:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signed.signatures[raw], signed.statement.content())
    except (InvalidSignature, ValueError):
        bundle_id = signed.statement.id[:12]
        raise UserError(f"{SIGNATURE_FILE}: bundle {bundle_id} has a wrong signature; sign it again.") from None
    return True


def eval_hash(sidecars: dict[str, bytes]) -> str:
    """Sha256 of `eval.json`, or nothing."""
    return hashlib.sha256(sidecars[EVAL_FILE]).hexdigest() if EVAL_FILE in sidecars else ""


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _signature(row: object) -> tuple[bytes, bytes]:
    """Public key and signature of one row."""
    found = _exactly(row, ("key", "signature"))
    return _raw(found["key"], 32), _raw(found["signature"], 64)


def _exactly(table: object, names: Sequence[str]) -> dict[str, object]:
    """Return a table; raise `ValueError` if it has other keys: a missing one must not stand for its default."""
    if not isinstance(table, dict) or table.keys() != set(names):
        raise ValueError
    return table


def _raw(text: object, size: int) -> bytes:
    raw = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    if len(raw) != size:
        raise ValueError
    return raw
