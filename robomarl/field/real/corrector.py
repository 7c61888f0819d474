"""`correct`: a better velocity from the vehicle's own estimate and its sensors, on trajectories that it never saw.

Features are half a second of the estimate, of its attitude's vertical axis, of the accelerometer turned into the world,
and of the gyroscope: all that a vehicle has on board. The truth is on the vehicle's clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robomarl.field.logs.errors import DeclaredBounds, ErrorRow, error_row
from robomarl.field.real.ridge import held_out, history
from robomarl.field.real.samples import UP, FlightSamples

BACK = tuple(range(0, 51, 5))
"""Rows before the present one."""


@dataclass(frozen=True)
class Corrected:
    """Errors of the velocity."""

    rows: tuple[ErrorRow, ...]
    """Errors of the vehicle's estimate, and of the corrected one."""
    errors: tuple[tuple[np.ndarray, ...], ...]
    """Norms [K] in m/s of each row and flight."""


def correct(flights: Sequence[FlightSamples], name: str, bounds: DeclaredBounds) -> Corrected:
    """Return errors of the estimate's velocity before and after.

    Args:
        flights: flights on one clock.
        name: name of the estimator.
        bounds: bounds of the vehicle file.
    """
    wrong = [(flight.true_m_s - flight.estimated_m_s)[flight.inner] for flight in flights]
    told = held_out(flights, lambda index: _features(flights[index]), wrong)
    before = tuple(np.linalg.norm(error, axis=-1) for error in wrong)
    after = tuple(np.linalg.norm(error - said, axis=-1) for error, said in zip(wrong, told, strict=True))
    names = (f"{name}, clocks aligned", f"{name}, corrected, held out")
    rows = tuple(
        error_row((each, "velocity", "m/s"), bounds.velocity_m_s, bounds.allowed, errors)
        for each, errors in zip(names, (before, after), strict=True)
    )
    return Corrected(rows, (before, after))


def _features(flight: FlightSamples) -> np.ndarray:
    """[K, N] at the rows of the flight."""
    rows = np.arange(flight.inner.start, flight.inner.stop)
    place = history(flight.estimated_m, rows, BACK[1:]) - np.tile(flight.estimated_m[rows], len(BACK) - 1)
    push = np.einsum("kij,kj->ki", flight.believed_turn, flight.force_m_s2) - UP
    signals = (flight.estimated_m_s, flight.believed_turn[..., 2], push, flight.gyro_rad_s)
    return np.concatenate([place, *(history(signal, rows, BACK) for signal in signals)], -1)
