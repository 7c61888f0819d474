"""Words, symbols and figures of the page, the same for every part of it. No library of pages here."""

import math
import time
from html import escape
from typing import NamedTuple

from robomarl.ros.robot.health import ERROR, OK, WARN
from robomarl.ros.robot.state_machine import Order


class LevelMark(NamedTuple):
    """How a level is shown: colour is never the only sign."""

    symbol: str
    word: str
    style: str


MARKS = {
    OK: LevelMark("✓", "good", "ok"),
    WARN: LevelMark("▲", "warning", "warn"),
    ERROR: LevelMark("✖", "error", "bad"),
}
WORST = LevelMark("✖", "error", "bad")


class OrderWords(NamedTuple):
    """The button of an order."""

    label: str
    asks: str
    """Question of the dialog; "" for an order that is given at once."""


ORDERS = {
    Order.ARM: OrderWords("Arm", "Arm {whom}? It stays on the ground, and may be activated within a minute."),
    Order.ACTIVATE: OrderWords("Activate", "Activate {whom}? It starts to move at once. Is the field clear?"),
    Order.HOLD: OrderWords("Hold", ""),
    Order.LAND: OrderWords("Land", "Land {whom}? It descends where it is now."),
    Order.RESET: OrderWords("Reset", "Reset {whom}? This releases the E-stop. Have you seen to its cause?"),
}
"""Orders of the page. A hold is given at once: it only slows robots down, and must not wait for a second click."""


def mark_of(level: int) -> LevelMark:
    """Return the mark of a level of diagnostics."""
    return MARKS.get(level, WORST)


def number(value: float, unit: str, digits: int = 2) -> str:
    """Return a figure with its unit; "–" if it is not reported."""
    return f"{value:.{digits}f}&nbsp;{unit}" if math.isfinite(value) else "–"


def seconds(age_s: float) -> str:
    """Return an age; "never" if it is infinite, "–" if it is not reported."""
    if math.isinf(age_s):
        return "never"
    return number(age_s, "s", 2 if age_s < 1 else 1 if age_s < 10 else 0)


def clock(at_s: float) -> str:
    """Return the local time of day of a time since the epoch."""
    return time.strftime("%H:%M:%S", time.localtime(at_s))


def badge(level: int, word: str) -> str:
    """Return a state with the symbol and the colour of its level, as HTML."""
    mark = mark_of(level)
    return f'<span class="badge {mark.style}"><span aria-label="{mark.word}">{mark.symbol}</span> {escape(word)}</span>'


def some(names: list[str], most: int = 4) -> str:
    """Return the first names of a list, and the number of the remaining ones."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")
