"""Confidence intervals of rates, means, and differences over paired episodes."""

import math

import numpy as np

from robomarl.core.types import Figures


def wilson(successes: float, trials: int) -> list[float]:
    """95 % score interval of a proportion (Wilson, 1927): valid near 0 and 1 too; with halves, as of drawn matches, it
    is rather too wide."""
    z = 1.959964
    rate, spread = successes / trials, z * z / trials
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / trials + spread / (4 * trials)) / (1 + spread)
    return [max(0.0, centre - half), min(1.0, centre + half)]


def bootstrap(values: np.ndarray, resamples: int = 4000) -> list[float] | None:
    """Return the 95 % interval of the mean of [E] values, one per episode; None if there are no values or
    any is not finite.

    The percentile bootstrap (Efron, 1979) has a fixed seed: equal values give an equal interval.
    """
    if not len(values) or not np.isfinite(values).all():
        return None
    resamples = max(200, min(resamples, 5_000_000 // len(values)))
    picks = np.random.default_rng(0).integers(0, len(values), (resamples, len(values)))
    low, high = np.percentile(np.asarray(values, float)[picks].mean(-1), [2.5, 97.5])
    return [float(low), float(high)]


def paired_difference(first: np.ndarray, second: np.ndarray, resamples: int = 4000) -> Figures:
    """Return the difference in success rate over paired episodes, with a 95 % bootstrap interval.

    Args:
        first: [E] bool, successes of one policy.
        second: [E] bool, successes of a second policy in identical episodes.
        resamples: number of resamples of the episodes, with replacement.
    """
    gain = first.astype(float) - second.astype(float)
    return {
        "success_difference": float(gain.mean()),
        "difference_ci95": bootstrap(gain, resamples),
        "only_first": int((gain > 0).sum()),
        "only_second": int((gain < 0).sum()),
    }


def mean_of(values: np.ndarray) -> float | None:
    """Mean; none where there are no values, or where the task has none."""
    return float(values.mean()) if len(values) and np.isfinite(values).all() else None
