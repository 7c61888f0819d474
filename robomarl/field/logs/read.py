"""`read_log`: one flight log in CSV (plain, .gz, .xz, .bz2), in SI units, checked before it is used."""

import bz2
import gzip
import hashlib
import lzma
import math
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from robomarl.core.config import UserError, suggest
from robomarl.core.geometry import quat_conjugate, quat_multiply, rotate
from robomarl.field.logs.layout import ACCELERATIONS, ANGLES, LENGTHS, RATES, LogLayout
from robomarl.field.logs.topics import table_of_topics

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
GAP_S = 0.1
"""A longer pause between two rows ends a flight."""
GRAVITY_M_S2 = 9.81
LARGEST_M = 200.0
"""No hall with motion capture is larger."""
TURNING_RAD_S = 0.3
"""Rate above which a gyroscope is compared with the turning poses."""


@dataclass(frozen=True)
class LoggedFlight:
    """One log, K rows, SI units, world frame with z up."""

    file: Path
    sha256: str
    """Hash of the numbers that were read: logs that are copies of each other have one hash."""
    time_s: np.ndarray
    """[K] increasing."""
    true_m: np.ndarray
    """[K, 3] position by motion capture."""
    true_quat: np.ndarray
    """[K, 4] wxyz, body to world."""
    estimated_m: np.ndarray
    """[K, 3]."""
    estimated_m_s: np.ndarray
    """[K, 3]."""
    motors: np.ndarray
    """[K, M] commands; M may be 0."""
    battery_v: np.ndarray
    """[K]; NaN where it was not logged."""
    force_m_s2: np.ndarray
    """[K, 3] accelerometer, body; [K, 0] where it was not logged, as all that follows."""
    gyro_rad_s: np.ndarray
    """[K, 3] body."""
    believed_quat: np.ndarray
    """[K, 4] attitude by the vehicle's own estimate."""
    tilt_order_rad: np.ndarray
    """[K, 2] roll and pitch that the attitude controller is told, about x and y of the body."""
    order_m: np.ndarray
    """[K, 3] position that the position controller is told."""


def read_log(file: Path, layout: LogLayout) -> LoggedFlight:
    """Read one log.

    Raises:
        UserError: it can't be read, a column is missing or no number, time runs backwards, or numbers of a column can't
            have its unit. The sentence names the column.
    """
    time_s, table = _table(file, layout) if layout.format == "csv" else table_of_topics(file, layout)
    at = dict(zip(layout.columns, table.T, strict=True))

    def columns(which: tuple[str, ...]) -> np.ndarray:
        return np.stack([at[name] for name in which], -1) if which else np.zeros((len(table), 0))

    _check_numbers(file, at)
    length = LENGTHS[layout.length_unit]
    log = LoggedFlight(
        file,
        hashlib.sha256(np.ascontiguousarray(columns(layout.columns)).tobytes()).hexdigest(),
        time_s,
        length * _up(columns(layout.truth.position), layout),
        _up(columns(layout.truth.quaternion), layout),
        length * _up(columns(layout.estimate.position), layout),
        _up(columns(layout.estimate.velocity), layout),
        columns(layout.motors),
        at[layout.battery] if layout.battery else np.full(len(table), math.nan),
        ACCELERATIONS[layout.acceleration_unit] * _up(columns(layout.acceleration), layout),
        RATES[layout.gyro_unit] * _up(columns(layout.gyro), layout),
        _up(columns(layout.estimate.quaternion), layout),
        _tilt_order(columns(layout.setpoint.tilt), layout),
        length * _up(columns(layout.setpoint.position), layout),
    )
    _check_time(file, layout.time, log.time_s)
    _check_poses(log, layout)
    _check_imu(log, layout, log.force_m_s2, log.gyro_rad_s)
    return log


def _up(values: np.ndarray, layout: LogLayout) -> np.ndarray:
    """Turn vectors [K, 3], quaternions [K, 4] or no columns to y left and z up, where the log has y right, z down."""
    if layout.frame == "flu" or not values.shape[1]:
        return values
    return values * (1, -1, -1) if values.shape[1] == 3 else values * (1, 1, -1, -1)


def _tilt_order(logged: np.ndarray, layout: LogLayout) -> np.ndarray:
    """[K, 2] rad, of columns in the layout's unit and sign."""
    wanted = layout.setpoint
    if not wanted.tilt:
        return logged
    turned = (1, 1) if layout.frame == "flu" else (1, -1)
    return ANGLES[wanted.tilt_unit] * logged * wanted.tilt_sign * turned


