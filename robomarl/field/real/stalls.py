"""`whole_rows`: rows of a log in which orders and believed attitude were logged, and not drawn as lines between others.

A logger that stalls loses packets, and dates those that come late. Data sets on an even grid fill such holes by
straight lines. About a hole the blocks of a log are late or early against each other by 50 ms and more, so that no
law can tell how an attitude follows its order there.
"""

from itertools import pairwise

import numpy as np

from robomarl.field.logs.logged_flight import LoggedFlight

LEAST_ROWS = 3
"""Rows on a straight line from which on they count as filled in."""
MOST_ROWS = 30
"""A longer straight line is a way that was flown: a steady turn orders one."""
STRAIGHT = 1e-3
"""Largest bend of a straight line, over the mean change from row to row."""
BEFORE_S, AFTER_S = 0.1, 0.2
"""Times before and after a hole in which rows don't count either: a loop remembers what was wrong there."""
LEAST_SHARE = 0.1
"""Where fewer rows than this share are left, the log is slow and does not stall: then all rows count."""


def whole_rows(log: LoggedFlight, flight: slice) -> np.ndarray:
    """Return [K] True where tilt orders and believed attitude were logged, and no hole is near.

    Args:
        log: the log, K rows.
        flight: rows of the flight.
    """
    whole = np.ones(len(log.time_s), bool)
    for values in (log.tilt_order_rad, log.believed_quat[:, 1:3]):
        for first, last in _holes(values):
            begin, end = np.searchsorted(log.time_s, (log.time_s[first] - BEFORE_S, log.time_s[last] + AFTER_S))
            whole[begin:end] = False
    return whole if whole[flight].mean() >= LEAST_SHARE else np.ones_like(whole)


def _holes(values: np.ndarray) -> list[tuple[int, int]]:
    """First and last rows of values [K, C] that lie on straight lines; values that rest are none."""
    change = np.diff(values, axis=0)
    bend, typical = np.abs(np.diff(change, axis=0)), np.abs(change).mean(0)
    inner = (bend <= STRAIGHT * typical).all(1) & (change[1:] != 0).any(1)
    straight = np.concatenate([[False], inner, [False]])
    turns = np.flatnonzero(np.diff(straight.astype(int)))
    runs = list(pairwise(turns))[::2]
    return [(int(begin) + 1, int(end)) for begin, end in runs if LEAST_ROWS <= end - begin <= MOST_ROWS]
