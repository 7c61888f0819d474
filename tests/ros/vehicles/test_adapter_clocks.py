"""Ages of what a vehicle says, by its clock and ours."""

import numpy as np
import pytest

from robomarl.vehicles.samples import OLDEST_S, ClockMatch

AHEAD_S = 1000.0


def test_a_burst_is_as_far_apart_as_it_was_made():
    match = ClockMatch()
    match.trip(0.004)
    ages = [match.age_s(AHEAD_S + t, t + 0.002) for t in np.arange(0.0, 1.0, 0.02)]
    assert ages[-1] == pytest.approx(0.002)
    heard_s = 1.2
    burst = [match.age_s(AHEAD_S + made, heard_s) for made in (1.0, 1.02, 1.04)]
    assert burst == pytest.approx([0.2, 0.18, 0.16])
    assert match.ahead_s == pytest.approx(AHEAD_S)


def test_a_clock_that_lagged_for_a_while_is_matched_again():
    match = ClockMatch()
    for t in np.arange(0.0, 1.0, 0.02):
        match.age_s(AHEAD_S + t, t)
    late = [match.age_s(AHEAD_S + t - 0.1, t) for t in np.arange(1.0, 4.0, 0.02)]
    assert late[0] == pytest.approx(0.1) and late[-1] == pytest.approx(0.0)


def test_a_vehicle_that_was_started_anew_is_matched_at_once():
    match = ClockMatch()
    match.age_s(AHEAD_S, 1.0)
    assert match.age_s(0.5, 2.0) == 0.0 and match.ahead_s == pytest.approx(-1.5)
    assert match.age_s(0.5, 2.9) == OLDEST_S, "it stands still"
