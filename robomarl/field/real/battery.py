"""Force by battery voltage, the box of accelerations that this force holds, and voltages to act at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robomarl.core.hardware.vehicle import Quadrotor
from robomarl.field.logs.logged_flight import GRAVITY_M_S2
from robomarl.field.real.law import JudgedLaw, LawValue
from robomarl.field.real.laws import lagged
from robomarl.field.real.samples import PERIOD_S, FlightSamples

AT_V = (3.0, 3.2, 3.4, 3.6, 3.8)
CELL_V = np.linspace(2.5, 4.35, 400)
"""Voltages of one cell, in hover."""
TO_TURN = 0.02
"""Share of the force that stays for turning, as in the vehicle files."""
SPREAD = 0.9
"""Share of flights that a typical drop of the voltage covers."""
TO_LAND = 1.05
"""Least force, over gravity, that still arrests a descent."""
RESTING = 0.05
"""Mean command below which a battery counts as resting."""
MEAN_S = 1.0
"""Over which a vertical bias is averaged."""


@dataclass(frozen=True)
class FullForce:
    """Specific force with all motors at their limit, at one voltage."""

    battery_v: float
    """Under that load."""
    hover_v: float | None
    """Voltage that the battery shows in hover then; None above any voltage of one cell."""
    force_m_s2: float
    low: float
    """Lower end of the 95 % interval, by that of the thrust law."""
    high: float
    box_share: float
    """Share of the vehicle file's box of accelerations that this force holds with all axes at their limits."""
    limited_share: float | None
    """Share of the samples within 0.05 V in which a motor was at its limit; None without any."""


@dataclass(frozen=True)
class BatteryFigures:
    """Voltages. Hover: as it is shown in flight; rest: with motors off."""

    forces: tuple[FullForce, ...]
    sag_v: float
    """Drop of the voltage from motors off to motors at their limit, by the quick changes in flight."""
    file_box_v: float | None
    """Hover voltage below which the motors give less than the file's box needs; None: at any voltage of one cell."""
    ready_v: float | None
    """Voltage at rest from which nine of ten flights as long as these stay above `return_v`; None where no log begins
    with the motors off."""
    return_v: float
    """Hover voltage at which nine of ten flights had ended: the box must hold down to here."""
    return_box_share: float
    """Share of the file's box that holds there."""
    land_v: float
    """Hover voltage below which the motors give less than 1.05 of gravity."""
    flight_s: float
    """Length of the median flight."""
    vertical_bias_m_s2: dict[str, float]
    """p50 and p90 of the size of the vertical acceleration that thrust and drag do not explain, a second each."""


def battery_of(flights: Sequence[FlightSamples], thrust: JudgedLaw, vehicle: Quadrotor) -> BatteryFigures:
    """Return voltages and forces from the fitted thrust."""
    value = next(value for value in thrust.values if value.name == "force_per_volt")
    sag_v = sag(flights)
    full_v = _at_full(CELL_V, value.value, sag_v)
    ends = np.array([_last(flight) for flight in flights])
    first = slice(round(0.5 / PERIOD_S))
    at_rest = np.array([flight.duty[first].max() < RESTING for flight in flights])
    drops = (np.array([flight.battery_v[first].mean() for flight in flights]) - ends)[at_rest]
    return_v = float(np.quantile(ends, 1 - SPREAD))
    return BatteryFigures(
        tuple(_force(volts, value, full_v, flights, vehicle) for volts in AT_V),
        sag_v,
        _hover(_box(vehicle, 1.0) / value.value, full_v),
        return_v + float(np.quantile(drops, SPREAD)) if len(drops) else None,
        return_v,
        _share(value.value * float(np.interp(return_v, CELL_V, full_v)), vehicle),
        _hover(TO_LAND * GRAVITY_M_S2 / value.value, full_v) or float(CELL_V[-1]),
        float(np.median([PERIOD_S * (flight.inner.stop - flight.inner.start) for flight in flights])),
        _vertical(flights, thrust, vehicle.body.drag_per_s),
    )


def _last(flight: FlightSamples) -> float:
    """Mean voltage of the last second of a flight."""
    return float(flight.battery_v[flight.inner][-round(1 / PERIOD_S) :].mean())


def _hover(volts: float, full_v: np.ndarray) -> float | None:
    """Hover voltage at which so much is left under full load."""
    return float(np.interp(volts, full_v, CELL_V)) if volts <= full_v[-1] else None


def sag(flights: Sequence[FlightSamples]) -> float:
    """Return the drop of the voltage [V] per full command, from changes that are faster than the battery drains."""
    up, across = 0.0, 0.0
    for flight in flights:
        load, volts = (_quick(row) for row in (lagged(flight.duty, 0.03)[flight.inner], flight.battery_v[flight.inner]))
        up, across = up - float(load @ volts), across + float(load @ load)
    return up / across if across > 0 else 0.0


def _quick(values: np.ndarray) -> np.ndarray:
    """Values less their cubic trend."""
    basis = np.vander(np.linspace(-1, 1, len(values)), 4)
    return values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0]


def _at_full(hover_v: np.ndarray, gain: float, sag_v: float) -> np.ndarray:
    """Voltage under full load of a battery that shows `hover_v` while the vehicle hovers."""
    return hover_v - sag_v * np.maximum(1 - GRAVITY_M_S2 / (gain * hover_v), 0)


def _needed(x: float, y: float, z: float) -> float:
    return float(np.sqrt(x**2 + y**2 + (GRAVITY_M_S2 + z) ** 2)) / (1 - TO_TURN)


def _box(vehicle: Quadrotor, share: float) -> float:
    """FullForce [m/s^2] that a share of the file's box needs, with all axes at their limits."""
    return _needed(*(share * limit for limit in vehicle.limits.accel_max_m_s2))


def _share(force: float, vehicle: Quadrotor) -> float:
    shares = np.linspace(0, 2, 2001)
    needed = np.array([_box(vehicle, share) for share in shares])
    return float(shares[max(int((needed <= force).sum()) - 1, 0)])


def _force(
    volts: float, gain: LawValue, full_v: np.ndarray, flights: Sequence[FlightSamples], vehicle: Quadrotor
) -> FullForce:
    near = [(np.abs(flight.battery_v - volts) < 0.05)[flight.inner] for flight in flights]
    limited = np.concatenate([flight.limited[flight.inner][at] for flight, at in zip(flights, near, strict=True)])
    share = float(limited.mean()) if len(limited) else None
    ends = (gain.value * volts, gain.low * volts, gain.high * volts)
    return FullForce(volts, _hover(volts, full_v), *ends, _share(ends[0], vehicle), share)


def _vertical(flights: Sequence[FlightSamples], thrust: JudgedLaw, drag_per_s: float) -> dict[str, float]:
    gain, lag_s, rows = thrust["force_per_volt"], thrust["rotor_lag_s"], round(MEAN_S / PERIOD_S)
    sizes = []
    for flight in flights:
        up = gain * lagged(flight.voltage, lag_s) * flight.true_turn[:, 2, 2] - GRAVITY_M_S2
        rest = (flight.true_m_s2[:, 2] - up + drag_per_s * flight.true_m_s[:, 2])[flight.inner]
        sizes.append(np.abs(rest[: len(rest) // rows * rows].reshape(-1, rows).mean(1)))
    return {f"p{100 * q:g}": float(np.quantile(np.concatenate(sizes), q)) for q in (0.5, 0.9)}
