"""Rows that a stalling logger lost and a data set filled by straight lines are found, and no loop is fitted there."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("scipy")

from robomarl.core.hardware.vehicle import load_any_vehicle
from robomarl.field.logs.compare import ComparedLogs, compare_logs, files_of, read_logs
from robomarl.field.logs.logged_flight import LoggedFlight
from robomarl.field.real.identified import identify_logs, stalls_told
from robomarl.field.real.law import JudgedLaw
from robomarl.field.real.stalls import AFTER_S, BEFORE_S, whole_rows
from tests.field.logs.flown_logs import LAYOUT, LOOP, flown, written

HOLES = range(300, 2100, 100)
"""First rows of the holes; rows are 0.01 s apart."""
LENGTH = 5


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> ComparedLogs:
    folder = tmp_path_factory.mktemp("logs")
    for seed in range(3):
        written(folder / f"B{seed + 2}_swing.csv", flown(seed))
    return compare_logs(read_logs(files_of([folder]), LAYOUT), LAYOUT, load_any_vehicle("crazyflie_21"))


def stalled(log: LoggedFlight) -> LoggedFlight:
    """The log with orders that are 50 ms late about each hole, and straight lines in it."""
    rows, order = np.arange(len(log.time_s)), log.tilt_order_rad
    late = np.abs((rows - HOLES[0] - LENGTH / 2 + 50) % 100 - 50) < 8
    lost = np.isin(rows, [first + k for first in HOLES for k in range(LENGTH)])
    shifted = np.where(late[:, None], np.roll(order, 5, 0), order)
    return replace(log, tilt_order_rad=filled(shifted, lost), believed_quat=filled(log.believed_quat, lost))


def filled(values: np.ndarray, lost: np.ndarray) -> np.ndarray:
    rows = np.arange(len(values))
    return np.stack([np.interp(rows, rows[~lost], column[~lost]) for column in values.T], -1)


def lag_s(loop: JudgedLaw) -> float:
    """How late a loop follows an order that changes steadily."""
    return 2 * loop["damping"] / loop["frequency_rad_s"] + loop["delay_s"]


def test_rows_near_a_hole_do_not_count_and_all_others_do(compared: ComparedLogs):
    log, flight = compared.flown[0]
    assert whole_rows(log, flight)[flight].all()
    time_s, whole = np.arange(len(log.time_s)) * 0.01, whole_rows(stalled(log), flight)
    for first in HOLES:
        begin, end = time_s[first] - BEFORE_S - 0.02, time_s[first + LENGTH - 1] + AFTER_S + 0.02
        near = (time_s > begin + 0.04) & (time_s < end - 0.04)
        assert not whole[near].any()
        whole[(time_s >= begin) & (time_s <= end)] = True
    assert whole[flight].all()


def test_slow_logs_and_orders_that_rest_have_no_holes(compared: ComparedLogs):
    log, flight = compared.flown[0]
    rows = np.arange(len(log.time_s))
    slow = replace(log, tilt_order_rad=filled(log.tilt_order_rad, rows % 5 != 0))
    rests = replace(log, tilt_order_rad=log.tilt_order_rad[rows // 20 * 20])
    assert whole_rows(slow, flight)[flight].all() and whole_rows(rests, flight)[flight].all()


def test_the_loop_is_found_beside_the_holes(compared: ComparedLogs):
    vehicle = load_any_vehicle("crazyflie_21")
    flights = tuple((stalled(log), at) for log, at in compared.flown)
    found = identify_logs(replace(compared, flown=flights), LAYOUT, vehicle)
    assert found.stalls and 0.55 < found.stalls.whole_share < 0.75
    for loop, everywhere in zip(found.laws[2:], (found.stalls.roll_rms_deg, found.stalls.pitch_rms_deg), strict=True):
        assert loop["gain"] == pytest.approx(LOOP["gain"], rel=0.03)
        assert lag_s(loop) == pytest.approx(2 * LOOP["damping"] / LOOP["frequency_rad_s"] + LOOP["delay_s"], abs=0.01)
        assert loop.rms < 0.5 * everywhere


def test_the_terminal_says_what_stalls_cost_and_nothing_where_there_are_none():
    stalls = {"whole_share": 0.61, "roll_rms_deg": 0.691, "pitch_rms_deg": 0.836}
    assert "61% of the rows" in stalls_told({"stalls": stalls}) and "0.836 degrees" in stalls_told({"stalls": stalls})
    assert stalls_told({"stalls": None}) == stalls_told({"stalls": stalls | {"whole_share": 1.0}}) == ""
