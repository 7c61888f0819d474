"""Time in which a process did not run: the silence that it finds counts, and what waited for it is not fresh."""

import time

import pytest

from robomarl.ros.io.messages import MessageInfo
from robomarl.ros.timing.steady import SETTLES_S, Absence, Silence, steady_now_s


def sent(age_s: float) -> MessageInfo:
    return {"source_timestamp": int((time.time() - age_s) * 1e9), "received_timestamp": 0}


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="Linux only")
def test_the_clock_of_limits_goes_on_while_the_machine_is_suspended():
    before_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before_s <= steady_now_s() <= time.clock_gettime(time.CLOCK_BOOTTIME)


@pytest.mark.parametrize("remembered_s", [0.0, 0.5])
def test_a_silence_counts_although_its_reader_was_away_when_it_ended(remembered_s: float):
    silence = Silence(remembered_s)
    assert silence.of(10.0) == float("inf")
    silence.hear(10.0)
    silence.hear(10.1)
    assert silence.of(10.15) == pytest.approx(0.1)
    silence.hear(15.1)  # away for 5 s; three messages waited, one of them fresh
    silence.hear(15.1, 0.1)
    silence.hear(15.1, 0.0)
    assert silence.of(15.1) == silence.of(15.19) == pytest.approx(5.0)
    silence.hear(15.2)
    assert silence.of(15.2) == pytest.approx(5.0 if remembered_s else 0.1)
    silence.hear(15.7)
    assert silence.of(15.7) == pytest.approx(0.5)


def test_a_message_that_waited_does_not_count_as_heard_now():
    silence = Silence()
    silence.hear(10.0)
    silence.hear(13.0, 2.5)  # its sender died half a second after the reader went away
    assert silence.heard_s == 10.5
    silence.hear(13.02, 2.6)
    assert silence.heard_s == 10.5


def test_what_a_reader_finds_after_an_absence_is_as_old_as_its_sender_says():
    absence = Absence()
    absence.look(10.0)
    absence.look(10.02)
    assert absence.waited_s(sent(3.0)) == 0.0  # the reader was there: whatever the sender's clock says
    absence.look(15.0)
    assert absence.waited_s(sent(3.0)) == pytest.approx(3.0, abs=0.01)
    assert absence.waited_s(sent(60.0)) == pytest.approx(4.98)  # a clock that is wrong: no older than the absence
    assert absence.waited_s(sent(-60.0)) == 0.0
    absence.look(15.02)
    assert absence.waited_s(sent(3.0)) == pytest.approx(3.0, abs=0.01)  # the middleware hands it over late
    for tick in range(round(SETTLES_S / 0.05) + 1):
        absence.look(15.07 + 0.05 * tick)
    assert absence.waited_s(sent(3.0)) == 0.0
