"""`RobotTally`: the summary of the ticks of one robot's recording."""

from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from robomarl.core.filter.filter import Reason
from robomarl.core.types import Figures
from robomarl.field.replay.decisions import Again, Tick
from robomarl.field.replay.ticks import TickColumns
from robomarl.ros.robot.decision import Held
from robomarl.ros.robot.state_machine import MOVING

KEPT_AGES = 1 << 20
"""Number of ticks for which times are kept for percentiles."""

BEYOND = 0.01
"""Share of its range by which an observation may be outside. The range is that of some episodes of
training: an element of an attitude that stopped at 0.9996 there is 1 where the load is level.
"""


@dataclass
class Largest:
    """The largest difference so far, and in which element."""

    value: float = float("nan")
    element: str = ""
    compared: int = 0

    def note(self, difference: np.ndarray | None, names: tuple[str, ...]) -> None:
        """Add one tick's differences [n] of named elements; NaN counts most."""
        if difference is None:
            return
        self.compared += 1
        if self.value >= 0 and not difference.any():
            return
        size = np.where(np.isnan(difference), np.inf, np.abs(difference))
        at = int(size.argmax()) if len(size) else -1
        if at >= 0 and not size[at] <= self.value:
            self.value, self.element = float(size[at]), names[at] if at < len(names) else str(at)


@dataclass
class RobotTally:
    """Summary of one robot's ticks."""

    actions: tuple[str, ...]
    """Names of the command's elements."""
    low: np.ndarray
    """[O] least value of each element of the observation in training."""
    high: np.ndarray
    """[O] likewise the largest."""
    ticks: int = 0
    moving: int = 0
    """Ticks in which a command was sent."""
    whole: int = 0
    """Moving ticks for which the bag has all data that were used."""
    filtered: int = 0
    skipped: int = 0
    policy: Largest = field(default_factory=Largest)
    command: Largest = field(default_factory=Largest)
    observation: Largest = field(default_factory=Largest)
    seen: int = 0
    """Ticks with an observation."""
    outside: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """[O] ticks in which an element was outside its range of training."""
    outside_ticks: int = 0
    elements: tuple[str, ...] = ()
    reasons: Counter = field(default_factory=Counter)
    states: list[tuple[float, str]] = field(default_factory=list)
    """(time, state) of each change."""
    late_us: array = field(default_factory=lambda: array("f"))
    latency_us: array = field(default_factory=lambda: array("f"))
    ages_s: dict[str, array] = field(default_factory=dict)
    received: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)

    def note(self, tick: Tick, again: Again) -> None:
        """One tick."""
        self.ticks += 1
        if not self.states or self.states[-1][1] != tick.state.name:
            self.states.append((tick.at_s, tick.state.name))
        row, head = tick.row, tick.columns.head
        self.skipped = int(tick.row[tick.columns.head["skipped"]])
        if tick.state not in MOVING:
            return
        self.moving += 1
        self.whole += again.whole
        self.filtered += bool(row[head["filtered"]])
        self.reasons[reason_name(tick.reason)] += 1
        self._note_times(row, tick.columns)
        self.policy.note(again.policy, self.actions)
        if again.whole:
            self.command.note(again.command, self.actions)
            self.observation.note(again.observation, tick.columns.seen)
        self._note_seen(row[tick.columns.observation], tick.columns.seen)

    def _note_times(self, row: np.ndarray, columns: TickColumns) -> None:
        for name, at in columns.sources.items():
            if not name.startswith("sensed."):
                self.received[name], self.lost[name] = int(row[at + 2]), int(row[at + 3])
        if len(self.late_us) >= KEPT_AGES:
            return
        self.late_us.append(row[columns.head["late_us"]])
        self.latency_us.append(row[columns.head["latency_us"]])
        for name, at in columns.sources.items():
            self.ages_s.setdefault(name, array("f")).append(row[at])

    def _note_seen(self, seen: np.ndarray, names: tuple[str, ...]) -> None:
        if len(seen) != len(self.low) or not np.isfinite(seen).all():
            return
        if not self.seen:
            self.outside, self.elements = np.zeros(len(seen)), names
        room = BEYOND * (self.high - self.low)
        beyond = (seen < self.low - room) | (seen > self.high + room)
        self.seen += 1
        self.outside += beyond
        self.outside_ticks += bool(beyond.any())

    def figures(self) -> Figures:
        """For JSON; times in seconds and microseconds."""
        return {
            "ticks": self.ticks,
            "ticks_moving": self.moving,
            "ticks_whole": self.whole,
            "ticks_skipped": self.skipped,
            "action_diff_max": self.policy.value,
            "action_diff_element": self.policy.element,
            "actions_compared": self.policy.compared,
            "command_diff_max": self.command.value,
            "commands_compared": self.command.compared,
            "observation_diff_max": self.observation.value,
            "observation_diff_element": self.observation.element,
            "observations_compared": self.observation.compared,
            "out_of_range_share": self.outside_ticks / self.seen if self.seen else float("nan"),
            "out_of_range": self.out_of_range(),
            "filtered_share": self.filtered / self.moving if self.moving else float("nan"),
            "reasons": dict(self.reasons),
            "states": [list(change) for change in self.states],
            "late_us": percentiles(self.late_us),
            "latency_us": percentiles(self.latency_us),
            "age_s": {name: percentiles(values) for name, values in self.ages_s.items()},
            "received": self.received,
            "lost": self.lost,
        }

    def out_of_range(self) -> dict[str, float]:
        """Share of the ticks by element, the worst first."""
        order = np.argsort(-self.outside, kind="stable")
        return {self.elements[i]: float(self.outside[i] / self.seen) for i in order if self.outside[i]}


def percentiles(values: array) -> dict[str, float]:
    """Return median, 99 % and largest of the finite values; empty if there are none."""
    found = np.asarray(values, float)
    found = found[np.isfinite(found)]
    if not len(found):
        return {}
    return {"p50": float(np.median(found)), "p99": float(np.quantile(found, 0.99)), "max": float(found.max())}


def reason_name(reason: int) -> str:
    """Return the name of the reason for the command."""
    return Reason(reason).name if reason >= 0 else Held(reason).name
