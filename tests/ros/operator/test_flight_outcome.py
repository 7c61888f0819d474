"""Ticks and score become figures; a log gets what only the robots knew."""

import math
from pathlib import Path

import numpy as np
import pytest

from robomarl.core.log import FlightLog, load_flight, save_flight
from robomarl.ros.operator.flight_outcome import LinkStatistics, complete_log, figures_of

SCORE = {
    "seed": 3,
    "flight_s": 4.5,
    "succeeded_s": 4.2,
    "failed": 0.0,
    "collisions": 0,
    "min_distance_m": 0.4,
    "time_limit_s": 8.0,
    "began_s": 1000.0,
    "log": "",
}


def rows(count: int, **changes) -> list[dict[str, float]]:
    """Ticks of one robot at 50 Hz from 20 ms before the first command on; the first is before the activation."""
    made = []
    for i in range(count):
        row = {"stamp_s": 999.98 + 0.02 * i, "active": float(i > 0), "reason": 0.0, "filtered": 0.0, "skipped": 0.0}
        row |= {"latency_us": 100.0 + i, "late_us": 5.0, "nominal.x": float(i), "nominal.y": -float(i)}
        row |= {"odometry.received": 10.0 + i, "odometry.lost": 0.0, "mate.received": 20.0 + i, "mate.lost": 1.0}
        made.append(row | {name: value[i] for name, value in changes.items()})
    return made


def test_messages_are_counted_within_the_flight():
    lost = [1.0, 1.0, *[4.0] * 99]
    figures = figures_of(SCORE, {"me": rows(101, **{"mate.lost": lost})}, "")
    assert figures.links == (LinkStatistics("simulator", "me", 99, 99, 0), LinkStatistics("mate", "me", 102, 99, 3))


def test_percentiles_and_shares_are_of_the_active_ticks():
    ticks = rows(101, filtered=[0.0] * 51 + [1.0] * 50, reason=[0.0] * 91 + [-2.0] * 10)
    figures = figures_of(SCORE, {"me": ticks, "you": rows(101)}, "")
    assert figures.filter_active_share == 0.25
    assert figures.fallback_share == 0.05
    assert figures.tick_p50_us["me"] == pytest.approx(150.5)
    assert len(figures.ticks_us["me"]) == 100


@pytest.mark.parametrize(
    ("change", "known", "success", "reason"),
    [
        ({}, "", True, ""),
        ({"succeeded_s": 8.1}, "", False, "arena"),
        ({"failed": 1.0, "collisions": 2}, "", False, "touched"),
        ({"succeeded_s": math.nan}, "not all robots arrived in time", False, "in time"),
    ],
)
def test_success_is_arrival_in_time_without_contact(change: dict, known: str, success: bool, reason: str):
    figures = figures_of(SCORE | change, {"me": rows(5)}, known)
    assert figures.success is success
    assert reason in figures.reason


def test_a_robot_that_never_flew_has_no_figures():
    figures = figures_of(SCORE, {"me": rows(1)}, "me was not activated")
    assert math.isnan(figures.tick_p99_us["me"])
    assert (figures.links, figures.filter_active_share) == ((), 0.0)


def test_a_log_gets_what_the_policies_wanted(tmp_path: Path):
    shape = (10, 1, 3)
    log = FlightLog(
        time_s=np.arange(10) * 0.02,
        pos_m=np.zeros(shape),
        quat_wxyz=np.zeros((10, 1, 4)),
        vel_m_s=np.zeros(shape),
        goal_m=np.zeros(shape),
        nominal=np.full((10, 1, 2), np.nan),
        command=np.zeros((10, 1, 2)),
        active=np.zeros((10, 1), bool),
        radius_m=0.07,
        separation_m=0.2,
    )
    save_flight(tmp_path / "log.npz", log)
    ticks = rows(50, filtered=[float(i % 2) for i in range(50)])
    complete_log(SCORE | {"log": str(tmp_path / "log.npz"), "began_s": 1000.001}, {"me": ticks})
    done = load_flight(tmp_path / "log.npz")
    np.testing.assert_array_equal(done.nominal[:, 0, 0], np.arange(1, 11))  # the latest at each row's time
    np.testing.assert_array_equal(done.active[:, 0], [i % 2 == 1 for i in range(1, 11)])
