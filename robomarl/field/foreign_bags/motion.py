"""Motion of a vehicle that a recording does not contain, computed from its other data; and jumps of its clock."""

import numpy as np

from robomarl.core.geometry import quat_conjugate, quat_multiply

WINDOW_S = 0.1
"""A velocity is the slope of the straight line through the positions within it."""
JUMP_S = 0.5
"""A stamp is off by more, against the recorder's clock: a clock has jumped."""
SHUFFLED_S = 0.1
"""Stamps that run backwards by less are of messages that overtook each other."""
OTHER_S = 1.0
"""Stamps that are off by more all along are of another clock."""


def slopes(at_s: np.ndarray, values: np.ndarray, window_s: float = WINDOW_S) -> np.ndarray:
    """[K, D] derivatives of values [K, D] at times [K]: least squares lines through the samples around each.

    On a path of constant acceleration they are exact where samples are even, and late by nothing.
    """
    period_s = float(np.median(np.diff(at_s))) if len(at_s) > 1 else window_s
    reach = max(1, round(window_s / period_s / 2))
    found = np.zeros_like(values)
    for k in range(len(at_s)):
        near = min(reach, k, len(at_s) - 1 - k) or 1  # even on both sides; at the ends one side is all there is
        part = slice(max(k - near, 0), k + near + 1)
        time = at_s[part] - at_s[part].mean()
        found[k] = time @ values[part] / max(float(time @ time), 1e-12)
    return found


def body_rates(at_s: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """[K, 3] body rates of attitudes [K, 4]: small turns from each to the next, then as `slopes` of their sum."""
    turn = quat_multiply(quat_conjugate(quat[:-1]), quat[1:])
    angle = 2 * turn[:, 1:] * np.where(turn[:, :1] < 0, -1.0, 1.0)
    return slopes(at_s, np.concatenate([np.zeros((1, 3)), np.cumsum(angle, 0)]))


def parts_by_clock(received_s: np.ndarray, stamp_s: np.ndarray) -> list[slice]:
    """Rows between two jumps of a clock, the recorder's or the sender's."""
    late = received_s - stamp_s
    jumps = (np.abs(np.diff(late)) > JUMP_S) | (np.diff(stamp_s) < -SHUFFLED_S)
    ends = [0, *(np.flatnonzero(jumps) + 1).tolist(), len(stamp_s)]
    return [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def newest_only(stamp_s: np.ndarray) -> np.ndarray:
    """Indices of stamps that are later than all before them."""
    before = np.concatenate([[-np.inf], np.maximum.accumulate(stamp_s)[:-1]])
    return np.flatnonzero(stamp_s > before)


def in_recorder_time(received_s: np.ndarray, stamp_s: np.ndarray) -> np.ndarray:
    """Stamps by the recorder's clock: those of another one count as received at once where they were fastest."""
    late = received_s - stamp_s
    return stamp_s if abs(float(np.median(late))) < OTHER_S else stamp_s + late.min()
