"""Proof that an operator has a key that the robot trusts; the journal then holds the key's
fingerprint.

The operator signs (ed25519) a number that the robot made for this connection, with the robot's
name: the signature can't be used a second time, or on another robot.
"""

import base64
import json
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from robomarl.core.config import UserError
from robomarl.fleet.trust.keys import fingerprint, public_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as PrivateKey

_PURPOSE = b"robomarl operator 1\n"
"""Signed before the rest, so that a signature means nothing else."""


@dataclass(frozen=True)
class SignedStatement:
    """Statement that the operator signs."""

    nonce: str
    """The robot's number."""
    robot: str
    """Its name."""
    who: str
    """user@host of the operator."""

    def content(self) -> bytes:
        """The bytes."""
        return _PURPOSE + json.dumps(astuple(self)).encode()


def proof(words: SignedStatement, key: "PrivateKey") -> dict[str, str]:
    """Sign with an `Ed25519PrivateKey`; public key and signature in base64."""
    raw = key.public_key().public_bytes_raw()
    signature = key.sign(words.content())
    return {"key": base64.b64encode(raw).decode(), "signature": base64.b64encode(signature).decode()}


def proven_by(words: SignedStatement, key: str, signature: str, trusted: dict[str, str]) -> str:
    """Fingerprint of the key that signed; empty where the robot does not trust it.

    Raises:
        UserError: it did not sign these words.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    raw = public_key(key, "the operator's key")
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(base64.b64decode(signature, validate=True), words.content())
    except (InvalidSignature, ValueError):
        raise UserError("The operator's signature is wrong; look whose key it is.") from None
    known = {public_key(text, name) for name, text in trusted.items()}
    return fingerprint(raw) if raw in known else ""
