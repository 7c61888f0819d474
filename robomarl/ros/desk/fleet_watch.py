"""`FleetWatch`: a team's messages become a `TeamReport` and rows of the event log. No ROS here."""

import math
from collections import Counter

from robomarl.ros.desk.event_log import EventLog, FieldEvent
from robomarl.ros.desk.member import TeamMember, TeamReport
from robomarl.ros.desk.robot_watch import RobotWatch, problem_text, same_problem
from robomarl.ros.recording.watch import QUIET_S, Told
from robomarl.ros.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros.robot.state_machine import MOVING, Order, State
from robomarl.ros.robot.team_agreement import Announcement

MONITOR, RECORDER = "monitor", "recorder"
ALL = "all"
"""Target of an order to the whole team."""
HEARTBEAT_S = 1.0
"""Time [s] without a heartbeat after which the monitor is silent; it comes ten times a second."""
PRESSED = "E-stop"
"""Tag of everything that follows from an E-stop."""
ORDERED = "order: "
"""Prefix of the tag of an order."""
ENTERS = {State.TAKEOFF: Order.ACTIVATE, State.PICKUP: Order.ACTIVATE, State.BLEND: Order.ACTIVATE}
ENTERS |= {State.ACTIVE: Order.ACTIVATE, State.STANDBY: Order.RESET, State.READY: Order.RESET, State.STOP: Order.LAND}
"""Order that leads to a state that has no reason of its own."""


