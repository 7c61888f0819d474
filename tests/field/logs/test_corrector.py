"""The corrector of a Crazyflie's own estimate on public flights: streamed as offline, and within its bounds."""

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")
pytest.importorskip("rclpy")

from scipy.spatial.transform import Rotation

from robomarl.core.hardware.vehicle import load_vehicle
from robomarl.core.types import GRAVITY_M_S2
from robomarl.field.logs.compare import bounds_of, compare_logs, files_of, read_logs
from robomarl.field.logs.layout import load_log_layout
from robomarl.field.real.corrector import Corrected, CorrectorOrigin, correct, corrected_offline, fit_corrector
from robomarl.field.real.samples import PERIOD_S, FlightSamples, samples_of
from robomarl.ros.io.messages import Estimate
from robomarl.vehicles.conversion.frames import wxyz
from robomarl.vehicles.corrected.corrector import EstimateCorrector, load_corrector
from robomarl.vehicles.corrected.stream import CorrectedStream
from robomarl.vehicles.samples import StateSample

FLIGHTS = Path(__file__).resolve().parents[4] / "shared" / "flights" / "nanobench"
NAME = "crazyflie_21_firmware"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FLIGHTS.is_dir(), reason="the public flights are not here"),
]


@cache
def public() -> tuple[tuple[FlightSamples, ...], Corrected, str]:
    """Flights, figures of the corrector, and the hash of their numbers."""
    layout, vehicle = load_log_layout("nanobench"), load_vehicle("crazyflie_21")
    found = compare_logs(read_logs(files_of([FLIGHTS]), layout), layout, vehicle)
    flights, _ = samples_of(found.flown, layout)
    sha256 = hashlib.sha256("".join(log.sha256 for log, _ in found.flown).encode()).hexdigest()
    return flights, correct(flights, "firmware", bounds_of(vehicle, "firmware")), sha256


def fitted(flights: list[FlightSamples]) -> EstimateCorrector:
    return fit_corrector(flights, public()[1], CorrectorOrigin("crazyflie_21", "firmware", "", ""))


def streamed(
    flight: FlightSamples, corrector: EstimateCorrector, every: int, coarse: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a flight that are corrected, and their corrected [K, 6] velocities and positions.

    Args:
        flight: one flight.
        corrector: fitted to others.
        every: rows from one estimate to the next; the accelerometer's value is of the row before.
        coarse: round as the firmware's packets do.
    """
    stream, rows, told = CorrectedStream(corrector), [], []
    quats = wxyz(Rotation.from_matrix(flight.believed_turn).as_quat())
    for row in range(every, len(flight.duty), every):
        force = flight.force_m_s2[row - 1 if coarse else row]
        own = Estimate(flight.estimated_m[row], quats[row], flight.estimated_m_s[row], flight.gyro_rad_s[row])
        if coarse:
            own = Estimate(own.pos_m.round(3), own.quat_wxyz, own.vel_m_s.round(3), own.omega_rad_s.round(3))
            force = np.float16(force / GRAVITY_M_S2).astype(float) * GRAVITY_M_S2
        stamp_ms = round(1000 * PERIOD_S * row)
        stream.take_force(force, stamp_ms - 10 * coarse)
        stream.take(StateSample(own, 0.0, stamp_ms))
        if not stream.problem and stream.sample is not None and flight.inner.start <= row < flight.inner.stop:
            rows.append(row)
            told.append(np.concatenate([stream.sample.estimate.vel_m_s, stream.sample.estimate.pos_m]))
    return np.array(rows), np.stack(told)


def test_the_stream_equals_the_corrector_that_was_judged():
    flight = public()[0][0]
    corrector = load_corrector(NAME)
    velocity, place = corrected_offline(flight, corrector)
    rows, told = streamed(flight, corrector, 1, False)
    np.testing.assert_allclose(told, np.c_[velocity, place][rows - flight.inner.start], rtol=0, atol=1e-9)
    assert len(rows) > 1000


def test_the_declared_bounds_hold_on_trajectories_kept_back_as_a_node_corrects_them():
    """At 50 Hz, rounded as packets are, with an accelerometer's value that is 10 ms old."""
    flights, judged, _ = public()
    speeds, places = [], []
    for name in sorted({flight.trajectory for flight in flights}):
        corrector = fitted([flight for flight in flights if flight.trajectory != name])
        for flight in (flight for flight in flights if flight.trajectory == name):
            rows, told = streamed(flight, corrector, 2, True)
            wrong = told - np.c_[flight.true_m_s, flight.true_m][rows]
            speeds.append(np.linalg.norm(wrong[:, :3], axis=-1))
            places.append(np.linalg.norm(wrong[:, 3:], axis=-1))
    speed, place = np.concatenate(speeds), np.concatenate(places)
    declared = (load_vehicle("crazyflie_21").estimators or {})["firmware_corrected"]
    within = (speed <= declared.velocity_error_m_s) & (place <= declared.position_error_m)
    assert within.mean() >= declared.quantile and len(speed) > 24_000
    assert declared.velocity_error_m_s <= 1.5 * np.quantile(speed, 0.999)
    assert declared.position_error_m <= 1.5 * np.quantile(place, 0.999)
    assert np.quantile(speed, 0.99) < 0.16 and np.quantile(speed, 0.999) < 0.28
    assert declared.flights == len(flights)
    assert declared.samples == sum(len(norms) for norms in judged.errors[1])


def test_the_file_that_ships_is_what_the_command_fits():
    flights, _, sha256 = public()
    ships, again = load_corrector(NAME), fitted(list(flights))
    np.testing.assert_allclose(ships.weights, again.weights, rtol=1e-3, atol=1e-5)
    assert ships.flights == again.flights and sha256[:16] in ships.fitted and "BSD-3" in ships.source
    assert ships.held_out["velocity_m_s"]["p99.9"] == pytest.approx(again.held_out["velocity_m_s"]["p99.9"], rel=1e-3)
