"""Requests of an operator to a robot. This half runs on the robot, with the robot's own interpreter.

`OperatorSession` serves one operator: it holds the robot's lock and the way back while the operator
is connected. An operator that goes away between the switch and its confirmation leaves the robot as
it was before.

    python -m robomarl.fleet.requests FOLDER     speaks with `robomarl.fleet.pipe` on its standard streams
"""

import base64
import platform
import secrets
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path

from robomarl import __version__
from robomarl.core.config import UserError, build
from robomarl.core.filter.kernel import usable
from robomarl.fleet.checks.isolated_check import prepare_verify
from robomarl.fleet.disk import written
from robomarl.fleet.evidence.journal import LEFT, SWITCHES
from robomarl.fleet.evidence.operator_proof import SignedStatement, proven_by
from robomarl.fleet.health.judge import await_health
from robomarl.fleet.health.node_status import BusyError, NodeStatus, read_status
from robomarl.fleet.serve import Facts, serve
from robomarl.fleet.store import InstalledBundles, Store
from robomarl.fleet.trust import asked
from robomarl.fleet.trust.policy import offer_of
from robomarl.fleet.trust.profile import PROFILE_FILE, RobotProfile, read_profile, write_profile

PROTOCOL = 3
"""Version of the protocol; both halves must have an equal one."""
VERIFY = "verify"
MAX_ACTION, MAX_RESULT = 40, 1000
"""Longest texts [characters] that an operator writes into a journal, which keeps a mebibyte."""


