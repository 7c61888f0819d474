"""`Robot`: one robot as the operator sees it, with the requests of `robomarl.fleet.requests` as methods."""

import getpass
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING

from robomarl.core.bundle.bundle import Bundle, written_version
from robomarl.core.config import UserError
from robomarl.core.hardware.fleet import Fleet
from robomarl.fleet.evidence.operator_proof import SignedStatement, proof
from robomarl.fleet.pointer import ID, InstalledBundles
from robomarl.fleet.requests import PROTOCOL
from robomarl.fleet.serve import Facts
from robomarl.fleet.transport import Transport, connect
from robomarl.fleet.trust.keys import keys_dir, own_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as PrivateKey

CHECK_S = 60.0
"""Longest that a robot may take to check a bundle, or its node to come up with it."""
CONFIRM_S = 30.0
"""And to answer that it stays with a bundle."""


_TEXT, _NUMBER, _ID, _LIST = (str,), (int, float), (str, type(None)), (list, tuple)
_SHAPES: dict[str, dict[str, tuple[type, ...]]] = {
    "hello": {
        **dict.fromkeys(("python", "onnxruntime", "vehicle", "holder", "robomarl"), _TEXT),
        **dict.fromkeys(("free_bytes", "time_s"), _NUMBER),
    },
    "state": {
        **{"current": _ID, "previous": _ID, "pending": (bool,), "ids": _LIST, "verified": _TEXT, "holder": _TEXT},
        "age_s": (*_NUMBER, type(None)),
    },
    "check": {
        **{"ok": (bool,), "problems": _LIST},
        **dict.fromkeys(("step_p50_us", "step_p99_us"), (*_NUMBER, type(None))),
    },
    "health": {"healthy": (bool,), "by": _TEXT, "reason": _TEXT},
    "collect": {"old": _TEXT, "now": _TEXT},
    "prune": {"gone": _LIST},
    "log": {"entries": _LIST},
    "trusted": {
        **{"signed": (bool,), "names": _LIST, "fingerprints": (dict,)},
        **dict.fromkeys(("threshold", "counter"), (int,)),
    },
}
"""Required fields of the answers, by request."""
_LINE = {"key": _TEXT, "time": _TEXT, "who": _TEXT, "action": _TEXT, "before": _ID, "after": _ID, "result": _TEXT}
"""Required fields of a journal entry."""


