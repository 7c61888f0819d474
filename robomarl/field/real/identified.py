"""`identify_logs`: all figures of a vehicle that logged flights give, as one frozen result."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from robomarl.core.config import UserError
from robomarl.core.hardware.vehicle import AnyVehicle, Quadrotor
from robomarl.core.types import Figures
from robomarl.field.identify.patch import Provenance, vehicle_text
from robomarl.field.identify.safety_figures import SafetyFigure
from robomarl.field.logs.compare import ComparedLogs, bounds_of
from robomarl.field.logs.errors import best_shift
from robomarl.field.logs.layout import LogLayout
from robomarl.field.real.battery import BatteryFigures, battery_of
from robomarl.field.real.corrector import Corrected, CorrectorOrigin, correct, fit_corrector
from robomarl.field.real.law import JudgedLaw, groups_of, judge
from robomarl.field.real.laws import PITCH, ROLL, drag_law, loop_error_anywhere, loop_law, thrust_law
from robomarl.field.real.predict import CommandModel, PredictionError, predict
from robomarl.field.real.samples import PERIOD_S, FlightSamples, samples_of
from robomarl.vehicles.corrected.corrector import corrector_text

LEAST_FLIGHTS = 3
"""With fewer, neither an interval nor an error on kept-back flights is worth its name."""
LONG_S, MOVES_M, LATEST_S = 3.0, 0.2, 1.0
"""Least length of a flight and of the way of its ordered position, and largest lag behind it, for `answer_s`."""
NOT_TOLD = (
    "mass apart from thrust: only force over mass is felt",
    "inertia: the loop hides it",
    "delay of the link: orders were logged on board",
    "downwash: one vehicle flew",
    "control.tilt_per_s and control.rate_per_s: the inner loop was not logged",
    "drag along z: thrust hides it",
)
"""Figures that such logs can't tell."""


@dataclass(frozen=True)
class StalledLogs:
    """Cost of stalls: the attitude loop is neither fitted nor judged where the log stalls."""

    whole_share: float
    """Share of the rows that count; see `whole_rows`."""
    roll_rms_deg: float
    """Error of the loop, held out, in all rows."""
    pitch_rms_deg: float


@dataclass(frozen=True)
class Identified:
    """Figures of a vehicle."""

    flights: tuple[FlightSamples, ...]
    accelerometer_late_s: float
    laws: tuple[JudgedLaw, ...]
    """Thrust, drag, roll, pitch; the last two only where orders were logged."""
    stalls: StalledLogs | None
    """Rows that stalls of the logs cost; None where no orders were logged."""
    without_orders: tuple[str, ...]
    """Names of flights in which no orders were logged: their columns are zero."""
    answer_s: float | None
    """How late the position follows the position that was ordered, the median over flights."""
    battery: BatteryFigures
    predicted: tuple[PredictionError, ...]
    corrected: Corrected


def identify_logs(found: ComparedLogs, layout: LogLayout, vehicle: AnyVehicle) -> Identified:
    """Fit and judge all that logs can tell.

    Raises:
        UserError: the vehicle is no quadrotor, there are too few flights or they are of one trajectory, or the layout
            lacks a quantity.
    """
    if not isinstance(vehicle, Quadrotor):
        raise UserError(f"{vehicle.name}: --identify fits quadrotors, and this is none; leave it out.")
    if len(found.flown) < LEAST_FLIGHTS:
        raise UserError(f"--identify needs {LEAST_FLIGHTS} flights to keep some back, not {len(found.flown)}.")
    flights, late_s = samples_of(found.flown, layout)
    if not _divisible(flights):
        raise UserError(
            f"{flights[0].name} and the rest are of one trajectory {flights[0].trajectory!r}, so that none can be "
            "kept back; name flights of another, or leave trajectory out of the layout."
        )
    thrust, drag = judge(thrust_law(), flights), judge(drag_law(), flights)
    _check_vehicle(flights, thrust, layout, vehicle)
    ordered = [flight for flight in flights if flight.ordered]
    laws, predicted, stalls = [thrust, drag], (), None
    if len(ordered) >= LEAST_FLIGHTS and _divisible(ordered):
        roll, pitch = judge(loop_law(ROLL), ordered), judge(loop_law(PITCH), ordered)
        model = CommandModel(thrust, drag, (roll, pitch), vehicle.body.drag_per_s)
        laws, predicted, stalls = [thrust, drag, roll, pitch], predict(ordered, model), _stalls(ordered, roll, pitch)
    return Identified(
        flights, late_s, tuple(laws), stalls, tuple(flight.name for flight in flights if not flight.ordered),
        _answer_s(flights), battery_of(flights, thrust, vehicle), predicted,
        correct(flights, layout.estimate.name, bounds_of(vehicle, layout.estimate.name)),
    )  # fmt: skip


