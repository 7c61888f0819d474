"""`Trust`: a robot's rules for signed bundles: if it requires signatures, the trusted keys, and the
number of signers.

It is `trust.json` on the robot. A robot without the file accepts any bundle that is whole. From the
first key on it is *signed*, and stays so until an operator changes this: without keys, with a file
that can't be read or lacks a key, with too few signatures it accepts nothing.
"""

import base64
import json
import os
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from robomarl.core.bundle.bundle import Bundle, written_version
from robomarl.core.config import Count, Natural, UserError
from robomarl.fleet.disk import replace_durably, sync_folder, written
from robomarl.fleet.trust.counter import AHEAD_S
from robomarl.fleet.trust.keys import checked_name, fingerprint, public_key
from robomarl.fleet.trust.statement import SIGNATURE_FILE, Signed, Statement, eval_hash, is_signed_by, parse
from robomarl.fleet.trust.strict_file import complete, read_own

TRUST_FILE, OLD_FOLDER = "trust.json", "trusted"
OLDEST_SCHEMA = 2
"""Oldest schema version of signed bundles: from it on, bundles state their conventions and the actions of training."""
MAX_FLEET = 64
LAST_S = 253402300799
"""The last second of the year 9999, beyond which there are no days."""
MEND = "remove it on the robot and trust its keys anew"


@dataclass(frozen=True)
class Offer:
    """Claimed identity of a bundle, with the sidecars that hold its signatures."""

    id: str
    name: str
    """Name in its contract."""
    sidecars: dict[str, bytes]
    schema: int = 2
    """Version that its `bundle.json` was written in."""


