"""`Refusals`: messages rejected by a node so far, by topic and sender, for its log and its diagnostics. No ROS here."""

import math
import time
from collections import Counter
from collections.abc import Callable
from weakref import WeakKeyDictionary

TELL_EVERY_S = 1.0
"""Minimum interval [s] between two logged rejections on a topic."""
MOST_SENDERS = 16
"""Senders that are counted apart for each topic; all others count as one."""
OTHERS = "others"


class Refusals:
    """Memory of one node."""

    def __init__(self) -> None:
        """Nothing was refused."""
        self._counts: dict[str, Counter[str]] = {}
        self._why: dict[str, str] = {}
        self._told_s: dict[str, float] = {}
        self._at_last = 0

    @property
    def total(self) -> int:
        """Messages so far."""
        return sum(counts.total() for counts in self._counts.values())

    def add(self, topic: str, sender: str, why: str, tell: Callable[[str], object]) -> None:
        """Count a rejected message.

        Args:
            topic: topic on which it came.
            sender: sender of the message; "" if it is not known.
            why: reason, in words.
            tell: logs a line; not called for each of many, so that a sender can't fill the log.
        """
        counts = self._counts.setdefault(topic, Counter())
        counts[sender if sender in counts or len(counts) < MOST_SENDERS else OTHERS] += 1
        self._why[topic] = why
        now_s = time.monotonic()
        if now_s - self._told_s.get(topic, -math.inf) >= TELL_EVERY_S:
            self._told_s[topic] = now_s
            whose = f" of {sender}" if sender else ""
            tell(f"{topic}: message{whose} refused ({counts.total()} so far): {why}")

    def values(self) -> dict[str, str]:
        """For diagnostics: for each topic how many of each sender, and why the last one."""
        return {
            f"refused {topic}": f"{', '.join(_said(name, n) for name, n in counts.items())}; last: {self._why[topic]}"
            for topic, counts in self._counts.items()
        }

    def news(self) -> int:
        """Messages since this was asked last."""
        before, self._at_last = self._at_last, self.total
        return self._at_last - before


def _said(sender: str, count: int) -> str:
    return f"{count} of {sender}" if sender else str(count)


_OF_NODES: WeakKeyDictionary[object, Refusals] = WeakKeyDictionary()


def refusals_of(node: object) -> Refusals:
    """Return the `Refusals` of a node, one object for all calls."""
    return _OF_NODES.setdefault(node, Refusals())
