"""`check_consistent`: units, frames and orders of columns, by quantities of one flight that must agree.

A velocity is the derivative of a position, an accelerometer feels its second derivative less gravity, a gyroscope the
turning poses. Seen values that a scale and a turn explain, and the true ones do not, are in another unit or frame; what
neither explains is an error of the estimate, which is left to be measured.
"""

import numpy as np
from scipy.signal import savgol_filter

from robomarl.core.config import UserError
from robomarl.core.geometry import quat_conjugate, quat_multiply, rotate
from robomarl.field.logs.errors import velocity_of
from robomarl.field.logs.flown import cut, in_flight
from robomarl.field.logs.layout import LogLayout
from robomarl.field.logs.logged_flight import GRAVITY_M_S2, LoggedFlight

UNEXPLAINED, EXPLAINED = 0.35, 0.3
"""Share of the square of what is seen that the true values leave at least, and that a scale and a turn leave at most,
where a unit or a frame is wrong. Public flights leave 0.0 to 0.2 in the right units, where the vehicle moves."""
LATEST_S, STEP_S = 0.3, 0.02
"""Largest delay of an attitude behind its order, and step between two that are tried."""
SMOOTHED_S = 0.2
LEAST_TILT_RAD = 0.02


def check_consistent(log: LoggedFlight, layout: LogLayout) -> None:
    """Compare all quantities of the flight in a log; nothing is compared where nothing flies.

    Raises:
        UserError: a unit, a frame or an order of columns is wrong. The sentence names the columns.
    """
    rows = in_flight(log)
    if not rows.stop:
        _check_gravity(log, slice(None), layout)
        return
    log, rows = cut(log, rows)
    _check_gravity(log, rows, layout)
    _check_estimate(log, rows, layout)
    _check_imu(log, rows, layout)
    _check_attitude(log, rows, layout)


def _check_gravity(log: LoggedFlight, rows: slice, layout: LogLayout) -> None:
    """Over a flight the mean specific force of a vehicle that does not fall is gravity, along the world's z."""
    if not log.force_m_s2.shape[1]:
        return
    up = float(rotate(log.true_quat, log.force_m_s2)[rows, 2].mean())
    if not 0.7 * GRAVITY_M_S2 < up < 1.3 * GRAVITY_M_S2:
        raise UserError(
            f"{log.file}: columns {', '.join(layout.acceleration)} have a mean of {up:.3g} m/s^2 upwards; "
            "it must be 9.81: set acceleration_unit (m/s^2 or g) or frame, and name the columns of x, y, z."
        )


def _check_estimate(log: LoggedFlight, rows: slice, layout: LogLayout) -> None:
    own, place, speed = layout.estimate, log.true_m[rows], velocity_of(log)[rows]
    said = _wrong(place - place.mean(0), (log.estimated_m - log.estimated_m[rows].mean(0))[rows], 0.1)
    if said:
        raise UserError(
            f"{log.file}: columns {', '.join(own.position)} are {said} {', '.join(layout.truth.position)}; "
            "both must be in length_unit, in one frame with z up (frame)."
        )
    seen = log.estimated_m_s[rows]
    if said := _wrong(speed, seen, 0.15):
        raise UserError(
            f"{log.file}: columns {', '.join(own.velocity)} are {said} the derivative of "
            f"{', '.join(layout.truth.position)}; they must be in m/s, in the frame of the positions, and "
            f"{layout.time!r} in s."
        )
    body = rotate(log.true_quat[rows], seen)
    if _left(speed, seen) > UNEXPLAINED and _left(speed, body) < 0.1 and _size(speed) > 0.15:
        raise UserError(
            f"{log.file}: columns {', '.join(own.velocity)} are in the body frame; turn them into the frame of the "
            "positions."
        )


def _check_imu(log: LoggedFlight, rows: slice, layout: LogLayout) -> None:
    period_s = float(np.median(np.diff(log.time_s)))
    if log.force_m_s2.shape[1]:
        felt = _smooth(rotate(log.true_quat, log.force_m_s2), period_s)[rows]
        push = _smooth(np.gradient(velocity_of(log), log.time_s, axis=0), period_s)[rows]
        if said := _wrong(push - push.mean(0), felt - felt.mean(0), 0.3):
            raise UserError(
                f"{log.file}: columns {', '.join(layout.acceleration)}, turned by "
                f"{', '.join(layout.truth.quaternion)}, are {said} the second derivative of "
                f"{', '.join(layout.truth.position)}; see to length_unit, frame, and a quaternion from body to world, "
                "w first."
            )
    if log.gyro_rad_s.shape[1]:
        turn = _smooth(_rates(log), period_s)[rows]
        if said := _wrong(turn, _smooth(log.gyro_rad_s, period_s)[rows], 0.1):
            raise UserError(
                f"{log.file}: columns {', '.join(layout.gyro)} are {said} the rate of the poses; "
                f"set gyro_unit (rad/s or deg/s), and see to the signs, and to {', '.join(layout.truth.quaternion)}."
            )