@dataclass(frozen=True)
class Trust:
    """Trust of one robot. Made by `read_trust`."""

    signed: bool = False
    """Takes signed bundles only."""
    keys: dict[str, str] = field(default_factory=dict)
    """Public keys in base64, by name."""
    threshold: Count = 1
    """Number of trusted keys that must have signed a bundle."""
    fleet: str = ""
    """Fleet of the robot; empty if it was not set."""
    counter: Natural = 0
    """The largest counter of a bundle that was current before; see `Statement`."""

    def __post_init__(self) -> None:
        """Check keys, threshold, counter and fleet; raises `ValueError`."""
        for name, text in self.keys.items():
            try:
                public_key(text, f"key {checked_name(name)}")
            except UserError as error:
                raise ValueError(str(error)) from None
        if self.threshold < 1 or self.counter < 0:
            raise ValueError(f"threshold = {self.threshold} must be at least 1, counter = {self.counter} at least 0.")
        if not self.fleet.isprintable() or len(self.fleet) > MAX_FLEET:
            raise ValueError(f"fleet = {self.fleet[:80]!r} must be the name of a fleet, at most {MAX_FLEET} letters.")

    def with_key(self, name: str, text: str, instead_of: str = "") -> "Trust":
        """This trust and a key, in the place of another one if asked.

        Raises:
            UserError: no public key, another one of that name is there, or none to replace.
        """
        raw, kept = public_key(text, f"key {name}"), dict(self.keys)
        if instead_of and kept.pop(instead_of, None) is None:
            raise UserError(self.unknown(instead_of))
        if checked_name(name) in kept and public_key(kept[name], name) != raw:
            old = fingerprint(public_key(kept[name], name))
            raise UserError(f"Another key is trusted as {name!r}, {old}; replace it with --instead-of {name}.")
        if same := [other for other, key in kept.items() if other != name and public_key(key, other) == raw]:
            raise UserError(f"Key {name!r} is trusted already, as {same[0]!r}; one key counts once, name another.")
        return replace(self, signed=True, keys=kept | {name: base64.b64encode(raw).decode()})

    def without_key(self, name: str) -> "Trust":
        """This trust without a key; a robot that has lost its last one takes nothing.

        Raises:
            UserError: no such key.
        """
        if name not in self.keys:
            raise UserError(self.unknown(name))
        return replace(self, keys={n: text for n, text in self.keys.items() if n != name})

    def unknown(self, name: str) -> str:
        """One sentence."""
        return f"This robot does not trust a key {name!r} (it trusts {self.names()}); run `robomarl key list FLEET`."

    def names(self) -> str:
        """Names and fingerprints, for people."""
        return ", ".join(f"{name} {print_}" for name, print_ in self.fingerprints().items()) or "nobody"

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprints by name of the key."""
        return {name: fingerprint(public_key(text, name)) for name, text in sorted(self.keys.items())}

    def check(self, offer: Offer) -> Statement | None:
        """Return the statement of trusted signers on a bundle; None if the robot accepts unsigned ones.

        Raises:
            UserError: unsigned, by too few, of another bundle, of other figures, for another fleet, or of
                an old form.
        """
        if not self.signed:
            return None
        if SIGNATURE_FILE not in offer.sidecars:
            raise UserError(
                f"Bundle {offer.id[:12]} is not signed, and this robot takes signed ones only (it trusts "
                f"{self.names()}); run `robomarl key sign` with a key that it trusts."
            )
        if offer.schema < OLDEST_SCHEMA:
            raise UserError(
                f"Bundle {offer.id[:12]} is of schema_version {offer.schema}, which leaves to its reader what "
                f"{OLDEST_SCHEMA} says; this robot takes signed bundles only, in which all is said: export it anew."
            )
        signed = parse(offer.sidecars[SIGNATURE_FILE])
        self._check_said(signed.statement, offer)
        self._check_signers(signed)
        return signed.statement

    def check_arrival(
        self, statement: Statement, floor: int, allow_rollback: bool = False, had_it: bool = True
    ) -> None:
        """Check the conditions for a bundle that arrives, which do not hold for one that is there.

        Args:
            statement: statement of the bundle.
            floor: counter of the current bundle.
            allow_rollback: it may be an older one.
            had_it: this is the bundle with the largest counter that the robot has had; another one with
                that counter is rejected, because nothing says which is newer.

        Raises:
            UserError: expired, or not newer than the robot's earlier bundles.
        """
        floor, now_s = max(floor, self.counter), datetime.now(UTC).timestamp()
        # A clock that begins with 1970 at every start is behind what the robot has had: that day is over at least.
        today = _day(max(now_s, min(floor, LAST_S) - AHEAD_S))
        if statement.expires and statement.expires < today:
            raise UserError(f"Bundle {statement.id[:12]} was to be taken until {statement.expires}; sign it again.")
        if statement.counter > max(now_s + AHEAD_S, floor):
            raise UserError(
                f"Bundle {statement.id[:12]} has counter {statement.counter}, a second that is yet to come: nothing "
                f"could be newer; set the robot's clock, which says {_day(now_s)}, or sign the bundle again."
            )
        if statement.counter < floor and not allow_rollback:
            raise UserError(
                f"Bundle {statement.id[:12]} has counter {statement.counter}, this robot has had {floor}: it is an "
                "older one; say --allow-rollback if you mean it."
            )
        if statement.counter == floor > 0 and not had_it and not allow_rollback:
            raise UserError(
                f"Bundle {statement.id[:12]} has counter {floor}, and so has another one that this robot has had: it "
                f"may be the older one; sign it with --counter {floor + 1}, or say --allow-rollback if you mean it."
            )

    def _check_said(self, statement: Statement, offer: Offer) -> None:
        if statement.id != offer.id:
            raise UserError(f"{SIGNATURE_FILE}: is for bundle {statement.id[:12]}, not {offer.id[:12]}; sign this one.")
        if statement.name != offer.name:
            raise UserError(f"{SIGNATURE_FILE}: names bundle {statement.name!r}, not {offer.name!r}; sign this one.")
        if statement.eval != eval_hash(offer.sidecars):
            raise UserError(f"{SIGNATURE_FILE}: eval.json is not the one that was signed; sign the bundle again.")
        if statement.fleet and statement.fleet != self.fleet:
            mine = f"this robot is of {self.fleet!r}" if self.fleet else "nobody told this robot its own"
            raise UserError(f"{SIGNATURE_FILE}: is for fleet {statement.fleet!r}, {mine}; sign it for this one.")

    def _check_signers(self, signed: Signed) -> None:
        keys = {public_key(text, name) for name, text in self.keys.items()}
        count = sum(is_signed_by(signed, raw) for raw in keys)
        if count < self.threshold:
            by = ", ".join(fingerprint(raw) for raw in signed.signatures) or "nobody"
            mend = "sign it with `robomarl key sign`"
            if len(keys) < self.threshold:
                mend = "it takes nothing until it trusts as many keys: run `robomarl key trust`, or `key threshold`"
            raise UserError(
                f"Bundle {signed.statement.id[:12]} is signed by {by}: {count} of the keys that this robot trusts "
                f"({self.names()}), and it wants {self.threshold}; {mend}."
            )


def offer_of(bundle: Bundle) -> Offer:
    """Return the parts of a bundle that trust looks at."""
    return Offer(bundle.id, bundle.contract.name, bundle.sidecars, written_version(bundle))


def read_trust(root: Path) -> Trust:
    """Return the trust of the robot with this folder.

    Raises:
        UserError: the file can't be read, or is damaged; that differs from a missing file.
    """
    file = root / TRUST_FILE
    if (content := read_own(file)) is None:
        return _old_trust(root / OLD_FOLDER)
    return parse_trust(content, file)


def parse_trust(content: bytes, file: Path) -> Trust:
    """Return the trust in the content of `trust.json`.

    Args:
        content: content of the file.
        file: its path, for errors.

    Raises:
        UserError: it is damaged, lacks a key, or contradicts itself.
    """
    found: Trust = complete(Trust, content, str(file), MEND)
    if not found.signed and (found.keys or found.threshold > 1):
        raise UserError(f"{file}: contradicts itself (signed is false, and keys are trusted or wanted); {MEND}.")
    return found


def write_trust(root: Path, trust: Trust) -> None:
    """Make it so, durably, by one rename.

    Raises:
        UserError: the folder can't be written.
    """
    with written(root):
        replace_durably(root / TRUST_FILE, content_of(trust), root / f"{TRUST_FILE}.new")
        sync_folder(root.absolute().parent)  # a robot whose whole folder a power cut takes would be open again


def content_of(trust: Trust) -> bytes:
    """The content of `trust.json`."""
    return (json.dumps(asdict(trust), indent=1) + "\n").encode()


def _old_trust(folder: Path) -> Trust:
    """Return the trust of a robot from before `trust.json`: keys in a folder. The folder alone, even empty, makes it
    signed.
    """
    if not _is_there(folder):
        return Trust()
    try:
        files = sorted(Path(entry.path) for entry in os.scandir(folder))
        keys = {f.stem: (read_own(f) or b"").decode().split(" ")[0].strip() for f in files}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{folder}: can't be read ({error}); mend its permissions.") from None
    if any(file.suffix != ".pub" for file in files):
        raise UserError(f"{folder}: holds something else than .pub files; mend it, or trust the keys anew.")
    for name, text in keys.items():
        public_key(text, f"{folder}/{name}.pub")
    return Trust(signed=True, keys=keys)


def _day(time_s: float) -> str:
    """YYYY-MM-DD."""
    return datetime.fromtimestamp(time_s, UTC).date().isoformat()


def _is_there(path: Path) -> bool:
    """Return True if the path exists, even as a link to nowhere; raise `UserError` if it can't be looked at."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise UserError(f"{path}: can't be read ({error.strerror}); mend its permissions.") from None
    return True
