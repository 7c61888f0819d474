"""Smallest figures with which the filter's model contains the recorded flights.

The model (docs/safety.md): at every instant the acceleration is c + b + w. c is any mixture of the
commands that may be in force, which were decided between the window's ends ago; b is constant over
a flight; w changes in any way within its bound. Along a direction n the velocity then changes
between any two times by no more than the integral of the largest n c in the window, plus (n b + w)
times the duration. A lag of the vehicle is an early part and a late tail: it is this change that
must hold, from every start and over every duration, and not the acceleration of an instant.

`TOLERANCE_M_S` is an additional tolerance on the change of velocity.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from robomarl.lab.plants.flight import Flights

TOLERANCE_M_S = 0.01
"""A fifth of the velocity error that vehicle files declare for the estimate."""
RATE_TO = 1e-3
"""Resolution of required rates [m/s^2]."""
SPAN_S = 0.6
"""Over which the constant part is fitted: long against the vehicle's response."""


class Window(NamedTuple):
    """When a command may be in force, from its decision on [s]; at the late end one more period, until the next."""

    early_s: float
    late_s: float


class PeriodPart(NamedTuple):
    """Part of a decision period with a fixed set of commands that may be in force."""

    seconds: float
    first: int
    """Index of the oldest command, in decisions from the one that begins the period: -3 is three before."""
    last: int
    """Index of the newest command."""


def pieces_of(window: Window, period_s: float) -> list[PeriodPart]:
    """Which commands may be in force, for every part of a decision period."""
    early, late = window.early_s / period_s, 1 + window.late_s / period_s
    cuts = sorted({0.0, 1.0, *(round(x % 1.0, 9) % 1.0 for x in (early, late))})
    pieces = []
    for a, b in zip(cuts[:-1], cuts[1:], strict=True):
        middle = (a + b) / 2
        pieces.append(PeriodPart((b - a) * period_s, math.ceil(middle - late), math.floor(middle - early)))
    return pieces


def swept(along: np.ndarray, pieces: Iterable[PeriodPart]) -> np.ndarray:
    """Largest change of velocity that commands can make in each period, [K, E] m/s.

    Args:
        along: [K, E] commands along a direction; before the first they were 0.
        pieces: of `pieces_of`.
    """
    most, steps = np.zeros_like(along), len(along)
    for piece in pieces:
        padded = np.concatenate([np.zeros((-piece.first, along.shape[1])), along])
        best = padded[:steps].copy()
        for shift in range(1, piece.last - piece.first + 1):
            np.maximum(best, padded[shift : shift + steps], out=best)
        most += piece.seconds * best
    return most


def steepest(excess: np.ndarray, period_s: float, tolerance: float) -> float:
    """Least r with excess[t] - excess[s] <= r (t - s) + tolerance for all s < t; [K + 1, E] -> one for all."""
    time = np.arange(len(excess))[:, None] * period_s
    slopes = np.diff(excess, axis=0) / period_s
    low, high = float(slopes.min()) - tolerance / period_s - 1, float(slopes.max())
    while high - low > RATE_TO:
        r = (low + high) / 2
        left = excess - r * time
        fits = (left - np.minimum.accumulate(left, 0)).max() <= tolerance
        low, high = (low, r) if fits else (r, high)
    return high


def directions(planar: bool) -> np.ndarray:
    """[D, 3] unit vectors, opposite ones side by side: the axes first, then the diagonals."""
    half = [(1, 0, 0), (0, 1, 0), (1, 1, 0), (1, -1, 0)]
    if not planar:
        half[2:2] = [(0, 0, 1)]
        half += [(1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1), (1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)]
    unit = np.array(half, float) / np.linalg.norm(half, axis=-1)[:, None]
    return np.stack([unit, -unit], 1).reshape(-1, 3)


def rate_along(flights: Flights, n: np.ndarray, pieces: Sequence[PeriodPart], tolerance: float) -> float:
    """Acceleration [m/s^2] along a direction that the commands in the window do not explain."""
    gained = (flights.vel_m_s - flights.vel_m_s[0]) @ n
    explained = np.cumsum(swept(flights.command @ n, pieces), 0)
    return steepest(gained - np.concatenate([explained[:1] * 0, explained]), flights.period_s, tolerance)


def error_needed(
    flights: Flights, bias: np.ndarray, window: Window, planar: bool, tolerance: float = TOLERANCE_M_S
) -> float:
    """Return the least w [m/s^2] with which the model contains these flights, all of one condition.

    Args:
        flights: recorded flights.
        bias: [3] constant part of the condition.
        window: window of the delays.
        planar: the vehicle moves in the plane.
        tolerance: tolerance of a change of velocity [m/s].
    """
    pieces = pieces_of(window, flights.period_s)
    return max(0.0, *(rate_along(flights, n, pieces, tolerance) - float(n @ bias) for n in directions(planar)))


def constant_part(flights: Flights, planar: bool) -> np.ndarray:
    """Return the bias [3] [m/s^2] of flights of one condition, which neither commands nor the vehicle's
    own speed explain.

    On each axis changes of velocity over `SPAN_S` are fitted, by least squares, by the integral of the
    commands some time before, that of the velocity (drag) and the duration; the time before is the one
    that fits best.
    """
    bias = np.zeros(3)
    for axis in range(2 if planar else 3):
        fits = [_fit_axis(flights, axis, lag) for lag in range(round(0.3 / flights.period_s))]
        bias[axis] = min(fits)[1]
    return bias


def _fit_axis(flights: Flights, axis: int, lag: int) -> tuple[float, float]:
    """Return squared error and constant part, for commands that act `lag` decisions later."""
    period_s, span = flights.period_s, round(SPAN_S / flights.period_s)
    vel = flights.vel_m_s[..., axis]
    ends = np.arange(lag, len(vel) - span, span)
    told, gone = (_integral(part, period_s) for part in (flights.command[..., axis], (vel[1:] + vel[:-1]) / 2))
    change = (vel[ends + span] - vel[ends]).ravel()
    columns = [(told[ends + span - lag] - told[ends - lag]).ravel(), (gone[ends + span] - gone[ends]).ravel()]
    table = np.stack([*columns, np.full(change.shape, span * period_s)], -1)
    found = np.linalg.lstsq(table, change, rcond=None)[0]
    return float(((change - table @ found) ** 2).mean()), float(found[2])


def _integral(rates: np.ndarray, period_s: float) -> np.ndarray:
    return np.concatenate([rates[:1] * 0, np.cumsum(rates, 0)]) * period_s
