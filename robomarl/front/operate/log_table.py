"""`log_html`: the event log as HTML, newest first, each cause above its consequences."""

from collections.abc import Sequence
from html import escape

from robomarl.front.operate.words import badge, clock, mark_of, some
from robomarl.ros.desk.event_log import LogRow
from robomarl.ros.robot.health import WARN

SHOWN = 60
"""Rows on the page."""


def log_html(rows: Sequence[LogRow], serious_only: bool) -> str:
    """Return the rows, newest first.

    Args:
        rows: rows of the log, oldest first.
        serious_only: leave out rows without a warning or error, in themselves or in their consequences.
    """
    shown = [row for row in reversed(rows) if not serious_only or row.worst >= WARN][:SHOWN]
    if not shown:
        return '<p class="empty">Nothing has happened yet.</p>'
    return f'<ul class="log">{"".join(map(_row_html, shown))}</ul>'


def _row_html(row: LogRow) -> str:
    effects = "".join(f"<li>↳ {_text(effect)}</li>" for effect in _by_weight(row.effects))
    below = f"<ul>{effects}</ul>" if effects else ""
    return f'<li class="{mark_of(row.worst).style}"><time>{clock(row.first_s)}</time> {_text(row)}{below}</li>'


def _by_weight(rows: list[LogRow]) -> list[LogRow]:
    """Return the worst consequences first."""
    return sorted(rows, key=lambda row: -row.level)


def _text(row: LogRow) -> str:
    names = f" <b>{escape(some(sorted(row.subjects)))}</b>" if row.subjects else ""
    again = f' <span class="count">{row.count} times, last {clock(row.last_s)}</span>' if _repeats(row) else ""
    return f"{badge(row.level, row.text)}{names}{again}"


def _repeats(row: LogRow) -> bool:
    """Return True if the row happened more often than once for each of its subjects."""
    return row.count > max(1, len(row.subjects))