def _table(file: Path, layout: LogLayout) -> tuple[np.ndarray, np.ndarray]:
    """Times [K] and [K, C] numbers of the layout's columns, in its order."""
    opener = OPENERS.get(file.suffix, open)
    try:
        with opener(file, "rt", encoding="utf-8") as lines:
            names = _names(file, lines, layout)
            wanted = [names.index(name) for name in layout.columns]
            table = np.loadtxt(lines, delimiter=",", ndmin=2, usecols=wanted)
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: can't be read as CSV ({error}); name a log, plain, .gz, .xz or .bz2.") from None
    except ValueError as error:
        raise UserError(f"{file}: {error}; every row needs a number in each column of the layout.") from None
    if len(table) < 2:
        raise UserError(f"{file}: has {len(table)} rows; a flight has thousands.")
    return table[:, layout.columns.index(layout.time)], table


def _names(file: Path, lines: IO[str], layout: LogLayout) -> list[str]:
    names = [name.strip().strip('"') for name in lines.readline().lstrip("\ufeff").strip().split(",")]
    if missing := [name for name in layout.columns if name not in names]:
        raise UserError(f"{file}: there is no column {missing[0]!r}; {suggest(missing[0], names)}")
    if twice := [name for name in layout.columns if names.count(name) > 1]:
        raise UserError(f"{file}: column {twice[0]!r} is there twice; leave one of them.")
    return names


def _check_numbers(file: Path, at: dict[str, np.ndarray]) -> None:
    for name, values in at.items():
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise UserError(f"{file}: column {name!r} is {values[row]} in row {row + 2}; leave such rows out.")


def _check_time(file: Path, column: str, time_s: np.ndarray) -> None:
    steps = np.diff(time_s)
    if (steps <= 0).any():
        row = int(np.argmax(steps <= 0)) + 3
        raise UserError(f"{file}: column {column!r} does not grow in row {row}; sort the rows by time.")
    if np.median(steps) > GAP_S:
        raise UserError(f"{file}: column {column!r} steps by {np.median(steps):g}; it must be in s, at 10 Hz or more.")


def _check_poses(log: LoggedFlight, layout: LogLayout) -> None:
    for key, columns, place_m in (
        ("truth.position", layout.truth.position, log.true_m),
        ("estimate.position", layout.estimate.position, log.estimated_m),
    ):
        worst = int(np.abs(place_m).max(0).argmax())
        if np.abs(place_m).max() > LARGEST_M:
            raise UserError(
                f"{log.file}: column {columns[worst]!r} reaches {np.abs(place_m).max():.0f} m; "
                f"is it in mm? Set length_unit in the layout ({key})."
            )
    norm = np.linalg.norm(log.true_quat, axis=-1)
    if np.abs(norm - 1).max() > 0.02:
        row = int(np.abs(norm - 1).argmax())
        raise UserError(
            f"{log.file}: columns {', '.join(layout.truth.quaternion)} have the norm {norm[row]:.3g} in row {row + 2}; "
            "name the four columns of a unit quaternion, w first."
        )


def _check_imu(log: LoggedFlight, layout: LogLayout, force: np.ndarray, rate: np.ndarray) -> None:
    """Compare the accelerometer with gravity and the gyroscope with the turning poses."""
    if force.shape[1]:
        # Over a whole log the mean specific force of a vehicle that does not fall is gravity, along the world's z.
        up = float(rotate(log.true_quat, force)[:, 2].mean())
        if not 0.7 * GRAVITY_M_S2 < up < 1.3 * GRAVITY_M_S2:
            raise UserError(
                f"{log.file}: columns {', '.join(layout.acceleration)} have a mean of {up:.3g} m/s^2 upwards; "
                "it must be 9.81: set acceleration_unit (m/s^2 or g), and name the columns of x, y, z."
            )
    if rate.shape[1]:
        turned = quat_multiply(quat_conjugate(log.true_quat[:-1]), log.true_quat[1:])
        by_pose = 2 * np.sign(turned[:, :1]) * turned[:, 1:] / np.diff(log.time_s)[:, None]
        turns = np.linalg.norm(by_pose, axis=-1) > TURNING_RAD_S
        if turns.sum() < 50:
            return
        ratio = float(np.median(np.linalg.norm(rate[:-1][turns], axis=-1) / np.linalg.norm(by_pose[turns], axis=-1)))
        if not 0.05 < ratio < 10:  # degrees are 57 radians; noise of the poses makes their rate larger
            raise UserError(
                f"{log.file}: columns {', '.join(layout.gyro)} are {ratio:.3g} times the rate of the poses; "
                "set gyro_unit (rad/s or deg/s)."
            )
