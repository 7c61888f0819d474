"""Tracks are cut where estimates are missing, and windows hold the commands that may act in them."""

import numpy as np
import pytest

from robomarl.core.config import UserError
from robomarl.field.identify.identify import windows_of
from robomarl.field.identify.noise import Noise, Whitener
from robomarl.field.identify.windows import FAR_S, LENGTH, SETTLE, SHORT, cut_windows
from robomarl.field.track import RobotTrack, even_parts, in_force

PERIOD_S = 0.02


def track(count: int, jitter_s: float = 0.0, late_s: float = 0.003) -> RobotTrack:
    rng = np.random.default_rng(0)
    seen = 1.7e9 + np.arange(count) * PERIOD_S + rng.uniform(-jitter_s, jitter_s, count)
    zero = np.zeros((count, 3))
    quat, command = np.tile([1.0, 0, 0, 0], (count, 1)), np.arange(4.0 * count).reshape(count, 4)
    return RobotTrack("one", 0, seen, zero, quat, zero, zero, seen + late_s, command)


def test_stamps_are_put_on_a_line_and_gaps_cut():
    one = track(100, jitter_s=0.002)
    (part,) = even_parts(one, PERIOD_S, 50)
    assert np.diff(part.seen_s) == pytest.approx(PERIOD_S, rel=0.01)
    assert np.diff(np.diff(part.seen_s)) == pytest.approx(0, abs=1e-6)
    late = one._replace(seen_s=one.seen_s + 0.5 * (np.arange(100) >= 60))
    assert [len(p.seen_s) for p in even_parts(late, PERIOD_S, 20)] == [60, 40]
    assert [len(p.seen_s) for p in even_parts(late, PERIOD_S, 50)] == [60]


def test_an_estimate_that_was_used_twice_counts_once_and_a_clock_that_jumps_back_does_no_harm():
    one = track(30)
    twice = one.part(np.repeat(np.arange(30), 2))
    assert len(even_parts(twice, PERIOD_S, 3)[0].seen_s) == 30
    back = one._replace(seen_s=one.seen_s - 10.0 * (np.arange(30) >= 15))
    assert all((np.diff(p.seen_s) > 0).all() for p in even_parts(back, PERIOD_S, 3))


def test_decisions_on_the_floor_are_left_out_and_no_window_goes_across():
    """A vehicle that met the floor in mid-flight made the gusts of its fit ten times as large as those of others."""
    one, height = track(100), np.where(np.arange(100) == 50, 0.05, 1.0)
    air = one._replace(pos_m=height[:, None] * [0.0, 0.0, 1.0]).within((-1, -1, 0.1), (1, 1, 3))
    assert len(air.seen_s) == 99
    assert [len(part.seen_s) for part in even_parts(air, PERIOD_S, 20)] == [50, 49]


def test_a_command_acts_from_its_time_and_delay_on():
    one = track(10)
    at = one.sent_s[4] + np.array([0.0, 0.019, 0.021])
    assert (in_force(one, at)[:, 0] == [16, 16, 20]).all()
    assert (in_force(one, at, 0.02)[:, 0] == [12, 12, 16]).all()
    assert in_force(one, one.sent_s[:1] - 5.0)[0, 0] == 0


def test_windows_hold_the_commands_before_them():
    windows = cut_windows([track(SETTLE + 2 * LENGTH + 1)], PERIOD_S)
    assert windows is not None
    assert windows.count == 2
    assert windows.place == (("one", 0, 0), ("one", 0, 1))
    assert (windows.command[1, 0, -1] == [4 * LENGTH, 4 * LENGTH + 1, 4 * LENGTH + 2, 4 * LENGTH + 3]).all()
    assert windows.sent_s[1, 0, -2:] == pytest.approx([-PERIOD_S + 0.003, 0.003], abs=1e-6)
    assert windows.sent_s[0, 0, 0] == -FAR_S  # nothing was sent before
    assert cut_windows([track(SETTLE + LENGTH)], PERIOD_S) is None


@pytest.mark.parametrize("drag_per_s", [0.0, 0.8])
def test_whitened_errors_are_independent_and_the_noise_is_found(drag_per_s: float):
    steps, columns, truth, rng = 60, 3000, Noise(0.004, 0.01, 0.05), np.random.default_rng(1)
    whitener = Whitener(steps, PERIOD_S, 0.5, drag_per_s)
    keep = np.exp(-PERIOD_S / 0.5)
    push = np.zeros((steps, columns))
    push[0] = rng.normal(0, truth.gust_m_s2, columns)
    for k in range(1, steps):
        push[k] = keep * push[k - 1] + rng.normal(0, truth.gust_m_s2 * np.sqrt(1 - keep**2), columns)
    speed, now = np.zeros_like(push), rng.normal(0, 1, columns)
    for k in range(steps):  # as a vehicle that drag slows down
        speed[k] = now = now * np.exp(-drag_per_s * PERIOD_S) + push[k] * PERIOD_S
    place = rng.normal(0, 1, columns) + np.cumsum(speed, 0) * PERIOD_S
    place += rng.normal(0, truth.position_m, place.shape)
    speed += rng.normal(0, truth.velocity_m_s, speed.shape)
    errors = np.concatenate([place, speed])
    white = whitener.whitening(truth) @ errors
    assert np.cov(white) == pytest.approx(np.eye(2 * steps), abs=0.12)
    found = whitener.likeliest(errors[:, :200])
    assert found == pytest.approx(truth, rel=0.1)
    low, high = whitener.gust_interval(found, errors[:, :200])
    assert low < truth.gust_m_s2 < high < 1.3 * low


def test_a_robot_that_never_flies_long_has_short_windows_in_a_team_that_does():
    short, long = [track(SETTLE + SHORT + 1)] * 4, [track(SETTLE + 4 * LENGTH + 1)]
    windows = windows_of({"one": long, "two": short}, PERIOD_S)
    assert [(cut.count, cut.length) for cut in windows.values() if cut] == [(4, LENGTH), (4, SHORT)]
    with pytest.raises(UserError, match=r"4 windows of .* are needed \(two has 0\); record longer flights"):
        windows_of({"two": short}, PERIOD_S)
