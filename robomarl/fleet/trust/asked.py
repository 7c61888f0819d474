"""What an operator may ask of a robot about trust: further requests of `robomarl.fleet.requests`.

Every change is one rename of `trust.json`, needs the robot's lock, and is in the journal with the fingerprint.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from robomarl.config import UserError
from robomarl.fleet.store import Store
from robomarl.fleet.trust.policy import Offer, Trust, write_trust


class Session(Protocol):
    """What these requests need of an `OperatorSession`."""

    store: Store

    def need_lock(self) -> None:
        """Raise `UserError` where the operator does not hold the robot."""
        ...

    def tell(self, action: str, after: str | None, result: str) -> None:
        """Write into the journal."""
        ...


def trust(session: Session, name: str, key: str, fleet: str = "", instead_of: str = "") -> dict[str, Any]:
    """From now on take bundles that this key signed, and no unsigned ones; in the place of another key if asked."""
    session.need_lock()
    old = _trust_before(session)
    new = replace(old.with_key(name, key, instead_of), fleet=fleet or old.fleet)
    gone = f", instead of {instead_of} {old.fingerprints()[instead_of]}" if instead_of else ""
    return _changed(session, new, "trust", f"{name} {new.fingerprints()[name]}{gone}")


def revoke(session: Session, name: str) -> dict[str, Any]:
    """Take nothing from this key any more; a robot that has lost its last key takes nothing at all."""
    session.need_lock()
    old = _trust_before(session)
    return _changed(session, old.without_key(name), "revoke", f"{name} {old.fingerprints()[name]}")


def threshold(session: Session, count: int) -> dict[str, Any]:
    """So many of the trusted keys have to sign."""
    session.need_lock()
    old = _trust_before(session)
    if not 1 <= count <= len(old.keys):
        raise UserError(f"{count} of {len(old.keys)} trusted keys can't be asked for; trust more keys first.")
    return _changed(session, replace(old, threshold=count), "threshold", str(count))


def unsigned(session: Session) -> dict[str, Any]:
    """Take unsigned bundles again, and forget all keys. What was flashed before keeps its counter."""
    session.need_lock()
    return _changed(session, replace(_trust_before(session), signed=False, keys={}, threshold=1), "unsigned", "")


def trusted(session: Session) -> dict[str, Any]:
    """Whom this robot trusts."""
    found = session.store.trust()
    return {
        "signed": found.signed,
        "names": sorted(found.keys),
        "fingerprints": found.fingerprints(),
        "threshold": found.threshold,
        "counter": found.counter,
        "fleet": found.fleet,
    }


def admits(  # noqa: PLR0913
    session: Session,
    id: str,
    name: str,
    sidecars: dict[str, str],
    schema: int,
    allow_rollback: bool = False,  # noqa: A002
) -> None:
    """Whether the robot would take a bundle that is not here yet: nothing is written.

    Raises:
        UserError: it would not.
    """
    content = {path: text.encode("latin-1") for path, text in sidecars.items()}
    session.store.admit(Offer(id, name, content, schema), allow_rollback)


def _trust_before(session: Session) -> Trust:
    """Whom the robot trusts until now, with the counter of what those signed that is current: it stays."""
    session.store.remember_counter()
    return session.store.trust()


def _changed(session: Session, new: Trust, action: str, what: str) -> dict[str, Any]:
    write_trust(session.store.root, new)
    now = session.store.state().current
    session.tell(action, now, f"ok: {what}".removesuffix(": "))
    wrong = ""
    if now:
        try:
            session.store.load(now)
        except UserError as error:
            wrong = str(error)
    return {**trusted(session), "refused": wrong}


OPS: dict[str, Callable[..., dict[str, Any] | None]] = {
    op.__name__: op for op in (trust, revoke, threshold, unsigned, trusted, admits)
}
"""Requests by name."""