class Robot:
    """One robot. Every method raises `UserError` with one sentence where the robot can't, or is gone."""

    def __init__(self, name: str, transport: Transport, vehicle: str = "", place: str = "") -> None:
        """Store the arguments; nothing is asked yet.

        Args:
            name: as in the fleet file.
            transport: transport to the robot.
            vehicle: type of vehicle in the fleet file.
            place: host or folder, for people.
        """
        self.name = name
        self.vehicle = vehicle
        self.place = place
        self._transport = transport

    def call(self, op: str, payload: bytes = b"", within_s: float = 30.0, **args: object) -> Facts:
        """Send one request; see `robomarl.fleet.requests.OPS`. The answer is checked for its required fields."""
        answer = self._transport.call(op, args, payload, within_s)
        rows = [(answer, _SHAPES.get(op, {}))]
        if op == "log" and isinstance(answer.get("entries"), _LIST):
            rows += [(entry, _LINE) for entry in answer["entries"]]
        texts = [text for key in ("ids", "problems", "gone", "names") for text in _listed(answer.get(key))]
        if not all(_has(row, shape) for row, shape in rows) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{self.name}: its answer can't be understood; run `robomarl fleet setup` again.")
        return answer

    def hello(self) -> Facts:
        """Return facts about the robot, with `clock_error_s`: the least error of its clock, the way there deducted."""
        self.call("ping")  # connects: that must not count as time on the way
        asked = time.time()
        facts = self.call("hello", who=operator())
        answered = time.time()
        if facts.get("protocol") != PROTOCOL:
            raise UserError(
                f"{self.name}: has robomarl {facts.get('robomarl')} with another protocol; run `robomarl fleet setup`."
            )
        if (key := own_key(keys_dir())) is not None:
            self._prove(str(facts.get("nonce")), key)
        late = max(asked - facts["time_s"], facts["time_s"] - answered, 0.0)
        return {**facts, "clock_error_s": late}

    def _prove(self, nonce: str, key: "PrivateKey") -> None:
        """Prove that we have a key; the journal then has our actions under its fingerprint, if the robot trusts it."""
        signed = proof(SignedStatement(nonce, self.name, operator()), key)
        self.call("prove", robot=self.name, key=signed["key"], signature=signed["signature"])

    def state(self) -> InstalledBundles:
        """Return the current and the previous bundle."""
        answer = self.call("state")
        for bundle_id in (answer["current"], answer["previous"]):
            if bundle_id is not None and not ID.fullmatch(bundle_id):
                raise UserError(
                    f"{self.name}: says that it has {bundle_id[:80]!r}, which is no bundle; flash it again."
                )
        return InstalledBundles(answer["current"], answer["previous"])

    def lock(self) -> None:
        """Hold the robot until `close`."""
        self.call("lock")

    def add(self, bundle: Bundle) -> None:
        """Put a bundle there, whole and checked or not at all."""
        files = {**bundle.files, **bundle.sidecars}
        sizes = [[name, len(content)] for name, content in files.items()]
        self.call("add", b"".join(files.values()), CHECK_S, id=bundle.id, files=sizes)

    def admits(self, bundle: Bundle, allow_rollback: bool = False) -> None:
        """Ask if the robot would accept a bundle: signed by trusted keys, and no older one."""
        sidecars = {name: content.decode("latin-1") for name, content in bundle.sidecars.items()}
        about = {"id": bundle.id, "name": bundle.contract.name, "sidecars": sidecars, "schema": written_version(bundle)}
        self.call("admits", **about, allow_rollback=allow_rollback)

    def check(self, bundle_id: str, timed: bool = False, allow_rollback: bool = False) -> Facts:
        """A `robomarl.fleet.checks.verdict.Verdict`, made on the robot, as a dict."""
        return self.call("check", within_s=CHECK_S, id=bundle_id, timed=timed, allow_rollback=allow_rollback)

    def switch(self, action: str, state: InstalledBundles) -> None:
        """Switch the current bundle at once; until `confirm` the robot goes back if we go away."""
        self.call("switch", action=action, current=state.current, previous=state.previous)

    def confirm(self) -> None:
        """Confirm the switch: the robot keeps the new bundle when the connection closes."""
        self.call("confirm", within_s=CONFIRM_S)

    def health(self) -> Facts:
        """Return the robot's health on its current bundle, the source of the verdict, and the reason if it is not
        well.
        """
        return self.call("health", within_s=CHECK_S)

    def undo(self, reason: str) -> None:
        """Go back to the bundle before `switch`."""
        self.call("undo", reason=reason)

    def note(self, action: str, after: str | None, result: str) -> None:
        """A line for the robot's journal."""
        self.call("note", action=action, after=after, result=result)

    def close(self) -> None:
        """Let go of the robot."""
        self._transport.close()


def _has(row: object, shape: dict[str, tuple[type, ...]]) -> bool:
    return isinstance(row, dict) and all(isinstance(row.get(key), kinds) for key, kinds in shape.items())


def _listed(value: object) -> list:
    return list(value) if isinstance(value, _LIST) else []


def operator() -> str:
    """user@host, for journals."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{platform.node()}"


def connect_all(fleet: Fleet, root: Path) -> dict[str, Robot]:
    """Every robot of ours by name, in the order of their indices; nothing is connected yet."""
    found = {}
    for vehicle in fleet.vehicles:
        for r in fleet.flown_as(vehicle):
            found[r.name] = Robot(r.name, connect(r, root, fleet.ssh_config), vehicle, r.host or r.folder)
    return {r.name: found[r.name] for r in fleet.own}
