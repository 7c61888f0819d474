"""The laws that are fitted to logged flights: thrust, drag and the attitude loop."""

import math
from functools import lru_cache, partial

import numpy as np
from scipy.linalg import expm
from scipy.signal import lfilter

from robomarl.field.real.law import FlightLaw
from robomarl.field.real.samples import PERIOD_S, FlightSamples

ROLL, PITCH = 0, 1


def lagged(values: np.ndarray, time_s: float) -> np.ndarray:
    """Return values [K] behind a lag of first order."""
    keep = math.exp(-PERIOD_S / max(time_s, 1e-4))
    found, _ = lfilter([1 - keep], [1, -keep], values, zi=[values[0] * keep])
    return np.asarray(found)


def thrust_law() -> FlightLaw:
    """Specific force along z = gain * (mean voltage at the motors, lagged)."""
    return FlightLaw(
        "thrust",
        ("force_per_volt", "rotor_lag_s"),
        ("m/s^2/V", "s"),
        np.array([3.0, 0.05]),
        np.array([0.1, 0.01]),
        np.array([0.1, 0.005]),
        np.array([100.0, 0.3]),
        _thrust_error,
        "m/s^2",
    )


def _thrust_error(theta: np.ndarray, flight: FlightSamples) -> np.ndarray:
    return (force_of(theta[0], theta[1], flight) - flight.force_m_s2[:, 2])[flight.inner]


def force_of(gain: float, lag_s: float, flight: FlightSamples) -> np.ndarray:
    """Return the specific force [K] along z by the thrust law."""
    return gain * lagged(flight.voltage, lag_s)


def drag_law() -> FlightLaw:
    """Specific force along x and y = -drag * velocity in the body frame, less the offset of a flight."""
    return FlightLaw(
        "drag",
        ("drag_x_per_s", "drag_y_per_s"),
        ("1/s", "1/s"),
        np.array([0.3, 0.3]),
        np.array([0.1, 0.1]),
        np.array([0.0, 0.0]),
        np.array([5.0, 5.0]),
        _drag_error,
        "m/s^2",
    )


def _drag_error(theta: np.ndarray, flight: FlightSamples) -> np.ndarray:
    error = (flight.force_m_s2[:, :2] + theta * flight.true_body_m_s[:, :2])[flight.inner]
    return (error - error.mean(0)).ravel()


def loop_law(axis: int) -> FlightLaw:
    """Believed tilt = gain * (loop of second order, delayed) of the tilt that was told, less the trim of a flight.

    Rows near a stall of the log do not count.
    """
    return FlightLaw(
        ("roll", "pitch")[axis],
        ("frequency_rad_s", "damping", "delay_s", "gain"),
        ("rad/s", "1", "s", "1"),
        np.array([15.0, 0.7, 0.02, 0.9]),
        np.array([5.0, 0.2, 0.01, 0.1]),
        np.array([3.0, 0.1, 0.0, 0.2]),
        np.array([60.0, 3.0, 0.15, 2.0]),
        partial(_loop_error, axis),
        "degrees",
    )


def _loop_error(axis: int, theta: np.ndarray, flight: FlightSamples) -> np.ndarray:
    rows = flight.whole[flight.inner]
    return loop_error_anywhere(axis, theta, flight)[rows]


def loop_error_anywhere(axis: int, theta: np.ndarray, flight: FlightSamples) -> np.ndarray:
    """Return the error [R] in degrees of the loop in all rows of the flight, where the log stalls too."""
    error = (followed(theta, flight.tilt_order_rad[:, axis]) - flight.believed_tilt_rad[:, axis])[flight.inner]
    return np.degrees(error - error[flight.whole[flight.inner]].mean())


def followed(theta: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return how a loop of second order with delay and static gain follows orders [K]."""
    frequency, damping, delay_s, gain = theta
    late = np.interp(np.arange(len(order)) - delay_s / PERIOD_S, np.arange(len(order)), order)
    ahead, back = _taps(float(frequency), float(damping))
    return gain * (lfilter(ahead, back, late - late[0]) + late[0])


@lru_cache(maxsize=64)
def _taps(frequency: float, damping: float) -> tuple[list[float], list[float]]:
    """Filter of a loop of second order, for orders that hold for a period."""
    flow = np.zeros((3, 3))
    flow[0, 1], flow[1] = 1.0, (-(frequency**2), -2 * damping * frequency, frequency**2)
    step = expm(flow * PERIOD_S)
    state, drive = step[:2, :2], step[:2, 2]
    back = [1.0, -float(np.trace(state)), float(np.linalg.det(state))]
    return [0.0, float(drive[0]), float((state @ drive)[0] + back[1] * drive[0])], back