def _rates(log: LoggedFlight) -> np.ndarray:
    """[K, 3] rad/s, body, by the poses."""
    turned = quat_multiply(quat_conjugate(log.true_quat[:-2]), log.true_quat[2:])
    rates = 2 * np.where(turned[:, :1] < 0, -1, 1) * turned[:, 1:] / (log.time_s[2:] - log.time_s[:-2])[:, None]
    return np.concatenate([rates[:1], rates, rates[-1:]])


def _check_attitude(log: LoggedFlight, rows: slice, layout: LogLayout) -> None:
    columns = ", ".join(layout.estimate.quaternion)
    if not columns:
        return
    quat = log.believed_quat[rows]
    norm = np.linalg.norm(quat, axis=-1)
    if np.abs(norm - 1).max() > 0.02:
        worst = norm[np.abs(norm - 1).argmax()]
        raise UserError(f"{log.file}: columns {columns} have the norm {worst:.3g} in flight; name a unit quaternion.")
    true, seen = (rotate(q, np.array([0.0, 0.0, 1.0]))[:, :2] for q in (log.true_quat[rows], quat))
    if said := _wrong(true - true.mean(0), seen - seen.mean(0), LEAST_TILT_RAD):
        raise UserError(
            f"{log.file}: the tilt by columns {columns} is {said} that of the poses; they must turn body to world, "
            "w first, z up."
        )
    for axis, name in enumerate(layout.setpoint.tilt):
        slope = _followed(log.tilt_order_rad[rows, axis], _tilt(quat)[:, axis], log.time_s[rows])
        if slope is not None and not 0.35 < slope < 2.5:
            raise UserError(
                f"{log.file}: the attitude is {slope:.3g} times its order, column {name!r}; set tilt_unit (rad or deg) "
                f"and tilt_sign in the layout's setpoint, or see to {columns}."
            )


def _tilt(quat: np.ndarray) -> np.ndarray:
    """[K, 2] roll and pitch in rad."""
    w, x, y, z = quat.T
    return np.stack([np.arctan2(w * x + y * z, 0.5 - x**2 - y**2), np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))], -1)


def _followed(order: np.ndarray, tilt: np.ndarray, time_s: np.ndarray) -> float | None:
    """Slope of the tilt over its order at the delay that fits best; None where none fits."""
    found = []
    for late_s in np.arange(0.0, LATEST_S, STEP_S):
        told, seen = np.interp(time_s - late_s, time_s, order), tilt - tilt.mean()
        told = told - told.mean()
        size = np.sqrt((told @ told) * (seen @ seen))
        found.append(
            (float(told @ seen) / size, float(told @ seen) / float(told @ told)) if size > 1e-9 else (0.0, 0.0)
        )
    fit, slope = max(found)
    against, turned = min(found)
    if fit < 0.8 and against < -0.8:
        return turned
    return slope if fit > 0.8 and np.std(tilt) > LEAST_TILT_RAD else None


def _smooth(values: np.ndarray, period_s: float) -> np.ndarray:
    window = max(2 * round(SMOOTHED_S / period_s / 2) + 1, 5)
    return np.asarray(savgol_filter(values, window, 2, axis=0))


def _size(values: np.ndarray) -> float:
    return float(np.sqrt((values**2).sum(-1).mean()))


def _left(true: np.ndarray, seen: np.ndarray) -> float:
    """Share of the square of what is seen that is no part of the true values."""
    return float(((seen - true) ** 2).sum() / max(float((seen**2).sum()), 1e-18))


def _wrong(true: np.ndarray, seen: np.ndarray, least: float) -> str:
    """How values [K, C] differ in scale or frame from the true ones, if they do and those are of `least` size."""
    if _size(true) < least or _left(true, seen) < UNEXPLAINED:
        return ""
    left, sizes, right = np.linalg.svd(true.T @ seen)
    scale = float(sizes.sum() / (true**2).sum())
    if scale < 1e-9 or _left(scale * true @ (left @ right), seen) > EXPLAINED:
        return ""
    return "turned or mirrored against" if 0.67 < scale < 1.5 else f"{scale:.3g} times"
