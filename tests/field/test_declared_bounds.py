"""Bounds that `crazyflie_21` declares by estimator, on the public flights where they are at hand."""

from pathlib import Path

import pytest

from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.field.logs.compare import compare_logs, files_of, read_logs
from robomarl.field.logs.layout import load_log_layout

FLIGHTS = Path(__file__).resolve().parents[3] / "shared" / "flights" / "nanobench"


@pytest.mark.slow
@pytest.mark.skipif(not FLIGHTS.is_dir(), reason="the public flights are not here")
def test_bounds_of_a_crazyflie_hold_on_real_flights_and_are_not_wider_than_needed():
    vehicle, layout = load_any_vehicle("crazyflie_21"), load_log_layout("nanobench")
    found = compare_logs(read_logs(files_of([FLIGHTS]), layout), layout, vehicle)
    assert vehicle.estimators
    logged = {name: part for name, part in vehicle.estimators.items() if part.corrector is None}
    for errors, (name, declared) in zip(found.errors, logged.items(), strict=True):
        rows = {row.quantity: row for row in found.rows if row.estimator == errors.name}
        for quantity, bound in (("position", declared.position_error_m), ("velocity", declared.velocity_error_m_s)):
            row = rows[quantity]
            assert row.declared == bound, (name, quantity)
            assert row.share_above <= 1 - declared.quantile, (name, quantity)
            assert bound <= 1.5 * row.quantiles["p99.9"], (name, quantity)
        assert declared.flights == len(found.flown)
        assert declared.samples == sum(map(len, errors.position_m))
