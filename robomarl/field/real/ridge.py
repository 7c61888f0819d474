"""Ridge regressions over logged flights: one fitted without each trajectory in turn, and one fitted to all."""

from collections.abc import Callable, Sequence

import numpy as np

from robomarl.field.real.law import groups_of
from robomarl.field.real.samples import FlightSamples

STRENGTH = 1e-4
"""Penalty on the square of a weight of standardized features, over the number of samples."""


def held_out(
    flights: Sequence[FlightSamples], features: Callable[[int], np.ndarray], targets: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return for each flight what flights of other trajectories say of its targets.

    Only sums of a trajectory are kept, and features of one flight at a time, so that memory does not grow with flights.

    Args:
        flights: flights, of two trajectories or more.
        features: [K, N] of the flight with this index; called more than once for each.
        targets: [K, T] of each.
    """
    full, groups = _standardized(*_standard(len(flights), features), features), groups_of(flights)
    sums = {name: _sums(rows, full, targets) for name, rows in groups.items()}
    found: list[np.ndarray] = [wanted for wanted in targets]
    for name, rows in groups.items():
        rest = [both for other, both in sums.items() if other != name]
        weights = _solved(np.sum([both[0] for both in rest], 0), np.sum([both[1] for both in rest], 0))
        for index in rows:
            found[index] = full(index) @ weights
    return found


def fitted(flights: int, features: Callable[[int], np.ndarray], targets: Sequence[np.ndarray]) -> np.ndarray:
    """Return the weights [N + 1, T] of features as they are, the last row constant, fitted to all flights.

    Args:
        flights: number of flights.
        features: [K, N] of the flight with this index.
        targets: [K, T] of each.
    """
    middle, spread = _standard(flights, features)
    scaled = _solved(*_sums(range(flights), _standardized(middle, spread, features), targets))
    weights = scaled[:-1] / spread[:, None]
    return np.concatenate([weights, scaled[-1:] - middle @ weights])


def _standardized(
    middle: np.ndarray, spread: np.ndarray, features: Callable[[int], np.ndarray]
) -> Callable[[int], np.ndarray]:
    """Features without units, and a last one that is 1, of the flight with an index."""

    def full(index: int) -> np.ndarray:
        rows = (features(index) - middle) / spread
        return np.c_[rows, np.ones(len(rows))]

    return full


def _solved(square: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Weights [N, T] of normal equations [N, N] and [N, T]."""
    return np.linalg.solve(square + STRENGTH * square[-1, -1] * np.eye(len(square)), product)


def _sums(
    rows: Sequence[int], full: Callable[[int], np.ndarray], targets: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """[N, N] and [N, T] normal equations of some flights."""
    square, product = np.zeros(1), np.zeros(1)
    for index in rows:
        values = full(index)
        square, product = square + values.T @ values, product + values.T @ targets[index]
    return square, product


def _standard(flights: int, features: Callable[[int], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """[N] mean and spread over all flights: units, and no more, that is, nothing of the targets."""
    count, first, second = 0, np.zeros(1), np.zeros(1)
    for index in range(flights):
        rows = features(index)
        count, first = count + len(rows), first + rows.sum(0)
    middle = first / count
    for index in range(flights):
        second = second + ((features(index) - middle) ** 2).sum(0)
    return middle, np.sqrt(second / count) + 1e-9


def history(values: np.ndarray, rows: np.ndarray, back: Sequence[int]) -> np.ndarray:
    """Return [R, C len(back)]: values [K, C] so many rows before each of `rows`, none before the first."""
    return np.concatenate([values[np.maximum(rows - step, 0)] for step in back], -1)
