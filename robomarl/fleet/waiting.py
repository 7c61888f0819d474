"""`Waiting`: every wait of a command that people watch says after 3 s what it waits for, and for how long at most."""

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST_S = 3.0
"""Time [s] after which a wait is told; then again each time that it has lasted twice as long, up to `SELDOM_S`."""
SELDOM_S = 60.0
"""Longest time [s] between two lines."""
LOOK_S = 0.2
"""Time [s] between two looks at the clock during a call that blocks."""
AwaitedThing = str | Callable[[], str]
"""What is waited for; a function says it anew for each line."""


def tell(line: str) -> None:
    """Print a line on the error stream, above the progress bars that are drawn there."""
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.write(line, file=sys.stderr)
    else:
        print(line, file=sys.stderr, flush=True)


class Waiting:
    """One wait. The loop that waits calls `look` at every turn."""

    def __init__(self, what: AwaitedThing, limit_s: float = math.inf, tell: Callable[[str], None] = tell) -> None:
        """Begin to wait.

        Args:
            what: continues the sentence "Waiting for"; "" for a wait that is not told.
            limit_s: longest time [s] that it may last.
            tell: takes each line.
        """
        self._what, self._limit_s, self._tell = what, limit_s, tell
        self._begun_s, self._next_s = time.monotonic(), FIRST_S

    @property
    def what(self) -> str:
        """Description of the thing that the wait still needs."""
        return self._what if isinstance(self._what, str) else self._what()

    @property
    def lasted_s(self) -> float:
        """Time since the beginning [s]."""
        return time.monotonic() - self._begun_s

    @property
    def is_over(self) -> bool:
        """True if it has lasted longer than it may."""
        return self.lasted_s > self._limit_s

    def look(self) -> None:
        """Tell what is waited for, if a line is due."""
        if (lasted_s := self.lasted_s) < self._next_s:
            return
        self._next_s = lasted_s + min(lasted_s, SELDOM_S)
        if what := self.what:
            most = f" of at most {self._limit_s:.0f} s" if self._limit_s < math.inf else ""
            self._tell(f"Waiting for {what}: {lasted_s:.0f} s{most}.")


@contextmanager
def waits(what: AwaitedThing, limit_s: float = math.inf) -> Iterator[Waiting]:
    """Tell of a wait while the body of the `with` blocks; see `Waiting`."""
    waiting, done = Waiting(what, limit_s), threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_S):
            waiting.look()

    thread = threading.Thread(target=watch, name="waits", daemon=True)
    thread.start()
    try:
        yield waiting
    finally:
        done.set()
        thread.join()
