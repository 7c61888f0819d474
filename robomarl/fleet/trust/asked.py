"""Requests of an operator about trust: further requests of `robomarl.fleet.requests`.

A team changes in two phases: every robot prepares, and only then all commit and confirm. A robot
that has committed goes back if its operator goes away before the confirmation. Every change needs
the robot's lock, and is in the journal with the fingerprint.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from robomarl.core.config import UserError
from robomarl.fleet.serve import Facts
from robomarl.fleet.store import Store
from robomarl.fleet.trust.keys import public_key
from robomarl.fleet.trust.policy import Offer, Trust


class Session(Protocol):
    """Parts of an `OperatorSession` that these requests need."""

    store: Store
    trust_change: tuple[str, str]
    """Action and words of the prepared change, for the journal."""

    def need_lock(self) -> None:
        """Raise `UserError` where the operator does not hold the robot."""
        ...

    def tell(self, action: str, after: str | None, result: str) -> None:
        """Write into the journal."""
        ...


def trust(session: Session, name: str, key: str, fleet: str = "", instead_of: str = "") -> Facts:
    """Accept bundles signed by this key from now on, and no unsigned ones; in the place of another key if asked."""
    return _at_once(session, "trust", {"name": name, "key": key, "fleet": fleet, "instead_of": instead_of})


def revoke(session: Session, name: str) -> Facts:
    """Take nothing from this key any more; a robot that has lost its last key takes nothing at all."""
    return _at_once(session, "revoke", {"name": name})


def threshold(session: Session, count: int) -> Facts:
    """Require signatures by `count` of the trusted keys."""
    return _at_once(session, "threshold", {"count": count})


def unsigned(session: Session) -> Facts:
    """Accept unsigned bundles again, and forget all keys. Bundles flashed before keep their counter."""
    return _at_once(session, "unsigned", {})


def prepare_trust(session: Session, action: str, about: Facts) -> Facts:
    """Check that a change is possible, and make it ready; nothing changes before `commit_trust`.

    Returns:
        The trust after the change; `already`: this robot has the change, so a team that was interrupted
        can go on.
    """
    session.need_lock()
    if session.store.trust_change.is_open():
        raise UserError(f"{session.store.root}: a change of trust is open already; run the command again.")
    session.store.remember_counter()
    old, already = session.store.trust(), False
    try:
        new, words = _change(action)(old, **about)
    except UserError:
        if not _has_it(old, action, about):
            raise
        new, words, already = old, "", True
    if not (already := already or new == old):
        session.store.trust_change.prepare(new)
        session.trust_change = (action, words)
    return {**_told(new), "already": already}


def commit_trust(session: Session) -> Facts:
    """Make the prepared change, if any, until it is confirmed; `refused`: the reason why the current bundle is
    rejected.
    """
    session.need_lock()
    if session.trust_change[0]:
        session.store.trust_change.commit()
    wrong = ""
    if now := session.store.state().current:
        try:
            session.store.load(now)
        except UserError as error:
            wrong = str(error)
    return {**trusted(session), "refused": wrong}


def confirm_trust(session: Session) -> None:
    """Stay with the change."""
    session.need_lock()
    action, words = session.trust_change
    session.trust_change = ("", "")
    if action:
        session.store.trust_change.confirm()
        session.tell(action, session.store.state().current, f"ok: {words}".removesuffix(": "))


def undo_trust(session: Session, reason: str) -> None:
    """Go back to the trust before, unless the change was confirmed; does nothing if no change was prepared."""
    session.need_lock()
    action, words = session.trust_change
    session.trust_change = ("", "")
    if session.store.trust_change.undo():
        session.tell(f"undo {action}", session.store.state().current, f"{reason}: {words}")


def _at_once(session: Session, action: str, about: Facts) -> Facts:
    """The change of one robot alone."""
    session.need_lock()
    _change(action)(session.store.trust(), **about)  # that it has the change already is an error here
    prepare_trust(session, action, about)
    facts = commit_trust(session)
    confirm_trust(session)
    return facts


def _trusting(old: Trust, name: str, key: str, fleet: str = "", instead_of: str = "") -> tuple[Trust, str]:
    new = replace(old.with_key(name, key, instead_of), fleet=fleet or old.fleet)
    gone = f", instead of {instead_of} {old.fingerprints()[instead_of]}" if instead_of else ""
    return new, f"{name} {new.fingerprints()[name]}{gone}"


def _revoking(old: Trust, name: str) -> tuple[Trust, str]:
    return old.without_key(name), f"{name} {old.fingerprints()[name]}"


def _wanting(old: Trust, count: int) -> tuple[Trust, str]:
    if type(count) is not int or not 1 <= count <= len(old.keys):
        raise UserError(f"{count} of {len(old.keys)} trusted keys can't be asked for; trust more keys first.")
    return replace(old, threshold=count), str(count)


def _opening(old: Trust) -> tuple[Trust, str]:
    return replace(old, signed=False, keys={}, threshold=1), ""


CHANGES: dict[str, Callable[..., tuple[Trust, str]]] = {
    "trust": _trusting,
    "revoke": _revoking,
    "threshold": _wanting,
    "unsigned": _opening,
}
"""Changes by action: the trust afterwards, and words for the journal."""


def _change(action: str) -> Callable[..., tuple[Trust, str]]:
    if action not in CHANGES:
        raise UserError(f"No change of trust is called {action!r}; update robomarl on the robot.")
    return CHANGES[action]


def _has_it(old: Trust, action: str, about: Facts) -> bool:
    """True if a robot refuses a change because it has made it: the key is gone, and its successor is there."""
    if action == "revoke":
        return about["name"] not in old.keys
    if action != "trust" or about["instead_of"] in old.keys or about["name"] not in old.keys:
        return False
    return public_key(old.keys[about["name"]], about["name"]) == public_key(about["key"], about["name"])


def trusted(session: Session) -> Facts:
    """Return this robot's trust."""
    return _told(session.store.trust())


def _told(found: Trust) -> Facts:
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
    """Check that the robot would accept a bundle that is not here yet: nothing is written.

    Raises:
        UserError: it would not.
    """
    content = {path: text.encode("latin-1") for path, text in sidecars.items()}
    session.store.admit(Offer(id, name, content, schema), allow_rollback)


OPS: dict[str, Callable[..., Facts | None]] = {
    op.__name__: op
    for op in (
        *(trust, revoke, threshold, unsigned, trusted, admits),
        *(prepare_trust, commit_trust, confirm_trust, undo_trust),
    )
}
"""Requests by name."""
