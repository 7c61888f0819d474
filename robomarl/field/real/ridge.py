"""`held_out`: a ridge regression fitted without each trajectory in turn, and what it says of that trajectory."""

from collections.abc import Sequence

import numpy as np

from robomarl.field.real.law import groups_of
from robomarl.field.real.samples import FlightSamples

STRENGTH = 1e-4
"""Penalty on the square of a weight of standardized features, over the number of samples."""


def held_out(
    flights: Sequence[FlightSamples], features: Sequence[np.ndarray], targets: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Return for each flight what the others say of its targets.

    Args:
        flights: flights, by whose trajectories the data are divided.
        features: [K, N] of each.
        targets: [K, T] of each.
    """
    middle, spread = _standard(features)
    full = [np.c_[(rows - middle) / spread, np.ones(len(rows))] for rows in features]
    squares = np.stack([rows.T @ rows for rows in full])
    products = np.stack([rows.T @ wanted for rows, wanted in zip(full, targets, strict=True)])
    found: list[np.ndarray] = [wanted for wanted in targets]
    for rows in groups_of(flights).values():
        rest = np.setdiff1d(np.arange(len(flights)), rows)
        if not len(rest):
            rest = np.array(rows)
        total = squares[rest].sum(0)
        penalty = STRENGTH * total[-1, -1] * np.eye(len(total))
        weights = np.linalg.solve(total + penalty, products[rest].sum(0))
        for index in rows:
            found[index] = full[index] @ weights
    return found


def _standard(features: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """[N] mean and spread over all flights: units, and no more, that is, nothing of the targets."""
    count = sum(len(rows) for rows in features)
    middle = np.sum([rows.sum(0) for rows in features], 0) / count
    return middle, np.sqrt(np.sum([((rows - middle) ** 2).sum(0) for rows in features], 0) / count) + 1e-9


def history(values: np.ndarray, rows: np.ndarray, back: Sequence[int]) -> np.ndarray:
    """Return [R, C len(back)]: values [K, C] so many rows before each of `rows`, none before the first."""
    return np.concatenate([values[np.maximum(rows - step, 0)] for step in back], -1)