class FleetWatch:
    """Memory of a team."""

    def __init__(self, team: tuple[str, ...], log: EventLog) -> None:
        """Start without a message."""
        self.robots = {name: RobotWatch(name, tuple(n for n in team if n != name)) for name in team}
        self.log = log
        self._pressed, self._beat_s = False, -math.inf
        self._told, self._told_s = Told(OK, "", {}), -math.inf
        self._entries: dict[str, DiagnosticEntry] = {}
        self._silent: dict[str, bool] = {}
        self._problems: dict[str, str] = {}

    def announced(self, said: Announcement, steady_s: float, at_s: float) -> None:
        """Take an announcement; a change of state is an event."""
        watch = self.robots[said.robot]
        before = watch.said
        watch.announce(said, steady_s)
        if before is None or before.state is said.state:
            return
        why = f": {said.why}" if said.why else ""
        bad = said.state is State.ESTOP or said.state in (State.HOLD, State.LAND, State.STOP) and not said.ordered
        bad = bad and not (said.state is State.STOP and before.state is State.LAND)
        text = f"{before.state.name} → {said.state.name}{why}"
        level = (ERROR if said.state in (State.STOP, State.ESTOP) else WARN) if bad else OK
        tags = frozenset({said.robot}) if bad and said.state is not State.ESTOP else frozenset()
        self.log.add(FieldEvent(at_s, text, said.robot, level, tags, self._reasons(said)))

    def _reasons(self, said: Announcement) -> frozenset[str]:
        """Return the tags of the events that a state may follow from."""
        if said.state is State.ESTOP:
            return frozenset({PRESSED, ORDERED + Order.ESTOP})
        if said.why and said.ordered:
            return frozenset({ORDERED + said.why.partition(" ")[0]})
        if said.why:
            named = {name for name in self.robots if name in said.why.replace(",", " ").split() and name != said.robot}
            return frozenset(named | ({MONITOR} if "heartbeat" in said.why else set()) | {f"problem of {said.robot}"})
        return frozenset({ORDERED + ENTERS[said.state]}) if said.state in ENTERS else frozenset()

    def beat(self, pressed: bool, steady_s: float, at_s: float) -> None:
        """Take a message of the E-stop topic."""
        if pressed != self._pressed:
            text = "the E-stop is pressed" if pressed else "the E-stop is released"
            reasons = frozenset({ORDERED + (Order.ESTOP if pressed else Order.RESET)})
            tags = frozenset({PRESSED} if pressed else {ORDERED + Order.RESET})
            self.log.add(FieldEvent(at_s, text, "", ERROR if pressed else OK, tags, reasons))
        self._pressed, self._beat_s = pressed, steady_s

    def recorded(self, told: Told, steady_s: float, at_s: float) -> None:
        """Take a recorder's report; a change of its words is an event."""
        if told.level > OK and same_problem(told.text) != same_problem(self._told.text):
            self.log.add(FieldEvent(at_s, told.text, RECORDER, told.level))
        self._told, self._told_s = told, steady_s

    def diagnosed(self, entry: DiagnosticEntry, steady_s: float, at_s: float) -> None:
        """Take an entry of `/diagnostics`; a new problem of a robot is an event."""
        robot = next((part for part in entry.name.split("/") if part in self.robots), "")
        if not robot:
            self._entries[entry.name] = entry
            return
        self.robots[robot].diagnose(entry, steady_s)
        text = problem_text(entry) if entry.level > OK else ""
        before, self._problems[entry.name] = self._problems.get(entry.name, ""), same_problem(text)
        said = self.robots[robot].said
        if text and before != same_problem(text) and not (said and said.why and text in said.why):
            tags, reasons = (
                frozenset({f"problem of {robot}"}),
                frozenset({PRESSED} if said and said.state is State.ESTOP else ()),
            )
            self.log.add(FieldEvent(at_s, text, robot, entry.level, tags, reasons))

    def look(self, steady_s: float, at_s: float) -> None:
        """Note members that have become silent, or that are received again."""
        states = {name: watch.said is not None and watch.is_silent(steady_s) for name, watch in self.robots.items()}
        states[MONITOR] = math.isfinite(self._beat_s) and steady_s - self._beat_s > HEARTBEAT_S
        states[RECORDER] = math.isfinite(self._told_s) and steady_s - self._told_s > QUIET_S
        for name, silent in states.items():
            if silent != self._silent.get(name, False):
                self._silent[name] = silent
                self.log.add(self._silence(name, silent, at_s))

    def _silence(self, name: str, silent: bool, at_s: float) -> FieldEvent:
        if not silent:
            return FieldEvent(at_s, "is received again", name)
        said = self.robots[name].said if name in self.robots else None
        flies = f" while in {said.state.name}" if said and said.state in MOVING else ""
        return FieldEvent(at_s, f"is silent{flies}", name, ERROR, frozenset({name}))

    def report(self, steady_s: float, at_s: float) -> TeamReport:
        """Return the team now."""
        bundles = Counter(watch.said.bundle_id for watch in self.robots.values() if watch.said)
        most = bundles.most_common(1)[0][0] if bundles else ""
        robots = [watch.member(steady_s, most) for watch in self.robots.values()]
        stopped = any(robot.word == State.ESTOP.name for robot in robots)
        heartbeat = steady_s - self._beat_s <= HEARTBEAT_S
        members = (*robots, self._monitor(steady_s, heartbeat), self._recorder(steady_s))
        return TeamReport(members, self._pressed and heartbeat or stopped, heartbeat, at_s)

    def _monitor(self, steady_s: float, heartbeat: bool) -> TeamMember:
        age_s = steady_s - self._beat_s
        if not heartbeat:
            cause = "no E-stop heartbeat: flying robots land; start the monitor, on one machine"
            return TeamMember(MONITOR, MONITOR, "silent", ERROR, cause, age_s)
        others = {RECORDER, *self.robots}  # they have a place of their own
        entries = [
            e for e in self._entries.values() if "monitor" in e.name and e.name.rpartition(": ")[2] not in others
        ]
        bad = [entry for entry in entries if entry.level > OK]
        cause = "; ".join(entry.message for entry in sorted(bad, key=lambda entry: -entry.level))
        word = "E-stop" if self._pressed else "watching"
        return TeamMember(MONITOR, MONITOR, word, ERROR if self._pressed else min(len(bad), WARN), cause, age_s)

    def _recorder(self, steady_s: float) -> TeamMember:
        age_s = steady_s - self._told_s
        if age_s > QUIET_S:
            never = math.isinf(age_s)
            cause = "nothing is recorded; start recorder_node" + ("" if never else ", or see its disk and its log")
            return TeamMember(
                RECORDER, RECORDER, "absent" if never else "silent", WARN if never else ERROR, cause, age_s
            )
        level = self._told.level
        entry = next((e for name, e in self._entries.items() if name.endswith("/recorder")), None)
        note = ""
        if entry is not None and "free_mb" in entry.values:
            note = f"{entry.values['file_mb']} MB written, {entry.values['free_mb']} MB free"
        word = "recording" if level < ERROR else "stopped"
        return TeamMember(RECORDER, RECORDER, word, level, self._told.text if level else "", age_s, note=note)
