"""`in_flight`: the part of a log in which the vehicle flies; `by_content`: logs that are copies of each other."""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from robomarl.field.logs.logged_flight import LoggedFlight

GAP_S = 0.1
"""A longer pause between two rows ends a flight."""
ABOVE_M = 0.15
"""Height above the start, below which the ground and the take-off still act."""
MARGIN_S = 0.5
"""Time [s] that is left out behind a take-off and before a landing."""
LEAST = 100
"""Rows of the shortest flight, one more of which counts."""


def in_flight(log: LoggedFlight) -> slice:
    """Return the rows of the longest flight of a log without take-off and landing; empty if nothing flies."""
    flies = log.true_m[:, 2] > log.true_m[0, 2] + ABOVE_M
    if log.motors.shape[1]:
        flies &= (log.motors > 0).all(-1)
    breaks = np.concatenate([[False], np.diff(log.time_s) > GAP_S])
    number = np.cumsum(breaks | np.concatenate([[True], flies[1:] != flies[:-1]]))
    runs = [np.flatnonzero(number == n) for n in np.unique(number[flies])]
    if not runs:
        return slice(0, 0)
    rows = max(runs, key=len)
    time_s = log.time_s[rows]
    kept = rows[(time_s > time_s[0] + MARGIN_S) & (time_s < time_s[-1] - MARGIN_S)]
    return slice(int(kept[0]), int(kept[-1]) + 1) if len(kept) > LEAST else slice(0, 0)


def cut(log: LoggedFlight, rows: slice) -> tuple[LoggedFlight, slice]:
    """Return a log without what lies behind pauses before and after its flight, and the rows of the flight in it."""
    breaks = np.flatnonzero(np.diff(log.time_s) > GAP_S) + 1
    first = max([0, *breaks[breaks <= rows.start]])
    last = min([len(log.time_s), *breaks[breaks >= rows.stop]])
    arrays = [each.name for each in fields(log) if isinstance(getattr(log, each.name), np.ndarray)]
    kept = replace(log, **{name: getattr(log, name)[first:last] for name in arrays})
    return kept, slice(rows.start - first, rows.stop - first)


def by_content(logs: Sequence[LoggedFlight]) -> list[list[LoggedFlight]]:
    """Return groups of logs with equal numbers in every bit, in the order of their first logs."""
    groups: dict[str, list[LoggedFlight]] = {}
    for log in logs:
        groups.setdefault(log.sha256, []).append(log)
    return list(groups.values())
