"""Ticks: absolute deadlines, in step with the sensor, none made up for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomarl.ros.timing.metronome import Metronome

PERIOD_S = 0.01


def run(messages: np.ndarray, ticks: int, work_s: float = 0.0) -> tuple[np.ndarray, np.ndarray, Metronome]:
    """Start of every tick and age of its newest message, for a thread that does what `loop` does."""
    metronome, now, started, ages, taken = Metronome(PERIOD_S, PERIOD_S), 0.0, [], [], -1
    for _ in range(ticks):
        now = max(now, metronome.opens_s)
        later = messages[taken + 1 :]
        came = bool(len(later)) and later[0] <= max(metronome.closes_s, now)
        now = max(now, later[0]) if came else max(now, metronome.closes_s)
        arrived = np.searchsorted(messages, now, side="right") - 1
        if arrived >= 0:
            taken = int(arrived)
            ages.append(now - messages[taken])
        started.append(now)
        metronome.beat(now, came)
        now += work_s
    return np.array(started), np.array(ages), metronome


@given(st.floats(0, 1))
@settings(deadline=None, max_examples=50)
def test_ticks_follow_the_sensor_at_once_and_one_for_each_message(phase: float):
    messages = 1.0 + (phase + np.arange(2000)) * PERIOD_S
    started, ages, _ = run(messages, 2000)
    late = started > 2.0
    assert ages[-500:].max() < 1e-9
    np.testing.assert_allclose(np.diff(started[late]), PERIOD_S, atol=1e-9)


def test_without_a_sensor_the_deadlines_are_absolute():
    started, _, metronome = run(np.array([]), 1000, work_s=0.004)
    np.testing.assert_allclose(started, PERIOD_S * np.arange(1, 1001), atol=1e-9)
    assert metronome.skipped == 0


def test_a_sensor_at_half_the_rate_does_not_make_the_ticks_uneven():
    started, _, _ = run(1e-4 + 2 * PERIOD_S * np.arange(500), 900)
    np.testing.assert_allclose(np.diff(started[10:]), PERIOD_S, atol=0.51 * PERIOD_S)
    assert started[-1] == pytest.approx(900 * PERIOD_S, rel=0.01)


def test_a_sensor_that_falls_silent_costs_half_a_period_once():
    messages = 0.003 + PERIOD_S * np.arange(100)
    started, _, _ = run(messages, 200)
    gaps = np.diff(started)
    assert gaps[:98] == pytest.approx(PERIOD_S, abs=1e-3)
    assert gaps.max() <= 1.51 * PERIOD_S
    assert gaps[110:] == pytest.approx(PERIOD_S)


def test_missed_ticks_are_skipped_not_replayed():
    metronome = Metronome(PERIOD_S, 1.0)
    beat = metronome.beat(1.0, False)
    assert (beat.late_s, beat.skipped) == (0.0, 0)
    beat = metronome.beat(1.057, False)  # due at 1.01: 1.02 to 1.05 are gone
    assert beat.late_s == pytest.approx(0.047)
    assert beat.skipped >= 4
    assert metronome.deadline_s > 1.055
    assert metronome.opens_s + 1.5 * PERIOD_S > 1.057  # the next one waits


@given(st.lists(st.floats(0, 0.05), min_size=1, max_size=50))
@settings(deadline=None)
def test_overruns_never_burst(works: list[float]):
    metronome, now, started = Metronome(PERIOD_S, PERIOD_S), 0.0, []
    for work in works:
        now = max(now, metronome.closes_s)
        started.append(now)
        metronome.beat(now, False)
        now += work
    assert (np.diff(started) >= PERIOD_S / 4 - 1e-9).all()
