"""`samples_of`: logged flights on one even grid and one clock, with what the figures are fitted to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.signal import savgol_filter

from robomarl.core.config import UserError
from robomarl.core.geometry import rotation_matrix
from robomarl.field.logs.errors import filtered, true_velocity
from robomarl.field.logs.layout import LogLayout
from robomarl.field.logs.logged_flight import GRAVITY_M_S2, LoggedFlight
from robomarl.field.real.align import costs, delay_between, shift_over_time, signed
from robomarl.field.real.stalls import whole_rows

PERIOD_S = 0.01
BEND_S = 0.21
"""Width of the local cubic polynomial whose second derivative is the true acceleration."""
LIMITED = 0.995
"""Share of the full command above which a motor counts as at its limit."""
MOST_DUTY = 1.05
CELL_V = 4.5
UP = np.array([0.0, 0.0, GRAVITY_M_S2])


@dataclass(frozen=True)
class FlightSamples:
    """One log, K rows each `PERIOD_S`, SI units, world frame with z up. `inner` are the rows of the flight."""

    name: str
    trajectory: str
    inner: slice
    true_m: np.ndarray
    """[K, 3] motion capture."""
    true_m_s: np.ndarray
    """[K, 3] its derivative; see `robomarl.field.logs.errors`."""
    true_m_s2: np.ndarray
    """[K, 3]."""
    true_turn: np.ndarray
    """[K, 3, 3] body to world."""
    seen_m: np.ndarray
    """[K, 3] by robomarl's filter of motion capture, which knows nothing of what comes."""
    seen_m_s: np.ndarray
    """[K, 3]."""
    estimated_m: np.ndarray
    """[K, 3] by the vehicle."""
    estimated_m_s: np.ndarray
    """[K, 3]."""
    believed_turn: np.ndarray
    """[K, 3, 3] body to world."""
    force_m_s2: np.ndarray
    """[K, 3] accelerometer, body."""
    gyro_rad_s: np.ndarray
    """[K, 3] body."""
    duty: np.ndarray
    """[K] mean command of the motors, 1 is the whole voltage."""
    limited: np.ndarray
    """[K] True where a motor is at its limit."""
    battery_v: np.ndarray
    """[K] under load."""
    tilt_order_rad: np.ndarray
    """[K, 2] roll and pitch."""
    order_m: np.ndarray
    """[K, 3], or [K, 0]."""
    shift_s: np.ndarray
    """[K] how much later the vehicle's clock is than that of motion capture, before it was taken out."""
    whole: np.ndarray
    """[K] True where orders and believed attitude were logged, and the log does not stall; see `whole_rows`."""

    @property
    def ordered(self) -> bool:
        """True if the tilt that the attitude controller was told was logged."""
        return bool(np.abs(self.tilt_order_rad[self.inner]).max() > 0)

    @cached_property
    def true_body_m_s(self) -> np.ndarray:
        """[K, 3] true velocity in the body frame."""
        return np.einsum("kji,kj->ki", self.true_turn, self.true_m_s)

    @cached_property
    def believed_tilt_rad(self) -> np.ndarray:
        """[K, 2] roll and pitch by the vehicle's own estimate."""
        return tilt_of(self.believed_turn)

    @cached_property
    def voltage(self) -> np.ndarray:
        """[K] mean voltage at the motors."""
        return self.duty * self.battery_v


def tilt_of(turn: np.ndarray) -> np.ndarray:
    """Return roll and pitch [K, 2] in rad of attitudes [K, 3, 3]."""
    return np.stack([np.arctan2(turn[:, 2, 1], turn[:, 2, 2]), -np.arcsin(np.clip(turn[:, 2, 0], -1, 1))], -1)


def samples_of(
    flown: Sequence[tuple[LoggedFlight, slice]], layout: LogLayout
) -> tuple[tuple[FlightSamples, ...], float]:
    """Return all flights, and how late [s] the accelerometer is against the gyroscope.

    Raises:
        UserError: the layout lacks a quantity, or the believed attitude is in another frame than the true one.
    """
    _check(flown[0][0], layout)
    each = [_checked(_even(log, rows, layout), log, layout) for log, rows in flown]
    turning = [_compared(one, 0) for one in each]
    pushing = [_compared(one, 1) for one in each]
    late_s = delay_between(turning, pushing, PERIOD_S)
    found = []
    for one, turns in zip(each, turning, strict=True):
        grid = np.arange(len(one.duty))
        early = replace(one, force_m_s2=_columns_at(grid + late_s / PERIOD_S, one.force_m_s2))
        found.append(_on_one_clock(one, shift_over_time(turns + _compared(early, 1), PERIOD_S)))
    return tuple(found), late_s


def _check(log: LoggedFlight, layout: LogLayout) -> None:
    has = {
        "motors": bool(layout.motors),
        "motors_full": layout.motors_full > 0,
        "battery": bool(layout.battery),
        "acceleration": bool(layout.acceleration),
        "gyro": bool(layout.gyro),
        "estimate.quaternion": bool(layout.estimate.quaternion),
        "setpoint.tilt": bool(layout.setpoint.tilt),
    }
    if lacks := [key for key, there in has.items() if not there]:
        raise UserError(f"{log.file}: the layout has no {lacks[0]}, which --identify needs; name its columns there.")


