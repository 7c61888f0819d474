"""A wait of a command is told after 3 s, with its limit, and then ever more seldom."""

import threading

import pytest

from robomarl.fleet import waiting
from robomarl.fleet.waiting import Waiting, waits


def test_lines_come_at_3_s_and_then_ever_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    wait = Waiting(lambda: "the answers of one", 100, lines.append)
    begun_s, told_at = wait._begun_s, []
    for tenth in range(0, 2000):
        monkeypatch.setattr(waiting.time, "monotonic", lambda at=begun_s + tenth / 10: at)
        before = len(lines)
        wait.look()
        told_at += [tenth / 10] if len(lines) > before else []
    assert told_at == pytest.approx([3, 6, 12, 24, 48, 96, 156], abs=0.4)
    assert lines[0] == "Waiting for the answers of one: 3 s of at most 100 s." and wait.is_over


def test_a_wait_without_a_name_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    wait = Waiting("", tell=lines.append)
    monkeypatch.setattr(waiting.time, "monotonic", lambda at=wait._begun_s + 60: at)
    wait.look()
    assert not lines and not wait.is_over


def test_a_call_that_blocks_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a first line at once instead of after 3 s; the thread ends with the wait."""
    told = threading.Event()
    monkeypatch.setattr(waiting, "FIRST_S", 0.0)
    with waits(lambda: "the robot" if told.set() is None else ""):
        assert told.wait(30)
    assert not [thread for thread in threading.enumerate() if thread.name == "waits"]
