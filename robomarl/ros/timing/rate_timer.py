"""The one timer of a node: absolute deadlines on the steady clock; ticks that were missed are skipped. No ROS."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Beat(NamedTuple):
    """One tick is due."""

    late_s: float
    """How long after its deadline, or the last moment of its window, it begins."""
    skipped: int
    """Ticks that have been left out since the start."""


def beats(period_s: float, clock: Callable[[], float], sleep: Callable[[float], object]) -> Iterator[Beat]:
    """Yield at every multiple of the period from now on.

    A tick may come late, but of several that are due only the last one comes: a burst would stack
    commands, and waiting again each time would drift.

    Args:
        period_s: time between two ticks [s].
        clock: a steady clock [s].
        sleep: sleeps for a number of seconds.
    """
    deadline, skipped = clock() + period_s, 0
    while True:
        while (left := deadline - clock()) > 0:
            sleep(left)
        yield Beat(clock() - deadline, skipped)
        deadline += period_s
        missed = max(int((clock() - deadline) / period_s), 0)
        deadline += missed * period_s
        skipped += missed


class Ticker:
    """Calls a function at a fixed rate, in a thread of its own."""

    def __init__(self, period_s: float, tick: Callable[[Beat], None], failed: Callable[[BaseException], None]):
        """Start at once.

        Args:
            period_s: time between two ticks [s].
            tick: function to call.
            failed: called with the error that `tick` raised; there are no ticks after that.
        """
        self._stop = threading.Event()
        self._tick, self._failed = tick, failed
        self._thread = threading.Thread(target=self._run, args=(period_s,), name="ticker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; no tick runs after this returns."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self, period_s: float) -> None:
        try:
            for beat in beats(period_s, time.monotonic, time.sleep):
                if self._stop.is_set():
                    return
                self._tick(beat)
        except BaseException as error:
            self._failed(error)
