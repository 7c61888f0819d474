"""Signers of a bundle that came from elsewhere, compared with the public keys on this machine."""

import base64
from dataclasses import dataclass

from robomarl.core.bundle.bundle import Bundle
from robomarl.core.config import UserError
from robomarl.fleet.trust.keys import fingerprint, keys_dir, read_keys
from robomarl.fleet.trust.policy import Trust, offer_of
from robomarl.fleet.trust.statement import SIGNATURE_FILE, is_signed_by, parse


@dataclass(frozen=True)
class Signers:
    """Keys with a valid signature on a bundle."""

    known: tuple[str, ...] = ()
    """Names of those that lie on this machine."""
    unknown: tuple[str, ...] = ()
    """Fingerprints of the remaining ones."""

    def told(self) -> str:
        """Describe the signers, for people."""
        if not self.known and not self.unknown:
            return "not signed"
        strangers = [f"{text}, which is not a key on this machine" for text in self.unknown]
        return f"signed by {', '.join((*self.known, *strangers))}"


def signers_of(bundle: Bundle, wanted: tuple[str, ...] = ()) -> Signers:
    """Check the signatures of a bundle.

    Args:
        bundle: with its sidecars.
        wanted: names of keys on this machine that must all have signed it.

    Raises:
        UserError: a signature is wrong or of another bundle, a wanted key is not here, or has not signed.
    """
    keys = read_keys(keys_dir())
    for name in wanted:
        if name not in keys:
            here = ", ".join(keys) or "none"
            raise UserError(
                f"--signed-by {name}: {keys_dir()} has no {name}.pub (it has: {here}); copy that file there."
            )
    if SIGNATURE_FILE not in bundle.sidecars:
        if wanted:
            raise UserError(
                f"Bundle {bundle.id[:12]} is not signed, but --signed-by {wanted[0]}; ask its sender to sign it."
            )
        return Signers()
    signed = parse(bundle.sidecars[SIGNATURE_FILE])
    # One trust for each signer, so that each signature is checked with the statement of this bundle.
    for raw in signed.signatures:
        text = base64.b64encode(raw).decode()
        Trust(True, {"signer": text}, fleet=signed.statement.fleet).check(offer_of(bundle))
    for name in wanted:
        if not is_signed_by(signed, keys[name]):
            by = ", ".join(fingerprint(raw) for raw in signed.signatures)
            raise UserError(f"Bundle {bundle.id[:12]} is signed by {by}, not by {name}; ask its sender to sign it.")
    known = tuple(name for name, raw in keys.items() if raw in signed.signatures)
    here = {keys[name] for name in known}
    return Signers(known, tuple(fingerprint(raw) for raw in signed.signatures if raw not in here))
