"""`correct`: a better position and velocity from a vehicle's own estimate and its sensors, on trajectories never seen.

Features are half a second of the estimate, of its attitude's vertical axis, of the accelerometer turned into the world,
and of the gyroscope, all turned by the heading: all that a vehicle has on board
(`robomarl.vehicles.corrected.corrector`). The truth is on the vehicle's clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robomarl.field.logs.errors import QUANTILES, DeclaredBounds, ErrorRow, error_row
from robomarl.field.real.ridge import fitted, held_out
from robomarl.field.real.samples import PERIOD_S, FlightSamples
from robomarl.vehicles.corrected.corrector import EstimateCorrector, features, motion_of, turned_by

BACK = tuple(range(0, 51, 5))
"""Rows before the present one."""
DIGITS = 5
"""Significant digits of a weight in a file."""


@dataclass(frozen=True)
class Corrected:
    """Errors of the velocity and of the position."""

    rows: tuple[ErrorRow, ...]
    """Errors of the velocity by the vehicle's estimate and by the corrected one, and likewise of the position."""
    errors: tuple[tuple[np.ndarray, ...], ...]
    """Norms [K] of each row and flight, in m/s and m."""
    most: tuple[float, float]
    """Longest correction of a velocity [m/s] and of a position [m] that was said of a flight kept back."""


def correct(flights: Sequence[FlightSamples], name: str, bounds: DeclaredBounds) -> Corrected:
    """Return errors of the estimate before and after, the latter on trajectories that were kept back.

    Args:
        flights: flights on one clock.
        name: name of the estimator.
        bounds: bounds of the vehicle file.
    """
    wrong = [_wrong(flight) for flight in flights]
    told = held_out(flights, lambda index: _features(flights[index]), wrong)
    names = (f"{name}, clocks aligned", f"{name}, corrected, held out")
    rows, errors, most = [], [], []
    for part, quantity, bound in (
        (slice(0, 3), ("velocity", "m/s"), bounds.velocity_m_s),
        (slice(3, 6), ("position", "m"), bounds.position_m),
    ):
        before = tuple(np.linalg.norm(error[:, part], axis=-1) for error in wrong)
        after = tuple(np.linalg.norm((e - said)[:, part], axis=-1) for e, said in zip(wrong, told, strict=True))
        pairs = zip(names, (before, after), strict=True)
        rows += [error_row((each, *quantity), bound, bounds.allowed, norms) for each, norms in pairs]
        errors += [before, after]
        most.append(max(float(np.linalg.norm(said[:, part], axis=-1).max()) for said in told))
    return Corrected(tuple(rows), tuple(errors), (most[0], most[1]))


class CorrectorOrigin(NamedTuple):
    """Origin of a corrector's file."""

    vehicle: str
    """Name of the vehicle that flew."""
    estimator: str
    """Name of the estimator that is corrected."""
    source: str
    """Origin of the flights."""
    fitted: str
    """Command, hash of the flights' numbers, commit and date."""


def fit_corrector(flights: Sequence[FlightSamples], judged: Corrected, origin: CorrectorOrigin) -> EstimateCorrector:
    """Return the corrector that is fitted to all flights; `judged` has its figures on trajectories kept back."""
    wrong = [_wrong(flight) for flight in flights]
    weights = fitted(len(flights), lambda index: _features(flights[index]), wrong)
    return EstimateCorrector(
        version=1,
        vehicle=origin.vehicle,
        corrects=origin.estimator,
        back_s=tuple(round(PERIOD_S * rows, 6) for rows in BACK),
        weights=tuple(tuple(_short(number) for number in row) for row in weights.tolist()),
        most_m_s=_short(judged.most[0]),
        most_m=_short(judged.most[1]),
        source=origin.source,
        flights=tuple(flight.name for flight in flights),
        fitted=origin.fitted,
        held_out={"velocity_m_s": _figures(judged.errors[1]), "position_m": _figures(judged.errors[3])},
    )


def _short(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _figures(errors: Sequence[np.ndarray]) -> dict[str, float]:
    samples = np.concatenate(errors)
    found = {f"p{100 * q:g}": _short(float(np.quantile(samples, q))) for q in QUANTILES}
    return {**found, "largest": _short(float(samples.max()))}


def _rows(flight: FlightSamples) -> np.ndarray:
    return np.arange(flight.inner.start, flight.inner.stop)


def _yaw(flight: FlightSamples, rows: np.ndarray) -> np.ndarray:
    """[K] believed headings [rad]."""
    return np.arctan2(flight.believed_turn[rows, 1, 0], flight.believed_turn[rows, 0, 0])


def motion_before(flight: FlightSamples) -> np.ndarray:
    """Return the histories [K, L, 15] of the rows of a flight, of robomarl.vehicles.corrected.corrector.motion_of."""
    motion = motion_of(
        flight.estimated_m, flight.estimated_m_s, flight.believed_turn, flight.force_m_s2, flight.gyro_rad_s
    )
    return motion[np.maximum(_rows(flight)[:, None] - np.array(BACK), 0)]


def corrected_offline(flight: FlightSamples, corrector: EstimateCorrector) -> tuple[np.ndarray, np.ndarray]:
    """Return the corrected velocities and positions [K, 3] of the rows of a flight."""
    rows = _rows(flight)
    velocity, place = corrector.errors(motion_before(flight), _yaw(flight, rows))
    return flight.estimated_m_s[rows] + velocity, flight.estimated_m[rows] + place


def _features(flight: FlightSamples) -> np.ndarray:
    """[K, N] at the rows of the flight."""
    return features(motion_before(flight), _yaw(flight, _rows(flight)))


def _wrong(flight: FlightSamples) -> np.ndarray:
    """[K, 6] errors of velocity and position, truth less estimate, turned by the heading."""
    rows = _rows(flight)
    wrong = np.concatenate([flight.true_m_s - flight.estimated_m_s, flight.true_m - flight.estimated_m], -1)[rows]
    return turned_by(-_yaw(flight, rows), wrong)
