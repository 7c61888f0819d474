"""`read_log`: one flight log in CSV (plain, .gz, .xz, .bz2), in SI units, checked before it is used."""

import bz2
import csv
import gzip
import hashlib
import lzma
import math
import re
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

from robomarl.core.config import UserError, suggest
from robomarl.field.logs.consistent import check_consistent
from robomarl.field.logs.flown import GAP_S
from robomarl.field.logs.layout import ACCELERATIONS, ANGLES, LENGTHS, RATES, LogLayout, ReadColumns
from robomarl.field.logs.logged_flight import LoggedFlight
from robomarl.field.logs.poses_apart import TimedImu, TimedPoses, join_poses
from robomarl.field.logs.topics import table_of_topics

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
LARGEST_M = 200.0
"""No hall with motion capture is larger."""


def read_log(file: Path, layout: LogLayout) -> LoggedFlight:
    """Read one log.

    Raises:
        UserError: it can't be read, a column is missing or no number, time runs backwards, or numbers of a column can't
            have its unit. The sentence names the column.
    """
    time_s, columns = _columns(file, layout.of_log)
    _check_time(file, layout.time, time_s)
    length, frame = LENGTHS[layout.length_unit], layout.frame
    force = ACCELERATIONS[layout.acceleration_unit] * _up(columns(layout.acceleration), frame)
    gyro = RATES[layout.gyro_unit] * _up(columns(layout.gyro), frame)
    rows, poses = _poses(file, layout, columns, TimedImu(time_s, gyro, force))
    log = LoggedFlight(
        file,
        hashlib.sha256(np.ascontiguousarray(columns(layout.columns)).tobytes()).hexdigest(),
        poses.time_s,
        poses.pos_m,
        poses.quat,
        length * _up(columns(layout.estimate.position), frame)[rows],
        _up(columns(layout.estimate.velocity), frame)[rows],
        columns(layout.motors)[rows],
        columns((layout.battery,))[rows, 0] if layout.battery else np.full(len(poses.time_s), math.nan),
        force[rows],
        gyro[rows],
        _up(columns(layout.estimate.quaternion), frame)[rows],
        _tilt_order(columns(layout.setpoint.tilt), layout)[rows],
        length * _up(columns(layout.setpoint.position), frame)[rows],
    )
    _check_poses(log, layout)
    check_consistent(log, layout)
    return log


def _columns(file: Path, read: ReadColumns) -> tuple[np.ndarray, Callable[[tuple[str, ...]], np.ndarray]]:
    """Times [K], and a function from names of columns to their finite numbers [K, C]."""
    time_s, table = _table(file, read) if read.format == "csv" else table_of_topics(file, read)
    at = dict(zip(read.columns, table.T, strict=True))
    _check_numbers(file, at)
    return time_s, lambda which: np.stack([at[name] for name in which], -1) if which else np.zeros((len(table), 0))


def _poses(
    file: Path, layout: LogLayout, columns: Callable[[tuple[str, ...]], np.ndarray], imu: TimedImu
) -> tuple[slice, TimedPoses]:
    """Rows of the log that have poses, and their poses, from the log or from a file of their own."""
    own = layout.truth
    apart = layout.truth_file(file) if own.time else None
    time_s = imu.time_s
    if apart is not None:
        time_s, columns = _columns(apart, layout.of_truth(apart))
        _check_time(apart, own.time, time_s)
    frame = own.frame or layout.frame
    length = LENGTHS[own.length_unit or layout.length_unit]
    poses = TimedPoses(time_s, length * _up(columns(own.position), frame), _up(columns(own.quaternion), frame))
    return (slice(0, len(time_s)), poses) if apart is None else join_poses((file, apart), imu, poses)


def _up(values: np.ndarray, frame: str) -> np.ndarray:
    """Turn vectors [K, 3], quaternions [K, 4] or no columns to y left and z up, where the log has y right, z down."""
    if frame == "flu" or not values.shape[1]:
        return values
    return values * (1, -1, -1) if values.shape[1] == 3 else values * (1, 1, -1, -1)


def _tilt_order(logged: np.ndarray, layout: LogLayout) -> np.ndarray:
    """[K, 2] rad, of columns in the layout's unit and sign."""
    wanted = layout.setpoint
    if not wanted.tilt:
        return logged
    turned = (1, 1) if layout.frame == "flu" else (1, -1)
    return ANGLES[wanted.tilt_unit] * logged * wanted.tilt_sign * turned


def _table(file: Path, read: ReadColumns) -> tuple[np.ndarray, np.ndarray]:
    """Times [K] and [K, C] numbers of the columns, in their order."""
    opener, names = OPENERS.get(file.suffix, open), []
    try:
        with opener(file, "rt", encoding="utf-8") as lines:
            names = _names(file, lines, read)
            wanted = [names.index(name) for name in read.columns]
            with warnings.catch_warnings(action="ignore"):  # of a file without rows, which is said below
                table = np.loadtxt(lines, delimiter=",", ndmin=2, usecols=wanted, quotechar='"', comments=None)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(f"{file}: can't be read as CSV ({error}); name a log, plain, .gz, .xz or .bz2.") from None
    except ValueError as error:
        at = re.search(r"at row (\d+), column (\d+)", str(error))
        place = f"column {names[int(at[2]) - 1]!r} has no number in row {int(at[1]) + 2}: " if at else ""
        raise UserError(f"{file}: {place}{error}; every row needs a number in each column of the layout.") from None
    if len(table) < 2:
        raise UserError(f"{file}: has {len(table)} rows; a flight has thousands.")
    return table[:, read.columns.index(read.time)], table


def _names(file: Path, lines: IO[str], read: ReadColumns) -> list[str]:
    head = lines.readline().lstrip("\ufeff").strip()
    if not head:
        raise UserError(f"{file}: its first line is empty; it must name columns, as {','.join(read.columns[:3])}.")
    names = [name.strip() for name in next(csv.reader([head]))]
    if read.time not in names and (other := next((mark for mark in ";\t" if mark in head), "")):
        raise UserError(f"{file}: columns are separated by {other!r}; write commas, and points in numbers.")
    if missing := [name for name in read.columns if name not in names]:
        raise UserError(f"{file}: there is no column {missing[0]!r}; {suggest(missing[0], names)}")
    if twice := [name for name in read.columns if names.count(name) > 1]:
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