class OperatorSession:
    """One operator's hold on one robot."""

    def __init__(self, store: Store) -> None:
        """Nothing is touched before the operator asks."""
        self.store = store
        self._who, self._key, self._nonce = "somebody", "", secrets.token_hex(16)
        self._lock = ExitStack()
        self._is_locked = False
        self._sound: set[str] = set()
        self.trust_change: tuple[str, str] = ("", "")

    def handle(self, op: str, args: Facts, payload: bytes = b"") -> Facts:
        """Carry out a request; the answer is plain JSON.

        Raises:
            UserError: it can't be done, or is no request.
        """
        if op not in OPS:
            raise UserError(f"{self.store.root}: no request is called {op!r}; update robomarl on the robot.")
        try:
            return OPS[op](self, **args, **({"payload": payload} if op == "add" else {})) or {}
        except TypeError as error:
            raise UserError(f"{self.store.root}: bad request {op!r} ({error}); update robomarl on the robot.") from None

    def close(self) -> None:
        """The operator is gone: go back if the switch was not confirmed, and let go of the robot."""
        try:
            if self._is_locked:
                asked.undo_trust(self, LEFT)
        finally:
            self._end()

    def _end(self) -> None:
        try:
            self.undo(LEFT)
        finally:
            self._lock.close()
            self._is_locked, self._sound = False, set()

    def hello(self, who: str) -> Facts:
        """Return facts about the robot, for preflight."""
        self._who = str(who)[:200]
        profile, wrong = self._profile()
        near = next(p for p in (self.store.root.absolute(), *self.store.root.absolute().parents) if p.exists())
        return {
            "protocol": PROTOCOL,
            "robomarl": __version__,
            "python": platform.python_version(),
            "onnxruntime": _onnxruntime(),
            "machine": platform.machine(),
            "free_bytes": shutil.disk_usage(near).free,
            "vehicle": profile.vehicle,
            "damage": wrong,
            "holder": self.store.holder(),
            "time_s": time.time(),
            "nonce": self._nonce,
        }

    def prove(self, robot: str, key: str, signature: str) -> Facts:
        """Record the operator's key; a key that this robot does not trust proves nothing."""
        profile, wrong = self._profile()
        if profile.name and robot != profile.name:
            raise UserError(f"{self.store.root}: this is {profile.name}, not {robot}; mend the fleet file.")
        words = SignedStatement(self._nonce, robot, self._who)
        known = proven_by(words, key, signature, self.store.trust().keys)
        self._key, self._nonce = "" if wrong else known, secrets.token_hex(16)
        return {"key": self._key}

    def state(self) -> Facts:
        """Return the current bundle, its age and last check, the lock holder, and the backend of the filter."""
        if not self._is_locked:
            self.store.settle()
        state = self.store.state()
        checks = [e for e in self.store.journal.read() if (e.after, e.result) == (state.current, "ok")]
        checks = [e for e in checks if e.action in (*SWITCHES, VERIFY)]
        return {
            "current": state.current,
            "previous": state.previous,
            "pending": state.pending is not None,
            "undone": self.store.journal.undone(state.current),
            "ids": self.store.ids(),
            "age_s": None if (since := self.store.since_s()) is None else max(0.0, time.time() - since),
            "verified": checks[-1].time if checks else "",
            "holder": self.store.holder(),
            "filter": "c" if usable() else "numpy",
        }

    def lock(self) -> None:
        """Hold the robot until the operator is gone."""
        if not self._is_locked:
            self._lock.enter_context(self.store.lock(self._who))
            self._is_locked = True
            with written(self.store.root):
                self.store.settle_locked()

    def add(self, id: str, files: list[tuple[str, int]], payload: bytes) -> None:  # noqa: A002
        """Put a bundle in: names and sizes in order, their bytes behind each other."""
        self.need_lock()
        prepare_verify()
        content, start = {}, 0
        for name, size in files:
            content[str(name)] = payload[start : start + int(size)]
            start += int(size)
        if start != len(payload) or len(content) != len(files):
            raise UserError(f"{self.store.root}: the bundle came with other sizes than announced; flash it again.")
        self.store.add(id, content)

    def check(self, id: str, timed: bool = False, allow_rollback: bool = False) -> Facts:  # noqa: A002
        """Hashes, signature, golden sequences and latency, here."""
        verdict = self.store.check(id, timed)
        if verdict.ok:
            self.store.admit(offer_of(self.store.load(id)), allow_rollback)
        if verdict.ok and (mine := read_profile(self.store.root).vehicle):
            theirs = self.store.load(id).contract.vehicle.name
            if mine != theirs:
                reason = f"{self.store.root}: bundle {id[:12]} is for {theirs}, this robot is a {mine}; flash another."
                verdict = replace(verdict, ok=False, problems=(reason,))
        self._sound = self._sound | {id} if verdict.ok else self._sound - {id}
        return asdict(verdict)

    def switch(self, action: str, current: str, previous: str | None) -> None:
        """Make a bundle current that was checked just now; see `confirm` and `undo`."""
        self.need_lock()
        before, after = self.store.state(), InstalledBundles(current, previous)
        if current not in self._sound:
            raise UserError(f"{self.store.root}: bundle {current[:12]} was not checked; nothing was switched.")
        with written(self.store.root):
            self._note(action, before, after, "begun")
            self.store.begin(after)
            self._note(action, before, after, "ok")

    def health(self) -> Facts:
        """Return the health of the robot on its current bundle, reported by its node or by a check in its place."""
        self.need_lock()
        state = self.store.state()
        if state.current is None:
            raise UserError(f"{self.store.root}: has no bundle; flash one.")
        folder, switched = self.store.folder(state.current), state.pending is not None
        return asdict(await_health(self.store.root, folder, state.current, switched))

    def node(self) -> Facts:
        """Return the status of the robot's policy node; empty if none runs."""
        try:
            status = read_status(self.store.root)
        except BusyError:
            return asdict(NodeStatus(state="BUSY"))
        return asdict(status) if status else {}

    def confirm(self) -> None:
        """All robots have switched: this one stays."""
        self.need_lock()
        self.store.pointer.confirm()
        with suppress(UserError):  # a full disk keeps nobody from staying; `current` says the counter too
            self.store.remember_counter()

    def undo(self, reason: str = "another robot failed") -> None:
        """Go back to the bundle before `switch`, unless it was confirmed."""
        if not self._is_locked or (before := (now := self.store.state()).pending) is None:
            return
        self.store.pointer.undo()
        with suppress(OSError):  # going back needs no room on the disk, telling of it does
            self._note("undo", now, before, f"ok: {reason}")

    def note(self, action: str, after: str | None, result: str) -> None:
        """Write the result into the journal, if nothing was switched.

        Only this robot records that a bundle is well: after a check of its own, for this operator.
        """
        if result == "ok" and (action != VERIFY or after not in self._sound):
            raise UserError(f"{self.store.root}: {action[:40]!r} is not ok because an operator says so; verify it.")
        self.tell(action[:MAX_ACTION], after, result[:MAX_RESULT])

    def tell(self, action: str, after: str | None, result: str) -> None:
        """Write an entry of the robot itself into the journal: its content does not come from an operator."""
        if self.store.root.is_dir():
            with written(self.store.root):
                self._note(action, self.store.state(), InstalledBundles(after), result)

    def prune(self) -> Facts:
        """Remove every bundle that is neither current nor previous."""
        self.need_lock()
        gone, now = self.store.prune(), self.store.state()
        self.tell("prune", now.current, f"ok: {len(gone)} removed")
        return {"gone": gone}

    def log(self, count: int = 20) -> Facts:
        """The journal's last lines."""
        return {"entries": [asdict(entry) for entry in self.store.journal.read(count)]}

    def profile(self, **about: object) -> None:
        """Write the profile of this robot."""
        self.need_lock()
        write_profile(self.store.root, build(RobotProfile, about, PROFILE_FILE))
        self.tell("setup", self.store.state().current, "ok")

    def collect(self) -> Facts:
        """Return the whole journal, byte by byte."""
        files = (self.store.journal.old, self.store.journal.file)
        old, now = (file.read_bytes() if file.exists() else b"" for file in files)
        return {"old": base64.b64encode(old).decode(), "now": base64.b64encode(now).decode()}

    def ping(self) -> None:
        """The operator is still there."""

    def need_lock(self) -> None:
        """Raise `UserError` where the operator does not hold the robot."""
        if not self._is_locked:
            raise UserError(f"{self.store.root}: not locked; ask for the lock first.")

    def _note(self, action: str, before: InstalledBundles, after: InstalledBundles, result: str) -> None:
        self.store.journal.write(self._who, action, (before.current, after.current), result, self._key)

    def _profile(self) -> tuple[RobotProfile, str]:
        """Return the robot's profile, and the error in its file, which a new setup fixes."""
        try:
            return read_profile(self.store.root), ""
        except UserError as error:
            return RobotProfile(), str(error)


OPS: dict[str, Callable[..., Facts | None]] = asked.OPS | {
    name: getattr(OperatorSession, name)
    for name in (
        *("hello", "state", "lock", "add", "check", "switch", "health", "confirm", "undo", "note", "prune", "log"),
        *("profile", "ping", "node", "prove", "collect"),
    )
}
"""Requests by name."""


def _onnxruntime() -> str:
    """Its version; empty where it can't be imported."""
    try:
        import onnxruntime
    except ImportError:
        return ""
    return onnxruntime.__version__


if __name__ == "__main__":
    # `python -m` names this file __main__; the session must be the class that other modules import.
    from robomarl.fleet.requests import OperatorSession as Session

    session = Session(Store(Path(sys.argv[1]).expanduser()))
    sys.exit(serve(session.handle, session.close))
