"""`RobotWatch`: one robot, from its announcements, ticks and diagnostics, as a `TeamMember`. No ROS here."""

import math
import re
from collections.abc import Iterable, Mapping

from robomarl.ros.desk.member import TeamMember
from robomarl.ros.robot.health import ERROR, OK, WARN, DiagnosticEntry
from robomarl.ros.robot.inbox import OWN
from robomarl.ros.robot.state_machine import State
from robomarl.ros.robot.team_agreement import Announcement

SILENT_S = 1.5
"""Time [s] without an announcement after which a robot is silent; announcements come twice a second."""
LATE_S = 3.0
"""Time [s] after which a diagnostic entry no longer counts; entries come once a second."""
POLICY_NODE = "policy_node"
WELL = ("ok", "inactive", "landed", "silent")
"""Reasons of ticks that say no more than the state, as a policy node writes them."""


class RobotWatch:
    """Memory of the newest messages of one robot."""

    def __init__(self, name: str, teammates: tuple[str, ...]) -> None:
        """Start without a message."""
        self.name, self._teammates = name, teammates
        self.said: Announcement | None = None
        self._said_s = -math.inf
        self._tick: Mapping[str, float] = {}
        self._counts = (0.0, 0.0)
        self._lost = math.nan
        self._entries: dict[str, tuple[DiagnosticEntry, float]] = {}

    def announce(self, said: Announcement, steady_s: float) -> None:
        """Take an announcement."""
        self.said, self._said_s = said, steady_s

    def tick(self, row: Mapping[str, float]) -> None:
        """Take the newest row of the `tick` topic."""
        counts = [sum(row.get(f"{name}.{part}", 0.0) for name in self._teammates) for part in ("received", "lost")]
        received, lost = counts[0] - self._counts[0], counts[1] - self._counts[1]
        if received + lost > 0:
            self._lost = lost / (received + lost)
        self._counts, self._tick = (counts[0], counts[1]), row

    def diagnose(self, entry: DiagnosticEntry, steady_s: float) -> None:
        """Take a diagnostic entry of the robot's policy node or adapter."""
        self._entries[entry.name] = entry, steady_s

    def is_silent(self, steady_s: float) -> bool:
        """True if no announcement has been received lately."""
        return steady_s - self._said_s > SILENT_S

    def problems(self, steady_s: float) -> Iterable[DiagnosticEntry]:
        """Return the entries with a problem now, errors first."""
        fresh = [entry for entry, at_s in self._entries.values() if steady_s - at_s < LATE_S and entry.level > OK]
        return sorted(fresh, key=lambda entry: -entry.level)

    def member(self, steady_s: float, bundle: str) -> TeamMember:
        """Return the robot now; `bundle` is the id of the team's bundle."""
        said = self.said
        silent = self.is_silent(steady_s)
        word = "silent" if silent else said.state.name if said else ""
        problems = list(self.problems(steady_s))
        return TeamMember(
            self.name,
            "robot",
            word,
            ERROR if silent else max([self._state_level(), *(entry.level for entry in problems)]),
            self._cause(silent, problems),
            steady_s - self._said_s,
            input_age_s=self._tick.get(f"{OWN}.source_age_s", math.nan),
            teammates_age_s=max(
                (self._tick.get(f"{n}.source_age_s", math.nan) for n in self._teammates), default=math.nan
            ),
            margin_m=self._tick.get("margin_m", math.nan),
            filtered=bool(self._tick.get("filtered", 0.0)) and bool(self._tick.get("active", 0.0)),
            battery_v=self._value("volts"),
            battery_low=any("battery is low" in entry.message for entry in problems),
            link_age_s=self._value("link_age_s"),
            lost=self._lost,
            bundle=said.bundle_id if said else "",
            bundle_differs=bool(said and bundle and said.bundle_id != bundle),
        )

    def _state_level(self) -> int:
        """Return the level of the announced state: a fallback is a warning, a stop by itself an error."""
        if self.said is None:
            return OK
        state, ordered = self.said.state, self.said.ordered
        if state is State.ESTOP or state is State.STOP and not ordered:
            return ERROR
        return WARN if state is State.STANDBY or state in (State.HOLD, State.LAND) and not ordered else OK

    def _cause(self, silent: bool, problems: list[DiagnosticEntry]) -> str:
        if self.said is None:
            return "no announcement yet: start its policy node"
        if silent:
            return f"was {self.said.state.name}; see its power, its network and its node"
        texts = [self.said.why, *(problem_text(entry) for entry in problems)]
        return "; ".join(dict.fromkeys(filter(None, texts)))

    def _value(self, key: str) -> float:
        for entry, _ in self._entries.values():
            try:
                return float(entry.values[key])
            except (KeyError, ValueError):
                continue
        return math.nan


def problem_text(entry: DiagnosticEntry) -> str:
    """Return what an entry says besides the state, which has its own place."""
    if not entry.name.endswith(POLICY_NODE):
        return f"{entry.name.rpartition('/')[2]}: {entry.message}"
    texts = re.sub(r"^[A-Z]+(?: \([^)]*\))?: ", "", entry.message).split("; ")
    return "; ".join(text for text in texts if text not in WELL)


def same_problem(text: str) -> str:
    """Return a text without its numbers: a problem whose figures change is one problem."""
    return re.sub(r"\d+(\.\d+)?", "#", text)
