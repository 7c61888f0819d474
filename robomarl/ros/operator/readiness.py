"""`Readiness`: what keeps each robot of a fleet that stays up from flying, and the command that comes next."""

from collections.abc import Callable, Iterable

from rclpy.node import Node

from robomarl.fleet.waiting import Waiting
from robomarl.ros import status_messages, topics
from robomarl.ros.intake.mailbox import Mailbox
from robomarl.ros.robot.health import DiagnosticEntry
from robomarl.ros.robot.state_machine import State

BEFORE_READY = State.STANDBY.name
POLICY_NODE = "policy_node"
INPUT = "input "
"""Beginning of the keys under which a node's diagnostics name an input that lacks."""


class MissingInputs:
    """Inputs that robots in STANDBY lack, by their latest reports. No ROS here."""

    def __init__(self, team: tuple[str, ...]) -> None:
        """Start without a report of any of these robots."""
        self._lacks: dict[str, dict[str, str]] = {name: {"its first report": ""} for name in team}

    def hear(self, entries: Iterable[DiagnosticEntry]) -> None:
        """Keep the missing inputs of robots in STANDBY; a robot in another state waits for nothing.

        Only a policy node's report counts: the adapter of the same robot reports a state of its own, such as WAITING.
        """
        for entry in entries:
            *_, name, node = ("", *entry.name.split("/"))
            if node == POLICY_NODE and name in self._lacks and "state" in entry.values:
                waits = entry.values["state"] == BEFORE_READY
                self._lacks[name] = lacking(entry.values) if waits else {}

    def text(self) -> str:
        """Each input with the robots that lack it; "" if all robots are READY or beyond.

        A teammate that sends nothing is a consequence as long as any robot lacks another input.
        """
        by_input: dict[str, list[str]] = {}
        for name, lacks in self._lacks.items():
            for source, why in lacks.items():
                by_input.setdefault(f"{source} ({why})" if why else source, []).append(name)
        causes = {text: names for text, names in by_input.items() if text.partition(" ")[0] not in self._lacks}
        rows, count = (causes or by_input).items(), len(self._lacks)
        return "; ".join(f"{text} of {'all robots' if len(n) == count else ', '.join(n)}" for text, n in rows)


class Readiness:
    """What keeps the robots of a fleet from READY, told to the operator."""

    def __init__(self, node: Node, team: tuple[str, ...], tell: Callable[[str], None]) -> None:
        """Subscribe; a team without policy nodes here waits for nothing.

        Args:
            node: node of the operator; its executor fills the mailbox.
            team: names of the robots with a policy node here.
            tell: takes a line, at most one each 3 s and later one a minute.
        """
        diagnostics, depth = topics.DIAGNOSTICS, 20 + 4 * len(team)
        self._reports = Mailbox(node, diagnostics, diagnostics.name, status_messages.diagnostics_to, depth=depth)
        self._missing, self._tell, self._was_ready = MissingInputs(team), tell, not team
        self._waiting = Waiting(self._missing.text, tell=tell)

    def look(self, then: str) -> None:
        """Take the reports, and tell what is waited for if a line is due; once all robots are READY, tell `then`."""
        for entries, _ in self._reports.take():
            self._missing.hear(entries)
        is_ready = not self._missing.text()
        if is_ready and not self._was_ready:
            self._tell(then)
        if self._was_ready and not is_ready:
            self._waiting = Waiting(self._missing.text, tell=self._tell)
        self._was_ready = is_ready
        self._waiting.look()


def lacking(values: dict[str, str]) -> dict[str, str]:
    """Return the inputs that a node reports as missing, with the reason."""
    found = {key.removeprefix(INPUT): why for key, why in values.items() if key.startswith(INPUT)}
    return found or {"READY": ""}


def next_steps(fleet: str, domain: str, autostart: bool) -> tuple[str, str]:
    """Return the lines for a fleet whose nodes are up, and for one whose robots are all READY.

    Args:
        fleet: name or file of the fleet, as it was given.
        domain: ROS domain of the nodes.
        autostart: robots start by themselves.
    """
    where = f"ROS_DOMAIN_ID={domain} robomarl"
    first = f"next, in another terminal: `{where} fleet check {fleet}`, then `{where} operate {fleet}`."
    if autostart:
        return first, "all robots are READY, and start by themselves (--autostart)."
    return first, f"all robots are READY; next: arm and activate them with `{where} operate {fleet}`."
