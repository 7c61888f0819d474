"""Absolute deadlines; what is missed is skipped."""

import threading

import pytest

from robomarl.ros.timing.rate_timer import Beat, Ticker, beats


class Clock:
    """Time passes by sleeping, and by work."""

    def __init__(self) -> None:
        self.now_s = 7.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s + 1e-4  # sleeping always takes a little longer

    def run(self, work_s: list[float]) -> list[tuple[float, Beat]]:
        seen = []
        ticks = beats(0.02, self, self.sleep)
        for duration_s in work_s:
            beat = next(ticks)
            seen.append((self.now_s, beat))
            self.now_s += duration_s
        return seen


def test_deadlines_do_not_drift():
    seen = Clock().run([0.015] * 1000)
    assert seen[-1][0] == pytest.approx(7.0 + 1000 * 0.02, abs=2e-4)
    assert all(0 <= beat.late_s < 2e-4 for _, beat in seen)
    assert seen[-1][1].skipped == 0


def test_of_several_ticks_that_are_due_only_the_last_one_comes():
    seen = Clock().run([0.0, 0.051, 0.0, 0.0])  # the second takes two and a half periods
    assert [time_s - 7.0 for time_s, _ in seen] == pytest.approx([0.02, 0.04, 0.091, 0.1], abs=3e-4)
    assert [beat.skipped for _, beat in seen] == [0, 0, 1, 1]
    assert seen[2][1].late_s == pytest.approx(0.011, abs=3e-4)


def test_a_tick_that_is_just_late_comes_late_and_the_next_one_in_time():
    seen = Clock().run([0.0, 0.025, 0.0, 0.0])
    assert [time_s - 7.0 for time_s, _ in seen] == pytest.approx([0.02, 0.04, 0.065, 0.08], abs=3e-4)
    assert seen[3][1].skipped == 0


def test_the_thread_ticks_until_it_is_stopped():
    enough, count = threading.Event(), 0

    def tick(beat: Beat) -> None:
        nonlocal count
        count += 1
        if count == 5:
            enough.set()

    ticker = Ticker(0.002, tick, lambda error: None)
    assert enough.wait(5)
    ticker.stop()
    after = count
    assert not threading.Event().wait(0.02)
    assert count == after


def test_a_tick_that_fails_ends_it_and_is_reported():
    failed: list[BaseException] = []
    seen = threading.Event()

    def tick(beat: Beat) -> None:
        raise ZeroDivisionError("in a tick")

    def note(error: BaseException) -> None:
        failed.append(error)
        seen.set()

    Ticker(0.002, tick, note)
    assert seen.wait(5)
    assert [str(error) for error in failed] == ["in a tick"]
