"""`judge`: parameters of one law from all flights, their intervals, and its error on trajectories that it never saw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import t as student

from robomarl.field.real.samples import FlightSamples

DRAWS = 1000
LEVEL = 0.95
STEP = 1e-4
"""Step of finite differences, in units of a parameter's scale."""


@dataclass(frozen=True)
class FlightLaw:
    """A law with P parameters, and its errors [R] on one flight."""

    name: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    first: np.ndarray
    """[P] start of the search."""
    scale: np.ndarray
    """[P] size of a significant change."""
    least: np.ndarray
    """[P]."""
    most: np.ndarray
    """[P]."""
    error: Callable[[np.ndarray, FlightSamples], np.ndarray]
    error_unit: str
    """Unit of the errors."""


@dataclass(frozen=True)
class LawValue:
    """One parameter."""

    name: str
    unit: str
    value: float
    low: float
    """Of the 95 % interval, from draws of whole flights."""
    high: float
    least: float
    """Least value by the flights of one trajectory alone ..."""
    most: float
    """... and the largest."""
    foretold: float | None
    """Share of trajectories whose own value lies in the 95 % interval that the others foretell for it; None with fewer
    than four."""


@dataclass(frozen=True)
class JudgedLaw:
    """A fitted law."""

    law: str
    values: tuple[LawValue, ...]
    error_unit: str
    rms: float
    """Root mean square error on flights of trajectories that were kept back."""
    interval: tuple[float, float]
    """95 % interval of it, from draws of whole flights."""
    flights: dict[str, float]
    """Root mean square error of each, kept back."""
    without: dict[str, tuple[float, ...]]
    """Parameters that were fitted without each trajectory."""

    def __getitem__(self, name: str) -> float:
        """LawValue of a parameter."""
        return next(value.value for value in self.values if value.name == name)


def groups_of(flights: Sequence[FlightSamples]) -> dict[str, list[int]]:
    """Return the indices of the flights of each trajectory."""
    found: dict[str, list[int]] = {}
    for index, flight in enumerate(flights):
        found.setdefault(flight.trajectory, []).append(index)
    return found


def judge(law: FlightLaw, flights: Sequence[FlightSamples]) -> JudgedLaw:
    """Fit a law to all flights, of two trajectories or more, and once more without each, for its errors there."""
    found = _solved(law, flights, law.first, 30)
    bends, pulls = _normal(law, flights, found)
    groups = groups_of(flights)
    squares, without = np.zeros((len(flights), 2)), {}
    for name, rows in groups.items():
        rest = [flight for index, flight in enumerate(flights) if index not in rows]
        theta = _solved(law, rest, found, 5)
        without[name] = tuple(map(float, theta))
        for index in rows:
            error = law.error(theta, flights[index])
            squares[index] = (error**2).sum(), len(error)
    own = np.stack([_step(law, bends[rows].sum(0), pulls[rows].sum(0), found) for rows in groups.values()])
    drawn = np.random.default_rng(0).integers(len(flights), size=(DRAWS, len(flights)))
    draws = np.stack([_step(law, bends[rows].sum(0), pulls[rows].sum(0), found) for rows in drawn])
    half = _half_width(draws, len(flights))
    low, high = np.clip(found - half, law.least, law.most), np.clip(found + half, law.least, law.most)
    ends = np.stack([found, low, high, own.min(0), own.max(0)], -1)
    rows = zip(law.names, law.units, ends, _foretold(own), strict=True)
    values = tuple(LawValue(name, unit, *map(float, row), foretold=share) for name, unit, row, share in rows)
    return JudgedLaw(law.name, values, law.error_unit, *_rms(squares, drawn), _each(flights, squares), without)


def _solved(law: FlightLaw, flights: Sequence[FlightSamples], first: np.ndarray, evaluations: int) -> np.ndarray:
    def error(theta: np.ndarray) -> np.ndarray:
        return np.concatenate([law.error(theta, flight) for flight in flights])

    bounds = (law.least, law.most)
    return least_squares(error, first, x_scale=law.scale, bounds=bounds, max_nfev=evaluations, xtol=1e-5, ftol=1e-6).x


def _normal(law: FlightLaw, flights: Sequence[FlightSamples], theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[F, P, P] and [F, P]: normal equations of each flight."""
    bends, pulls = [], []
    for flight in flights:
        error = law.error(theta, flight)
        moves = STEP * np.diag(law.scale)
        slope = np.stack([(law.error(theta + move, flight) - error) / move.sum() for move in moves], -1)
        bends.append(slope.T @ slope)
        pulls.append(slope.T @ error)
    return np.stack(bends), np.stack(pulls)


def _step(law: FlightLaw, bend: np.ndarray, pull: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """One step of Gauss and Newton from the fit of all flights."""
    return np.clip(theta - np.linalg.pinv(bend) @ pull, law.least, law.most)


def _half_width(draws: np.ndarray, count: int) -> np.ndarray:
    """Return half of the interval [P] of parameters, from draws [D, P] of `count` flights with replacement.

    Quantiles of the draws of a few flights lie too close: Student's t has the wider tails, and the spread
    of draws is too small by sqrt((n - 1) / n) (Hesterberg, The American Statistician 69, 2015).
    """
    return student.ppf((1 + LEVEL) / 2, count - 1) * draws.std(0) * np.sqrt(count / (count - 1))


def _foretold(own: np.ndarray) -> list[float | None]:
    """Return the share [P] of groups [G, P] whose value lies in the interval that the others foretell for it."""
    count = len(own)
    if count < 4:
        return [None] * own.shape[1]
    within = []
    for index in range(count):
        rest = np.delete(own, index, 0)
        half = student.ppf((1 + LEVEL) / 2, count - 2) * rest.std(0, ddof=1) * np.sqrt(1 + 1 / (count - 1))
        within.append(np.abs(own[index] - rest.mean(0)) <= half)
    return [float(share) for share in np.mean(within, 0)]


def _rms(squares: np.ndarray, drawn: np.ndarray) -> tuple[float, tuple[float, float]]:
    each = np.sqrt(squares[drawn, 0].sum(1) / squares[drawn, 1].sum(1))
    low, high = np.quantile(each, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(np.sqrt(squares[:, 0].sum() / squares[:, 1].sum())), (float(low), float(high))


def _each(flights: Sequence[FlightSamples], squares: np.ndarray) -> dict[str, float]:
    return {flight.name: float(np.sqrt(s / n)) for flight, (s, n) in zip(flights, squares, strict=True)}
