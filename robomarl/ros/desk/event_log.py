"""`EventLog`: a log of a field test in which repeats are one row, and consequences stand below their cause. No ROS."""

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

from robomarl.ros.robot.health import OK

FOLLOWS_S = 6.0
"""Longest time [s] between a cause (or its last consequence) and a consequence of it; either may be received first."""
REPEATS_S = 60.0
"""Time [s] within which an event that happens again is counted in its row instead of shown in a new one."""
MOST = 200
"""Rows that are kept."""


class FieldEvent(NamedTuple):
    """One thing that happened."""

    at_s: float
    """Time since the epoch [s]."""
    text: str
    subject: str = ""
    """Robot, node or operator that it happened to; "" for the team."""
    level: int = OK
    """Level as in `/diagnostics`: OK, WARN or ERROR."""
    tags: frozenset[str] = frozenset()
    """What it is about: an event that follows from one of these is its consequence."""
    because: frozenset[str] = frozenset()
    """Tags of the events that cause this one."""


@dataclass
class LogRow:
    """One row of the log: an event, its repeats, and its consequences."""

    first_s: float
    """Time of the first event since the epoch [s]."""
    last_s: float
    text: str
    level: int
    tags: frozenset[str]
    because: frozenset[str]
    subjects: list[str] = field(default_factory=list)
    count: int = 0
    effects: list["LogRow"] = field(default_factory=list)

    @property
    def worst(self) -> int:
        """Level of the row and its consequences."""
        return max([self.level, *(effect.worst for effect in self.effects)])

    @property
    def active_s(self) -> float:
        """Time of the newest event in the row or below it."""
        return max([self.last_s, *(effect.active_s for effect in self.effects)])

    def add(self, event: FieldEvent) -> None:
        """Count an event in this row."""
        self.first_s, self.last_s = min(self.first_s, event.at_s), max(self.last_s, event.at_s)
        self.count += 1
        self.level = max(self.level, event.level)
        self.tags, self.because = self.tags | event.tags, self.because | event.because
        if event.subject and event.subject not in self.subjects:
            self.subjects.append(event.subject)

    def says(self, event: FieldEvent) -> bool:
        """True if the event is a repeat of this row."""
        return event.text == self.text and abs(event.at_s - self.last_s) <= REPEATS_S

    def led_to(self, other: "LogRow | FieldEvent", at_s: float) -> bool:
        """True if an event or row at a time [s] is a consequence of this row."""
        return bool(self.tags & other.because) and self.first_s - FOLLOWS_S <= at_s <= self.active_s + FOLLOWS_S


class EventLog:
    """Rows, oldest first. Memory is bounded."""

    def __init__(self) -> None:
        """Start without a row."""
        self._rows: deque[LogRow] = deque(maxlen=MOST)
        self.changes = 0
        """Number of events so far."""

    @property
    def rows(self) -> list[LogRow]:
        """All rows, oldest first; consequences are in the rows of their causes."""
        return list(self._rows)

    def frozen(self) -> list[LogRow]:
        """Return copies of all rows, oldest first, for another thread."""
        return deepcopy(self.rows)

    def add(self, event: FieldEvent) -> None:
        """Note an event: in the row of its cause, in the row that it repeats, or in a new one."""
        self.changes += 1
        rows = next((row.effects for row in reversed(self._rows) if row.led_to(event, event.at_s)), self._rows)
        found = next((row for row in reversed(rows) if row.says(event)), None)
        if found is None:
            found = LogRow(event.at_s, event.at_s, event.text, event.level, event.tags, event.because)
            rows.append(found)
        found.add(event)
        if rows is self._rows and found.tags:
            self._adopt(found)

    def _adopt(self, cause: LogRow) -> None:
        """Move consequences that were received before their cause below it."""
        early = [row for row in self._rows if row is not cause and cause.led_to(row, row.last_s)]
        if early:
            kept = [row for row in self._rows if row not in early]
            self._rows = deque(kept, maxlen=MOST)
            for row in early:  # one level: its own consequences become those of the cause
                cause.effects += [row, *row.effects]
                row.effects = []
