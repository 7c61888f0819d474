"""Errors of state estimates on logged flights, beside the bounds that the vehicle file declares.

The truth of the velocity is the derivative of a local cubic polynomial over the positions of motion
capture (Savitzky and Golay, Analytical Chemistry 1964), 0.13 s wide. It is itself unsure by 0.01 to
0.02 m/s where a vehicle jerks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.signal import savgol_filter

from robomarl.field.logs.logged_flight import LoggedFlight
from robomarl.vehicles.mocap.motion_filter import MotionFilter, PoseNoise

WINDOW_S, DEGREE = 0.13, 3
QUANTILES = (0.5, 0.99, 0.999)
LARGEST_SHIFT_S = 0.2
UNEVEN = 0.2
"""Shift of a row, in periods, from which on positions are put onto an even grid before they are differentiated."""
DRAWS = 500
"""Draws of whole flights behind an interval: samples of one flight depend on each other, flights do not."""
MOTION_CAPTURE = "motion capture, MotionFilter"


@dataclass(frozen=True)
class EstimatorErrors:
    """Errors of one estimator, one array for each flight."""

    name: str
    position_m: tuple[np.ndarray, ...]
    """Norms [K]."""
    velocity_m_s: tuple[np.ndarray, ...]
    """Norms [K]."""
    late_s: tuple[float, ...]
    """Shift of the estimate that fits the truth best, each flight: how late it is."""


@dataclass(frozen=True)
class ErrorRow:
    """One quantity of one estimator beside its declared bound."""

    estimator: str
    quantity: str
    unit: str
    declared: float
    """Bound in the vehicle file."""
    allowed: float
    """Share of samples that may be above it."""
    quantiles: dict[str, float]
    """Quantiles by name: p50, p99 and p99.9."""
    interval: tuple[float, float]
    """95 % interval of p99, from draws of whole flights."""
    largest: float
    flights_above: int
    """Flights with a sample above the declared bound."""
    share_above: float
    """Share of samples above the declared bound."""


def errors_of(flown: Sequence[tuple[LoggedFlight, slice]], estimator: str) -> tuple[EstimatorErrors, EstimatorErrors]:
    """Return the errors of the logged estimate, named `estimator`, and of our own filter on the poses.

    Args:
        flown: logs with the rows of their flights.
        estimator: name of the logged estimate.
    """
    theirs, ours = [], []
    for log, rows in flown:
        period_s = float(np.median(np.diff(log.time_s)))
        speed_m_s = velocity_of(log)
        late_s = best_shift(log.true_m[rows], log.estimated_m[rows], period_s)
        theirs.append((*_norms(log.estimated_m, log.estimated_m_s, log.true_m, speed_m_s, rows), late_s))
        pos_m, vel_m_s = filtered(log)
        ours.append((*_norms(pos_m, vel_m_s, log.true_m, speed_m_s, rows), 0.0))
    return _errors(estimator, theirs), _errors(MOTION_CAPTURE, ours)


def _errors(name: str, found: list[tuple[np.ndarray, np.ndarray, float]]) -> EstimatorErrors:
    return EstimatorErrors(name, tuple(f[0] for f in found), tuple(f[1] for f in found), tuple(f[2] for f in found))


def _norms(
    pos_m: np.ndarray, vel_m_s: np.ndarray, true_m: np.ndarray, true_m_s: np.ndarray, rows: slice
) -> tuple[np.ndarray, np.ndarray]:
    return np.linalg.norm((pos_m - true_m)[rows], axis=-1), np.linalg.norm((vel_m_s - true_m_s)[rows], axis=-1)


def true_velocity(true_m: np.ndarray, period_s: float) -> np.ndarray:
    """Return the velocity [K, 3] of positions [K, 3] that come each `period_s`."""
    window = max(2 * round(WINDOW_S / period_s / 2) + 1, DEGREE + 2)
    return np.asarray(savgol_filter(true_m, window, DEGREE, deriv=1, delta=period_s, axis=0))


def velocity_of(log: LoggedFlight) -> np.ndarray:
    """Return the true velocity [K, 3] at the rows of a log without pauses; rows may be lost or come unevenly."""
    time_s = log.time_s - log.time_s[0]
    period_s = float(np.median(np.diff(time_s)))
    even_s = np.arange(0.0, time_s[-1] + period_s / 2, period_s)
    if len(even_s) == len(time_s) and np.abs(even_s - time_s).max() < UNEVEN * period_s:
        return true_velocity(log.true_m, period_s)
    even_m = np.stack([np.interp(even_s, time_s, column) for column in log.true_m.T], -1)
    return np.stack([np.interp(time_s, even_s, column) for column in true_velocity(even_m, period_s).T], -1)


def best_shift(
    true_m: np.ndarray, estimated_m: np.ndarray, period_s: float, largest_s: float = LARGEST_SHIFT_S
) -> float:
    """Return how late [s] the estimate [K, 3] is: the shift with the least mean square error, to whole samples."""
    most = round(largest_s / period_s)

    def error(k: int) -> float:
        truth, estimate = (true_m[: len(true_m) - k], estimated_m[k:]) if k >= 0 else (true_m[-k:], estimated_m[:k])
        return float(((truth - estimate) ** 2).sum(-1).mean())

    return period_s * min(range(-most, most + 1), key=error)


def filtered(log: LoggedFlight) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities [K, 3] by the filter of robomarl's motion-capture node, on the log's poses.

    Poses that were resampled have less noise than those of a running system, which flatters the result.
    """
    track = MotionFilter(PoseNoise(), log.true_m[0], log.true_quat[0])
    pos_m, vel_m_s = [track.estimate.pos_m], [track.estimate.vel_m_s]
    for place, quat, step_s in zip(log.true_m[1:], log.true_quat[1:], np.diff(log.time_s), strict=True):
        track.take(place, quat, float(step_s))
        pos_m.append(track.estimate.pos_m)
        vel_m_s.append(track.estimate.vel_m_s)
    return np.stack(pos_m), np.stack(vel_m_s)


class DeclaredBounds(NamedTuple):
    """Bounds of a vehicle file."""

    position_m: float
    velocity_m_s: float
    allowed: float
    """Share of samples that may be above them."""


def rows_of(errors: EstimatorErrors, bounds: DeclaredBounds) -> list[ErrorRow]:
    """Return the rows of one estimator, beside the bounds of position and velocity."""
    return [
        error_row((errors.name, "position", "m"), bounds.position_m, bounds.allowed, errors.position_m),
        error_row((errors.name, "velocity", "m/s"), bounds.velocity_m_s, bounds.allowed, errors.velocity_m_s),
    ]


def error_row(names: tuple[str, str, str], declared: float, allowed: float, flights: Sequence[np.ndarray]) -> ErrorRow:
    """Return quantiles over all samples, and an interval that takes whole flights as independent.

    Args:
        names: estimator, quantity and unit.
        declared: bound in the vehicle file.
        allowed: share of samples that may be above it.
        flights: errors of each flight.
    """
    samples = np.concatenate(flights)
    quantiles = {f"p{100 * q:g}": float(np.quantile(samples, q)) for q in QUANTILES}
    random = np.random.default_rng(0)
    drawn = [
        np.quantile(np.concatenate([flights[i] for i in random.integers(len(flights), size=len(flights))]), 0.99)
        for _ in range(DRAWS)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    above = [flight > declared for flight in flights]
    return ErrorRow(
        *names,
        declared,
        allowed,
        quantiles,
        (float(low), float(high)),
        float(samples.max()),
        sum(bool(over.any()) for over in above),
        float(np.concatenate(above).mean()),
    )