def _even(log: LoggedFlight, rows: slice, layout: LogLayout) -> FlightSamples:
    grid_s = np.arange(log.time_s[0], log.time_s[-1], PERIOD_S)

    def at(values: np.ndarray) -> np.ndarray:
        return _columns_at(grid_s, values, log.time_s)

    true_m, (seen_m, seen_m_s) = at(log.true_m), filtered(log)
    first, last = np.searchsorted(grid_s, log.time_s[[rows.start, rows.stop - 1]])
    named = re.search(layout.trajectory, log.file.name) if layout.trajectory else None
    window = 2 * round(BEND_S / PERIOD_S / 2) + 1
    if (most_v := float(log.battery_v[rows].max())) > CELL_V:
        raise UserError(
            f"{log.file}: column {layout.battery!r} reaches {most_v:.3g} V in flight, and --identify knows one cell, "
            f"of {CELL_V} V at most; is it in mV, or of a pack?"
        )
    duty = at(log.motors) / layout.motors_full
    if duty.max() > MOST_DUTY:
        raise UserError(
            f"{log.file}: columns {', '.join(layout.motors)} reach {duty.max():.3g} times motors_full; set the command "
            "of a motor that has the whole voltage."
        )
    bent = np.asarray(savgol_filter(true_m, window, 3, deriv=2, delta=PERIOD_S, axis=0))
    believed, volts = _turn(at(_continuous(log.believed_quat))), at(log.battery_v[:, None])[:, 0]
    whole = at(whole_rows(log, rows)[:, None].astype(float))[:, 0] == 1
    return FlightSamples(
        log.file.name, named.group() if named else log.file.name, slice(int(first), int(last)), true_m,
        true_velocity(true_m, PERIOD_S), bent, _turn(at(_continuous(log.true_quat))), at(seen_m), at(seen_m_s),
        at(log.estimated_m), at(log.estimated_m_s), believed, at(log.force_m_s2), at(log.gyro_rad_s),
        duty.mean(-1), duty.max(-1) > LIMITED, volts, at(log.tilt_order_rad), at(log.order_m), np.zeros(len(grid_s)),
        whole,
    )  # fmt: skip


def _columns_at(where: np.ndarray, values: np.ndarray, knots: np.ndarray | None = None) -> np.ndarray:
    """[K, ...] values between those [N, ...] at knots [N], by default rows."""
    flat = values.reshape(len(values), -1)
    knots = np.arange(len(values)) if knots is None else knots
    found = (
        np.stack([np.interp(where, knots, column) for column in flat.T], -1) if flat.shape[1] else flat[: len(where)]
    )
    return found.reshape(len(where), *values.shape[1:])


def _continuous(quat: np.ndarray) -> np.ndarray:
    """[K, 4] with signs that never jump, so that values between two rows are attitudes."""
    kept = np.where((quat[1:] * quat[:-1]).sum(-1) < 0, -1.0, 1.0)
    return quat * np.cumprod(np.concatenate([[1.0], kept]))[:, None]


def _turn(quat: np.ndarray) -> np.ndarray:
    return rotation_matrix(quat / np.linalg.norm(quat, axis=-1, keepdims=True))


def _checked(one: FlightSamples, log: LoggedFlight, layout: LogLayout) -> FlightSamples:
    apart = np.arccos(np.clip((one.true_turn[..., 2] * one.believed_turn[..., 2]).sum(-1), -1, 1))[one.inner]
    if np.median(apart) > np.radians(10):
        raise UserError(
            f"{log.file}: columns {', '.join(layout.estimate.quaternion)} are tilted by "
            f"{np.degrees(np.median(apart)):.0f} degrees against the poses; "
            "both must turn body to world, w first, z up."
        )
    return one


def _compared(one: FlightSamples, which: int) -> np.ndarray:
    """[B, S] costs of the gyroscope (0) or of the accelerometer (1), in the flight."""
    felt = np.einsum("kji,kj->ki", one.true_turn, one.true_m_s2 + UP)
    step = np.einsum("kji,kjl->kil", one.true_turn[:-2], one.true_turn[2:])
    turning = np.stack([step[:, 2, 1] - step[:, 1, 2], step[:, 0, 2] - step[:, 2, 0]], -1) / (4 * PERIOD_S)
    turning = np.concatenate([turning[:1], turning, turning[-1:]])
    true, seen = signed(turning, felt)[which], signed(one.gyro_rad_s, one.force_m_s2)[which]
    return costs(true[one.inner], seen[one.inner], PERIOD_S)


def _on_one_clock(one: FlightSamples, shifts_s: np.ndarray) -> FlightSamples:
    """Move the truth onto the vehicle's clock."""
    rows = np.arange(len(one.duty))
    middle = one.inner.start + (np.arange(len(shifts_s)) + 0.5) * ((one.inner.stop - one.inner.start) // len(shifts_s))
    shift_s = np.interp(rows, middle, shifts_s)
    names = ("true_m", "true_m_s", "true_m_s2", "true_turn", "seen_m", "seen_m_s")
    moved = {name: _columns_at(rows - shift_s / PERIOD_S, getattr(one, name)) for name in names}
    return replace(one, shift_s=shift_s, **moved)