def _check_vehicle(flights: Sequence[FlightSamples], thrust: JudgedLaw, layout: LogLayout, vehicle: Quadrotor) -> None:
    """Raises `UserError` where full motors give far less or more than the vehicle's file says."""
    full = thrust["force_per_volt"] * max(float(flight.battery_v.max()) for flight in flights)
    declared, columns = vehicle.max_lift_m_s2, ", ".join((*layout.motors, layout.battery))
    if not 0.5 < full / declared < 2.0:
        raise UserError(
            f"{flights[0].name} and the rest: by columns {columns} full motors give {full:.3g} m/s^2, and "
            f"{declared:.3g} by the file of {vehicle.name}; name the vehicle that flew, or mend motors_full."
        )


def _divisible(flights: Sequence[FlightSamples]) -> bool:
    """True if a trajectory can be kept back."""
    return len(groups_of(flights)) > 1


def _stalls(flights: Sequence[FlightSamples], roll: JudgedLaw, pitch: JudgedLaw) -> StalledLogs:
    """Errors of the attitude loop in all rows, by parameters that were fitted without each flight's trajectory."""
    rms = []
    for axis, law in ((ROLL, roll), (PITCH, pitch)):
        errors = [loop_error_anywhere(axis, np.array(law.without[one.trajectory]), one) for one in flights]
        rms.append(float(np.sqrt((np.concatenate(errors) ** 2).mean())))
    return StalledLogs(float(np.concatenate([one.whole[one.inner] for one in flights]).mean()), *rms)


def _answer_s(flights: Sequence[FlightSamples]) -> float | None:
    """How late positions follow the ordered ones."""
    parts = [(flight.order_m[flight.inner], flight.true_m[flight.inner]) for flight in flights if flight.order_m.size]
    moved = [part for part in parts if len(part[0]) > LONG_S / PERIOD_S and np.ptp(part[0], axis=0).max() > MOVES_M]
    late = [best_shift(order, true, PERIOD_S, LATEST_S) for order, true in moved]
    return float(np.median(late)) if late else None


def identified_figures(found: Identified) -> Figures:
    """Return the figures for `--json`."""
    shifts = {flight.name: flight.shift_s[flight.inner] for flight in found.flights}
    return {
        "clocks": {
            "accelerometer_late_s": found.accelerometer_late_s,
            "shift_s": {name: [float(s.min()), float(np.median(s)), float(s.max())] for name, s in shifts.items()},
        },
        "laws": [asdict(law) for law in found.laws],
        "stalls": asdict(found.stalls) if found.stalls else None,
        "without_orders": list(found.without_orders),
        "answer_s": found.answer_s,
        "battery": asdict(found.battery),
        "predicted": [asdict(row) for row in found.predicted],
        "corrected": [asdict(row) for row in found.corrected.rows],
        "not_told": list(NOT_TOLD),
    }


def stalls_told(figures: Figures) -> str:
    """Return what stalls of the logs cost the attitude loop; "" where no orders were logged or nothing stalls."""
    stalls = figures["stalls"]
    if not stalls or stalls["whole_share"] == 1:
        return ""
    return (
        f"roll and pitch are fitted and judged in the {stalls['whole_share']:.0%} of the rows where the log does not "
        f"stall; in all rows {stalls['roll_rms_deg']:.3g} and {stalls['pitch_rms_deg']:.3g} degrees rms"
    )


def write_vehicle(folder: Path, name: str, found: Identified, vehicle: AnyVehicle, of: Provenance) -> Path:
    """Write the vehicle's file with the drag and the vertical bias that were found; returns the file.

    Args:
        folder: folder for the file.
        name: name of the vehicle, or its file.
        found: the figures.
        vehicle: the vehicle as its file has it.
        of: where the figures come from.
    """
    drag, safety = found.laws[1].values, vehicle.safety
    bias, file = found.battery.vertical_bias_m_s2["p90"], safety.lift_bias_m_s2 or safety.accel_bias_m_s2
    mean = (sum(v.value for v in drag) / len(drag), min(v.low for v in drag), max(v.high for v in drag))
    figures = [SafetyFigure("lift_bias_m_s2", bias, file, max(file, round(bias, 2)))]
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f"{Path(name).stem}.yaml"
    written.write_text(vehicle_text(name, figures, mean, of), encoding="utf-8")
    return written


def write_corrector(file: Path, found: Identified, layout: LogLayout, vehicle: AnyVehicle, of: Provenance) -> None:
    """Write the corrector that is fitted to all flights.

    Args:
        file: the file to write.
        found: the figures.
        layout: the layout of the logs.
        vehicle: the vehicle that flew.
        of: where the figures come from.
    """
    origin = CorrectorOrigin(vehicle.name, layout.estimate.name, layout.source, of.line)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(corrector_text(fit_corrector(found.flights, found.corrected, origin)), encoding="utf-8")
