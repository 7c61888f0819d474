"""`compare_logs`: logs of one vehicle beside the bounds of its file, as one frozen result."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import AnyVehicle
from robomarl.core.types import Figures
from robomarl.field.logs.errors import (
    MOTION_CAPTURE,
    DeclaredBounds,
    ErrorRow,
    EstimatorErrors,
    errors_of,
    rows_of,
)
from robomarl.field.logs.flown import by_content, cut, in_flight
from robomarl.field.logs.layout import LogLayout
from robomarl.field.logs.logged_flight import LoggedFlight
from robomarl.field.logs.read import read_log

HOLDS = 0.001
"""A bound of the section `safety` holds if at most this share of the samples is above it; estimators name theirs."""
KEYS = {MOTION_CAPTURE: "mocap"}
"""Names of estimators in vehicle files, where they are others."""


@dataclass(frozen=True)
class ComparedLogs:
    """Logs beside the declared bounds."""

    flown: tuple[tuple[LoggedFlight, slice], ...]
    """Logs with the rows of their flights; of copies of each other, the first counts."""
    copies: tuple[tuple[str, ...], ...]
    """Names of logs that are equal in every bit."""
    grounded: tuple[str, ...]
    """Names of logs without a flight."""
    errors: tuple[EstimatorErrors, ...]
    rows: tuple[ErrorRow, ...]


def read_logs(files: Iterable[Path], layout: LogLayout) -> list[LoggedFlight]:
    """Read logs; raises `UserError` where one is refused, see `read_log`."""
    return [read_log(file, layout) for file in files]


ENDINGS = {"csv": ".csv", "ulog": ".ulg", "crazyflie": "", "mcap": ".mcap"}
"""Endings of logs, without that of their compression."""


def files_of(places: Sequence[Path], kind: str = "csv") -> list[Path]:
    """Return all logs of this format that these files and folders name, sorted within a folder.

    Raises:
        UserError: one is not there, or a folder has none.
    """
    found: list[Path] = []
    for place in places:
        if not place.exists():
            raise UserError(f"{place}: there is no such log.")
        within = sorted(f for f in place.iterdir() if _is_log(f, kind)) if place.is_dir() else [place]
        if not within:
            ends = f"end in {ENDINGS[kind]}" if ENDINGS[kind] else "are named log00, log01, ..."
            raise UserError(f'{place}: has no log; those of format = "{kind}" {ends}.')
        found += within
    return found


def _is_log(file: Path, kind: str) -> bool:
    return ENDINGS[kind] in file.suffixes if ENDINGS[kind] else file.name.startswith("log")


def compare_logs(logs: Sequence[LoggedFlight], layout: LogLayout, vehicle: AnyVehicle) -> ComparedLogs:
    """Compare the estimates of all flights with the truth and with the vehicle file.

    Raises:
        UserError: no log has a flight.
    """
    groups = by_content(logs)
    parts = [(group[0], in_flight(group[0])) for group in groups]
    flown = tuple(cut(log, rows) for log, rows in parts if rows.stop)
    if not flown:
        raise UserError(
            f"{logs[0].file}: nothing flies in {len(parts)} logs; "
            "are motors, height (z up) and time (in s) in the layout?"
        )
    errors = errors_of(flown, layout.estimate.name)
    rows = [row for each in errors for row in rows_of(each, bounds_of(vehicle, each.name))]
    copies = tuple(tuple(sorted(log.file.name for log in group)) for group in groups if len(group) > 1)
    grounded = tuple(log.file.name for log, part in parts if not part.stop)
    return ComparedLogs(flown, copies, grounded, errors, tuple(rows))


def bounds_of(vehicle: AnyVehicle, estimator: str) -> DeclaredBounds:
    """Return the bounds that the vehicle file has for an estimator, or else those of its section `safety`."""
    own = (vehicle.estimators or {}).get(KEYS.get(estimator, estimator))
    if own is None:
        return DeclaredBounds(vehicle.safety.position_error_m, vehicle.safety.velocity_error_m_s, HOLDS)
    return DeclaredBounds(own.position_error_m, own.velocity_error_m_s, 1 - own.quantile)


def figures_of(found: ComparedLogs, layout: LogLayout) -> Figures:
    """Return the figures for `--json`; `passed` says that every declared bound holds."""
    rows = [asdict(row) | {"holds": holds(row)} for row in found.rows]
    ends_v = [float(log.battery_v[part][-1]) for log, part in found.flown]
    return {
        "vehicle": layout.vehicle,
        "source": layout.source,
        "logs": len(found.flown) + len(found.grounded),
        "flights": len(found.flown),
        "seconds": sum(float(np.ptp(log.time_s[part])) for log, part in found.flown),
        "copies": [list(names) for names in found.copies],
        "grounded": list(found.grounded),
        "errors": rows,
        "late_s": {each.name: float(np.median(each.late_s)) for each in found.errors},
        "battery_end_v": min(ends_v) if layout.battery else None,
        "passed": all(row["holds"] for row in rows),
    }


def holds(row: ErrorRow) -> bool:
    """Return True if the declared bound holds for these samples."""
    return row.share_above <= row.allowed + 1e-9
